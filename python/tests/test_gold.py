"""Real pages: what Python gives is what the program gives."""

import json

import pith
import pytest
from conftest import DATA

N_PAGES = 500


def gold_pages():
    """Pages of every gold set in turn, so that all kinds and languages are among them."""
    zstandard = pytest.importorskip("zstandard")
    folder = DATA / "extraction"
    if not folder.is_dir():
        pytest.skip(f"no gold pages in {folder}")
    files = [open(path, "rb") for path in sorted(folder.glob("*/pages.jsonl.zst"))]
    import io

    readers = [
        io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True), encoding="utf-8")
        for file in files
    ]
    n_given = 0
    while readers and n_given < N_PAGES:
        for reader in list(readers):
            line = reader.readline()
            if not line:
                readers.remove(reader)
                continue
            given = json.loads(line)
            yield given.get("url") or f"https://unknown.example/{given['id']}", given["html"]
            n_given += 1
            if n_given == N_PAGES:
                return


def test_documents_of_gold_pages_are_the_lines_of_the_program(tmp_path, pith_program):
    from conftest import record

    pages = [("".join(c for c in url if c.isprintable() and c != " "), html) for url, html in gold_pages()]
    assert len(pages) == N_PAGES
    archive = tmp_path / "gold.warc"
    with open(archive, "wb") as file:
        for url, html in pages:
            body = html.encode("utf-8", "replace")
            file.write(record(url, body, media_type="text/html; charset=utf-8"))
    lines = pith_program("extract", archive, "--out", "-", "--quiet").decode().splitlines()
    assert len(lines) > N_PAGES * 0.95
    by_record = [one.extract() for one in pith.read_warc(archive).pages()]
    assert [one.to_json() for one in by_record if not one.error_page] == lines
    # The same pages as texts give the same documents, but for where they came from.
    texts = pith.extract_many([(html, url) for url, html in pages], jobs=2)
    expected = iter(map(json.loads, lines))
    for document in texts:
        if document.error_page:
            continue
        found, wanted = document.to_dict(), next(expected)
        for name in set(found) - {"id", "fetched_at", "source"}:
            assert found[name] == wanted[name], (document.url, name)
    assert next(expected, None) is None
