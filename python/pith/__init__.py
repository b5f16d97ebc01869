"""Main content, metadata and summaries of web pages; archives; near-duplicates.

>>> import pith
>>> page = '''<title>Rain - The Paper</title><nav><a href=/>Home</a></nav>
... <article><h1>Rain</h1><p>It rained all day in the old town, and nobody went out until it was dark.
... <p>The river rose to the bridge. Ducks were pleased by it, as the keeper of the park told us.</article>'''
>>> document = pith.extract(page, "https://example.org/rain")
>>> document.title
'Rain'
>>> print(document.text.splitlines()[2])
It rained all day in the old town, and nobody went out until it was dark.

Every function releases the interpreter while it works, hears Ctrl-C, and is bounded in time and memory whatever the bytes.
Nothing but the standard library is needed; `pyarrow` is, for what has Arrow in its name.
"""

from __future__ import annotations

import os
import tempfile
from typing import IO, TYPE_CHECKING, Any, Iterable, Iterator, List, NamedTuple, Optional, Union, overload

from . import _pith
from ._pith import Counts, Damage, Document, Documents, Link, Record, Sentence, ShardJob
from ._pith import extract_shard, methods

if TYPE_CHECKING:
    import pyarrow

__version__: str = _pith.version()

__all__ = [
    "Counts",
    "Damage",
    "Document",
    "Documents",
    "Duplicate",
    "Link",
    "Record",
    "Sentence",
    "ShardJob",
    "WarcReader",
    "extract",
    "extract_many",
    "extract_shard",
    "methods",
    "near_duplicates",
    "read_warc",
    "split_sentences",
    "summarize",
    "words",
]

#: Sentences in a summary unless told otherwise, as in the program.
SENTENCES = 3


def extract(
    html: Union[bytes, bytearray, str],
    url: Optional[str] = None,
    *,
    content_type: Optional[str] = None,
    method: str = "pith",
    sentences: int = SENTENCES,
    markdown: bool = False,
    favor: str = "balance",
    rules: Optional[str] = None,
    comments: str = "auto",
    scope: str = "main",
    time_limit: float = 30.0,
) -> Document:
    """The document of one page: main text, title, author, date, language, links and a summary.

    Any bytes are a page. The encoding of bytes is found as browsers find it; `content_type` is the header of the answer,
    which may name it, and which tells pages from text files. A `str` is taken as it is.

    `url` makes links absolute and helps with dates and names. `sentences=0` leaves the summary out. `favor` is `balance`,
    `precision` or `recall`; `comments` is `auto`, `keep` or `drop`; `scope` is `main`, or `page` for all of its text.
    `rules` is the text of a TOML file with CSS selectors for the sites that need them.

    >>> document = pith.extract(b"<h1>Rain</h1><p>It rained all day in the old town, and nobody went out at all.")
    >>> document.language, document.counts.words
    ('en', 15)
    >>> document.to_dict()["title"]
    'Rain'

    Raises `TypeError` and `ValueError` for arguments that are none, and `TimeoutError` for a page that takes longer than
    `time_limit` seconds.
    """
    return _pith.extract(
        html,
        url,
        content_type,
        method=method,
        sentences=sentences,
        markdown=markdown,
        favor=favor,
        rules=rules,
        comments=comments,
        scope=scope,
        time_limit=time_limit,
    )


@overload
def extract_many(pages: "pyarrow.Table", jobs: Optional[int] = None, **settings: Any) -> "pyarrow.Table": ...


@overload
def extract_many(pages: "pyarrow.RecordBatch", jobs: Optional[int] = None, **settings: Any) -> "pyarrow.Table": ...


@overload
def extract_many(pages: Iterable[Any], jobs: Optional[int] = None, **settings: Any) -> Documents: ...


def extract_many(pages: Any, jobs: Optional[int] = None, **settings: Any) -> Any:
    """The documents of many pages, in their order, by `jobs` threads: one per core unless told otherwise.

    A page is what `extract` takes: the bytes or text alone, `(html, url)`, `(html, url, content_type)`, a dictionary with
    these names, or a record of `read_warc`. Settings are those of `extract`. Pages are read as documents are taken, so
    that an endless iterable is no problem. A page that cannot be extracted in time costs only itself: its document is
    empty and says so in `error`.

    >>> pages = [("<p>It rained all day in the old town.", f"https://example.org/{n}") for n in range(3)]
    >>> [document.url for document in pith.extract_many(pages, jobs=2)]
    ['https://example.org/0', 'https://example.org/1', 'https://example.org/2']

    A table of `pyarrow` with a column `html` (or `body`) and perhaps `url` and `content_type` gives a table with the
    columns of a document, a row for every row.
    """
    if hasattr(pages, "schema") and hasattr(pages, "column"):
        from . import arrow

        return arrow.extract_table(pages, jobs, **settings)
    return _pith.extract_many(pages, jobs, **settings)


