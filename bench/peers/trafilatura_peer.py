"""trafilatura's main content as a peer of `pith eval extraction` and `pith eval speed`.

    pip install trafilatura
    pith eval extraction --data SETS --peer 'trafilatura=python3 bench/peers/trafilatura_peer.py'

Reads {id, url, html} on each line and answers {id, text, seconds, peak_rss_mb}. Its defaults, without comments. With
`--markdown` the answer also has `markdown`, with `--metadata` title, author and date; neither is on the clock.
"""

from page_peer import serve

import trafilatura


def extract(html, url):
    return trafilatura.extract(html, url=url, include_comments=False)


def markdown(html, url):
    return trafilatura.extract(html, url=url, include_comments=False, output_format="markdown", include_formatting=True)


def metadata(html, url):
    found = trafilatura.extract_metadata(html, default_url=url)
    return {"title": found.title, "author": found.author, "published": found.date}


serve(extract, markdown=markdown, metadata=metadata)
