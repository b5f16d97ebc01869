"""FastWARC + Resiliparse main content over archives; prints the number of pages. Nothing is written."""

import sys

from fastwarc.warc import ArchiveIterator, WarcRecordType
from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.encoding import bytes_to_str, detect_encoding

pages = 0
for path in sys.argv[2:]:
    with open(path, "rb") as stream:
        for record in ArchiveIterator(stream, record_types=WarcRecordType.response, parse_http=True):
            if not record.http_headers or not (200 <= (record.http_headers.status_code or 0) < 300):
                continue
            if "html" not in (record.http_content_type or ""):
                continue
            body = record.reader.read()
            if body:
                html = bytes_to_str(body, record.http_charset or detect_encoding(body))
                extract_plain_text(html, main_content=True, links=False, alt_texts=False)
                pages += 1
print(pages)
