"""Page shards to document shards by any engine: what Spark, Ray and others share.

One shard is one task. The folder becomes what `pith extract INPUTS --out OUT` makes of it, byte for byte, and a run that was
interrupted goes on where it stopped. All processes must see the same files under the same paths.
"""

from __future__ import annotations

import os
from typing import Any, Callable, Dict, Iterable, Iterator, List, Sequence, Union

from . import Document, ShardJob, _pith, extract_shard

#: Carries out a function on every task, anywhere and in any order, and gives the results as they come.
Engine = Callable[[Callable[[str], str], List[str]], Iterable[str]]


def extract_shards(
    inputs: Sequence[Union[str, "os.PathLike[str]"]],
    out: Union[str, "os.PathLike[str]"],
    engine: Engine,
    *,
    jobs: int = 1,
    **settings: Any,
) -> Dict[str, int]:
    """Extracts archives, crawl folders or folders of archives into the folder `out`, and gives the counts by outcome.

    `jobs` are the threads of one task; settings are those of `pith.extract`, and `fields` and `languages` to keep.
    """
    inputs = [os.path.abspath(os.fspath(path)) for path in inputs]
    job = ShardJob(inputs, os.path.abspath(os.fspath(out)), **settings)
    try:
        for result in engine(ShardTask(jobs, settings), job.tasks):
            job.record(result)
        return job.finish()
    finally:
        job.close()


class ShardTask:
    """Does one task; a class, so that engines can send it to other machines."""

    def __init__(self, jobs: int, settings: Dict[str, Any]) -> None:
        self.jobs = jobs
        self.settings = settings

    def __call__(self, task: str) -> str:
        return extract_shard(task, self.jobs, **self.settings)


class NamedStream:
    """A binary stream with the name of its file, which is part of a document."""

    def __init__(self, stream: Any, name: str) -> None:
        self.stream = stream
        self.name = name

    def read(self, n_bytes: int) -> bytes:
        """At most so many bytes; none at the end."""
        return bytes(self.stream.read(n_bytes))


def documents(path: Union[str, "os.PathLike[str]"], jobs: int = 1, **settings: Any) -> Iterator[Document]:
    """The documents of one archive, those that `pith extract` writes, in its order."""
    with _pith.read_warc(path) as reader:
        yield from documents_of(reader, jobs, **settings)


def documents_of(records: Iterable[Any], jobs: int = 1, **settings: Any) -> Iterator[Document]:
    """The documents of records, those that `pith extract` writes."""
    pages = (record for record in records if record.skip_reason is None)
    for document in _pith.extract_many(pages, jobs, **settings):
        if not document.error_page and document.error is None:
            yield document
