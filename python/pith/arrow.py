"""Documents and records as Arrow tables (needs `pyarrow`)."""

from __future__ import annotations

from typing import Any, Iterable, Iterator, List, Optional

import pyarrow
import pyarrow.json

from . import Document, Record, _pith

_TEXT = pyarrow.string()
_SENTENCE = pyarrow.struct([("text", _TEXT), ("score", pyarrow.float64()), ("position", pyarrow.int64())])
_LINK = pyarrow.struct([("url", _TEXT), ("text", _TEXT), ("main", pyarrow.bool_())])
_COUNTS = pyarrow.struct([(name, pyarrow.int64()) for name in ("characters", "words", "sentences")])
_VERDICT = pyarrow.struct([(name, _TEXT) for name in ("train", "search", "archive")])
_STATEMENT = pyarrow.struct([(name, _TEXT) for name in ("signal", "source", "agent", "scope", "value")])
_PREFERENCES = pyarrow.struct([("verdict", _VERDICT), ("robots", _TEXT), ("statements", pyarrow.list_(_STATEMENT))])
_SOURCE = pyarrow.struct([("shard", _TEXT), ("offset", pyarrow.int64()), ("digest", _TEXT)])

#: The columns of a document, in the order of its line.
DOCUMENT_SCHEMA = pyarrow.schema(
    [(name, _TEXT) for name in ("id", "url", "fetched_at", "language", "title", "author", "published", "site", "page_type")]
    + [("confidence", pyarrow.float64()), ("text", _TEXT), ("summary", pyarrow.list_(_SENTENCE))]
    + [("method", _TEXT), ("scope", _TEXT), ("links", pyarrow.list_(_LINK)), ("counts", _COUNTS)]
    + [(name, _TEXT) for name in ("description", "canonical_url", "image", "price", "currency", "brand", "sku", "markdown")]
    + [("truncated", pyarrow.bool_()), ("preferences", _PREFERENCES), ("source", _SOURCE)]
)

#: The columns of a record of an archive.
RECORD_SCHEMA = pyarrow.schema(
    [
        ("type", _TEXT),
        ("url", _TEXT),
        ("date", _TEXT),
        ("status", pyarrow.int32()),
        ("content_type", _TEXT),
        ("body", pyarrow.binary()),
        ("digest", _TEXT),
        ("offset", pyarrow.int64()),
        ("skip_reason", _TEXT),
    ]
)

#: The names that the column with the pages may have.
_PAGE_COLUMNS = ("html", "body", "content")

#: So many documents are made into one table.
_TABLE_ROWS = 256


def documents_table(documents: Iterable[Document]) -> pyarrow.Table:
    """A table of documents."""
    lines = [document.to_json().encode() for document in documents]
    if not lines:
        return DOCUMENT_SCHEMA.empty_table()
    joined = b"\n".join(lines)
    # One block, however long its lines are, and on this thread: the work around it has threads of its own.
    reading = pyarrow.json.ReadOptions(use_threads=False, block_size=max(len(joined) + 1, 1 << 16))
    parsing = pyarrow.json.ParseOptions(explicit_schema=DOCUMENT_SCHEMA, unexpected_field_behavior="ignore")
    return pyarrow.json.read_json(pyarrow.BufferReader(joined), reading, parsing)


def document_tables(documents: Iterable[Document]) -> Iterator[pyarrow.Table]:
    """Tables of a few hundred documents each."""
    waiting: List[Document] = []
    for document in documents:
        waiting.append(document)
        if len(waiting) == _TABLE_ROWS:
            yield documents_table(waiting)
            waiting = []
    if waiting:
        yield documents_table(waiting)


def extract_table(pages: Any, jobs: Optional[int] = None, **settings: Any) -> pyarrow.Table:
    """A row of document columns for every row of a table or record batch of pages."""
    tables = list(_extracted(_rows(pages), jobs, settings))
    return pyarrow.concat_tables(tables) if tables else DOCUMENT_SCHEMA.empty_table()


def extract_batches(
    batches: Iterable[pyarrow.RecordBatch], jobs: Optional[int] = 1, **settings: Any
) -> Iterator[pyarrow.RecordBatch]:
    """Batches of documents out of batches of pages, row by row, in bounded memory."""
    rows = (row for batch in batches for row in _rows(batch))
    for table in _extracted(rows, jobs, settings):
        yield from table.to_batches()


def record_batches(records: Iterable[Record], n_rows: int, n_bytes: int) -> Iterator[pyarrow.RecordBatch]:
    """Records as batches."""
    rows: List[Record] = []
    size = 0
    for record in records:
        rows.append(record)
        size += len(record.body or b"")
        if len(rows) >= n_rows or size >= n_bytes:
            yield _record_batch(rows)
            rows, size = [], 0
    if rows:
        yield _record_batch(rows)


def _record_batch(records: List[Record]) -> pyarrow.RecordBatch:
    columns = [
        pyarrow.array([getattr(record, field.name) for record in records], field.type) for field in RECORD_SCHEMA
    ]
    return pyarrow.RecordBatch.from_arrays(columns, schema=RECORD_SCHEMA)


def _extracted(rows: Iterator[Any], jobs: Optional[int], settings: Any) -> Iterator[pyarrow.Table]:
    return document_tables(_pith.extract_many(rows, jobs, **settings))


def _rows(pages: Any) -> Iterator[Any]:
    names = pages.schema.names
    html = next((name for name in _PAGE_COLUMNS if name in names), None)
    if html is None:
        raise ValueError(f"pages must have a column {' or '.join(_PAGE_COLUMNS)}; there are {', '.join(names)}")
    columns = [html] + [name for name in ("url", "content_type") if name in names]
    for batch in pages.to_batches() if hasattr(pages, "to_batches") else [pages]:
        parts = [batch.column(batch.schema.get_field_index(name)) for name in columns]
        for index in range(batch.num_rows):
            row = {name: part[index].as_py() for name, part in zip(columns, parts)}
            # A row without a page is a page without text.
            page = row.pop(html)
            yield {"html": b"" if page is None else page, **row}
