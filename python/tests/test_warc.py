"""Archives: records, damage, Arrow."""

import gzip
import io
import json

import pith
import pytest
from conftest import DATA, page, record


def test_records_of_a_path_and_of_a_file_object_are_the_same(archives):
    path = archives / "pages-0.warc.gz"
    reader = pith.read_warc(path)
    from_path = [(one.type, one.url, one.status, one.offset, one.body) for one in reader]
    assert len(from_path) == reader.n_records == 6
    assert from_path[0][:3] == ("response", "http://host0.example/missing", 404)
    assert from_path[2][4] == page("Rain 0 0")
    assert not reader.damage and next(reader, None) is None
    for source in (str(path), open(path, "rb"), io.BytesIO(path.read_bytes())):
        assert [(one.type, one.url, one.status, one.offset, one.body) for one in pith.read_warc(source)] == from_path


def test_a_record_tells_its_header_and_why_it_is_skipped(archives):
    missing, image, first, *_ = pith.read_warc(archives / "pages-1.warc.gz")
    assert first.field("warc-date") == first.date == "2026-11-01T00:00:00Z"
    assert ("WARC-Type", "response") in first.fields
    assert first.headers[0] == ("Content-Type", "text/html") and first.content_type == "text/html"
    assert first.block.startswith(b"HTTP/1.1 200 OK\r\n") and not first.is_cut
    assert [one.skip_reason for one in (missing, image, first)] == ["status-404", "media-type", None]
    assert first.extract().title == "Rain 1 0"


def test_documents_of_records_are_the_lines_of_the_program(archives, pith_program):
    path = archives / "pages-2.warc.gz"
    lines = pith_program("extract", path, "--out", "-", "--quiet").decode().splitlines()
    assert len(lines) == 6
    assert [record.extract().to_json() for record in pith.read_warc(path).pages()] == lines
    assert [one.to_json() for one in pith.extract_many(pith.read_warc(path).pages(), jobs=2)] == lines


def test_damage_is_counted_and_costs_only_its_record():
    members = [gzip.compress(record(f"http://example.com/{n}", page(f"Rain {n}"))) for n in range(5)]
    members[2] = members[2][:60] + b"\x00\x00\x00\x00" + members[2][64:]
    reader = pith.read_warc(io.BytesIO(b"".join(members)))
    assert [one.url[-1] for one in reader] == ["0", "1", "3", "4"]
    assert reader.damage.n_damaged == 1
    offset, reason = reader.damage.first[0]
    assert offset == len(members[0]) + len(members[1]) and "corrupt" in reason


def test_damage_is_not_told_before_the_record_behind_it(tmp_path):
    members = [gzip.compress(record(f"http://example.com/{n}", page(f"Rain {n}"))) for n in range(20)]
    members[10] = b"junk" * 25
    path = tmp_path / "damaged.warc.gz"
    path.write_bytes(b"".join(members))
    reader = pith.read_warc(path)
    told = [(record.url.rsplit("/")[-1], reader.damage.n_damaged) for record in reader]
    assert told[9] == ("9", 0) and told[10] == ("11", 1)


@pytest.mark.parametrize("source", [7, None, b"\xff", object()])
def test_what_is_no_archive_is_refused(source, tmp_path):
    with pytest.raises((TypeError, OSError), match="source|no such|No such"):
        pith.read_warc(source)
    with pytest.raises(FileNotFoundError):
        pith.read_warc(tmp_path / "nothing.warc")
    with pytest.raises(ValueError, match="neither a WARC"):
        pith.read_warc(io.BytesIO(b"hello" * 100))
    with pytest.raises(TypeError, match="binary"):
        pith.read_warc(io.StringIO("hello"))


def test_what_a_file_object_raises_is_raised():
    class Broken:
        def __init__(self):
            self.n_reads = 0

        def read(self, n_bytes):
            self.n_reads += 1
            if self.n_reads > 1:
                raise KeyError("the network is gone")
            return record("http://example.com/", page("Rain"))

    with pytest.raises(KeyError, match="the network is gone"):
        list(pith.read_warc(Broken()))


def test_a_reader_that_is_dropped_or_closed_ends_its_thread(archives):
    import threading

    for _ in range(50):
        with pith.read_warc(archives / "pages-0.warc.gz") as reader:
            next(reader)
        assert next(reader, None) is None
        next(iter(pith.read_warc(archives / "pages-0.warc.gz")))
    assert threading.active_count() < 10


def test_records_and_documents_are_arrow_tables(archives):
    pyarrow = pytest.importorskip("pyarrow")
    from pith import arrow

    path = archives / "pages-1.warc.gz"
    batches = list(pith.read_warc(path).to_arrow(n_rows=3))
    assert [batch.num_rows for batch in batches] == [3, 3, 1]
    records = pyarrow.Table.from_batches(batches)
    assert records.schema == arrow.RECORD_SCHEMA
    pages = records.filter(pyarrow.compute.is_null(records["skip_reason"]))
    documents = pith.extract_many(pages, jobs=2)
    assert documents.schema == arrow.DOCUMENT_SCHEMA and documents.num_rows == 5
    alone = [record.extract().to_dict() for record in pith.read_warc(path).pages()]
    for row, document in zip(documents.to_pylist(), alone):
        for name in set(row) - {"id", "fetched_at", "source"}:
            assert row[name] == document[name], name
    assert pith.extract_many(pages.slice(0, 0)).num_rows == 0
    with pytest.raises(ValueError, match="html or body"):
        pith.extract_many(pages.select(["url"]))
    holes = pyarrow.table({"html": [None, "<p>Rain fell on the town all day."], "url": [None, "http://a.example/"]})
    assert pith.extract_many(holes)["text"].to_pylist() == ["", "Rain fell on the town all day."]


def test_archives_of_others_are_read_as_the_program_reads_them(pith_program):
    folder = DATA / "warc"
    if not folder.is_dir():
        pytest.skip(f"no archives in {folder}")
    paths = sorted(path for path in folder.iterdir() if path.name.endswith((".warc", ".gz", ".zst", ".wacz")))
    assert len(paths) > 20
    for path in paths:
        lines = pith_program("extract", path, "--out", "-", "--quiet", codes=(0, 1, 3)).decode().splitlines()
        try:
            documents = [one.extract() for one in pith.read_warc(path).pages()]
        except ValueError:
            assert not lines
            continue
        assert [one.to_json() for one in documents if not one.error_page] == lines, path
        assert all(json.loads(line)["source"]["shard"] == path.name for line in lines)
