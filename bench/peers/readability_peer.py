"""readability-lxml as a peer of `pith eval extraction` and `pith eval speed`.

    pip install readability-lxml==0.9 lxml_html_clean
    pith eval speed --data SETS --peer 'readability=python3 bench/peers/readability_peer.py'

Reads {id, url, html} on each line and answers {id, text, seconds, peak_rss_mb}. It gives HTML, whose text is taken by lxml.
"""

from page_peer import serve

import lxml.html
from readability import Document


def extract(html, url):
    summary = Document(html, url=url).summary(html_partial=True)
    return lxml.html.fromstring(summary).text_content() if summary.strip() else ""


serve(extract)