def summarize(
    text: str,
    method: str = "pith",
    sentences: int = SENTENCES,
    language: Optional[str] = None,
    *,
    title: Optional[str] = None,
) -> List[Sentence]:
    """The best sentences of a text, in the order of the text.

    `method` is one of `pith.methods()`; `language` is a tag such as `pt` or `zh-Hant`, found from the text where it is not
    given; words of the `title` count more.

    >>> text = "It rained in May. The rain in May filled every river. Ducks were pleased."
    >>> [sentence.text for sentence in pith.summarize(text, sentences=1)]
    ['It rained in May.']
    """
    return _pith.summarize(text, method, sentences, language, title)


def split_sentences(text: str, language: Optional[str] = None) -> List[str]:
    """The sentences of a text, each with the space behind it: joined they give the text back.

    >>> pith.split_sentences("Dr. Silva left. It rained.")
    ['Dr. Silva left. ', 'It rained.']
    >>> pith.split_sentences("他說：「下雨了。」我走了。")
    ['他說：「下雨了。」', '我走了。']
    """
    return _pith.split_sentences(text, language)


def words(text: str, language: Optional[str] = None) -> List[str]:
    """The words of a text; punctuation and space are none. Chinese is cut by a dictionary.

    >>> pith.words("It rained, all day.")
    ['It', 'rained', 'all', 'day']
    >>> pith.words("今天下午下雨了")
    ['今天下午', '下雨', '了']
    """
    return _pith.words(text, language)


class WarcReader:
    """The records of an archive, in order, and the count of what was damaged; see `read_warc`."""

    def __init__(self, source: Union[str, "os.PathLike[str]", IO[bytes]]) -> None:
        self._reader = _pith.read_warc(source)

    def __iter__(self) -> "WarcReader":
        return self

    def __next__(self) -> Record:
        return next(self._reader)

    def __enter__(self) -> "WarcReader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def damage(self) -> Damage:
        """What was damaged before the last record that was given; all of it at the end."""
        return self._reader.damage

    @property
    def n_records(self) -> int:
        """How many records were given so far."""
        return self._reader.n_records

    def close(self) -> None:
        """Ends reading."""
        self._reader.close()

    def pages(self) -> Iterator[Record]:
        """The records that `pith extract` would extract: responses and resources with text, revisits and errors left out."""
        return (record for record in self if record.skip_reason is None)

    def to_arrow(self, *, n_rows: int = 1000, n_bytes: int = 64 << 20) -> "Iterator[pyarrow.RecordBatch]":
        """The records as batches of at most so many rows or bytes, whichever is reached first (needs `pyarrow`)."""
        from . import arrow

        return arrow.record_batches(self, n_rows, n_bytes)


def read_warc(source: Union[str, "os.PathLike[str]", IO[bytes]]) -> WarcReader:
    """The records of an archive: `.warc`, `.warc.gz`, `.warc.zst`, `.warc.lz4`, WET, WAT, ARC or WACZ, told apart by content.

    `source` is a path or a binary file object. Damaged bytes are stepped over and counted; memory is bounded.

    >>> reader = pith.read_warc(example_warc)
    >>> for record in reader:
    ...     print(record.type, record.url, record.status)
    response http://example.com/ 200
    >>> reader.damage.n_damaged
    0
    """
    return WarcReader(source)


class Duplicate(NamedTuple):
    """A text that an earlier one stands for."""

    index: int
    of: int
    similarity: float


def near_duplicates(texts: Iterable[str], *, threshold: Optional[float] = None) -> List[Duplicate]:
    """Which texts are copies or near-copies of an earlier one, as `pith corpus dedup` decides it.

    The similarity is that of the sets of word 5-grams, estimated by MinHash; `threshold` is the least that counts. Texts
    may be any number: of each a record of 264 bytes is kept on disk.

    >>> rain = " ".join(f"It rained on day {n} of the year." for n in range(50))
    >>> pith.near_duplicates([rain, "Ducks were pleased.", rain + " And then?", "Ducks  were pleased."])[-1]
    Duplicate(index=3, of=1, similarity=1.0)
    """
    with tempfile.TemporaryDirectory(prefix="pith-") as folder:
        found = _pith.near_duplicates(texts, threshold, os.path.join(folder, "records"))
    return [Duplicate(*duplicate) for duplicate in found]
