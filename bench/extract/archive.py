"""Makes archives of real pages to extract from: every page of every gold set, or one in so many.

    python archive.py EXTRACTION_DATA OUT_FOLDER [--every 4] [--files 2]

EXTRACTION_DATA holds folders with `pages.jsonl.zst` ({"url", "html"}). The pages are dealt out to the files in turn, as
`.warc.gz` with one member per record, which every tool of the comparison reads.
"""

import argparse
import glob
import gzip
import io
import json
import os
import uuid

import zstandard


def record(number, url, html):
    body = html.encode("utf-8", "surrogatepass")
    http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n\r\n" % len(body)
    name = uuid.uuid5(uuid.NAMESPACE_URL, f"{number} {url}")
    header = (
        "WARC/1.0\r\nWARC-Type: response\r\n"
        f"WARC-Record-ID: <urn:uuid:{name}>\r\nWARC-Date: 2026-11-01T00:00:00Z\r\nWARC-Target-URI: {url}\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(http) + len(body)}\r\n\r\n"
    )
    return gzip.compress(header.encode() + http + body + b"\r\n\r\n", 6, mtime=0)


def pages(path):
    with open(path, "rb") as file:
        lines = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
        for line in io.TextIOWrapper(lines, encoding="utf-8"):
            page = json.loads(line)
            yield page.get("url") or f"https://unknown.example/{page['id']}", page["html"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("out")
    parser.add_argument("--every", type=int, default=4)
    parser.add_argument("--files", type=int, default=2)
    arguments = parser.parse_args()
    os.makedirs(arguments.out, exist_ok=True)
    files = [open(f"{arguments.out}/pages-{n}.warc.gz", "wb") for n in range(arguments.files)]
    n_seen = n_written = n_bytes = 0
    for path in sorted(glob.glob(f"{arguments.data}/*/pages.jsonl.zst")):
        for url, html in pages(path):
            n_seen += 1
            if n_seen % arguments.every == 0:
                url = "".join(c for c in url if c.isprintable() and c != " ")
                files[n_written % len(files)].write(record(n_written, url, html))
                n_written += 1
                n_bytes += len(html)
    print(f"{n_written} pages, {n_bytes / 1e6:.0f} M characters of HTML")


main()
