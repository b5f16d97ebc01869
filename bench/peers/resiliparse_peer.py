"""Resiliparse's main content as a peer of `pith eval extraction` and `pith eval speed`.

    pip install resiliparse==1.1.0
    pith eval speed --data SETS --peer 'resiliparse=python3 bench/peers/resiliparse_peer.py'

Reads {id, url, html} on each line and answers {id, text, seconds, peak_rss_mb}. The seconds are processor time around
parsing and extraction alone, on text that is decoded already.
"""

from page_peer import serve

from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.html import HTMLTree


def extract(html, url):
    return extract_plain_text(HTMLTree.parse(html), main_content=True)


serve(extract)
