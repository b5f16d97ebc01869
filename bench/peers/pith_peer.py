"""`pith.extract` of the Python wheel as a peer of `pith eval extraction` and `pith eval speed`: the text alone, as its peers give it.

    pip install ./python
    pith eval speed --data SETS --peer 'python=python3 bench/peers/pith_peer.py'

Reads {id, url, html} on each line and answers {id, text, seconds, peak_rss_mb}. With `--summary` the document has its summary,
as the program's documents have.
"""

import sys

from page_peer import serve

import pith

SENTENCES = pith.SENTENCES if "--summary" in sys.argv else 0


def extract(html, url):
    return pith.extract(html, url, sentences=SENTENCES).text


serve(extract)
