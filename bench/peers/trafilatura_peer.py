"""trafilatura's main content as a peer of `pith eval extraction` and `pith eval speed`.

    pip install trafilatura
    pith eval extraction --data SETS --peer 'trafilatura=python3 bench/peers/trafilatura_peer.py'

Reads {id, url, html} on each line and answers {id, text, seconds, peak_rss_mb}. Its defaults, without comments.
"""

from page_peer import serve

import trafilatura


def extract(html, url):
    return trafilatura.extract(html, url=url, include_comments=False)


serve(extract)
