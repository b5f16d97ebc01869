"""Ray Data: documents from blocks of pages, archives as a data source, shards as tasks (needs `ray[data]`, `pyarrow`).

    import pith.ray

    pages.map_batches(pith.ray.extract_batch, batch_format="pyarrow")
    pith.ray.read(["a.warc.gz", "crawl"])
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterable, Iterator, List, Sequence

import pyarrow
import ray
import ray.data
from ray.data.datasource import FileBasedDatasource

from . import _pith, arrow, shards


def extract_batch(pages: pyarrow.Table, **settings: Any) -> pyarrow.Table:
    """For `map_batches(extract_batch, batch_format="pyarrow", fn_kwargs=…)`: a row of document columns for every page."""
    return arrow.extract_table(pages, jobs=1, **settings)


class PithDatasource(FileBasedDatasource):  # type: ignore[misc]
    """The documents of archives, wherever Ray can open files."""

    def __init__(self, paths: Any, *, settings: Any = None, **file_arguments: Any) -> None:
        super().__init__(paths, **file_arguments)
        self.settings: Dict[str, Any] = dict(settings or {})

    def _open_input_source(self, filesystem: Any, path: str, **open_args: Any) -> Any:
        # Compression is the business of the reader, whatever the ending of the name.
        return filesystem.open_input_stream(path, compression=None)

    def _read_stream(self, f: Any, path: str) -> Iterator[pyarrow.Table]:
        reader = _pith.read_warc(shards.NamedStream(f, path))
        yield from arrow.document_tables(shards.documents_of(reader, **self.settings))


def read(paths: Sequence[Any], **settings: Any) -> "ray.data.Dataset":
    """The documents of archives, crawl folders or folders of archives, as a dataset of Ray."""
    archives = [str(path) for path in _pith.find_archives(list(paths))]
    return ray.data.read_datasource(PithDatasource(archives, settings=settings))


def extract_shards(inputs: Sequence[Any], out: Any, **settings: Any) -> Dict[str, int]:
    """Page shards to document shards, one shard a task; see `pith.shards.extract_shards`."""

    def engine(do: Callable[[str], str], tasks: List[str]) -> Iterable[str]:
        remote = ray.remote(max_retries=3)(_call)
        waiting = [remote.remote(do, task) for task in tasks]
        while waiting:
            done, waiting = ray.wait(waiting)
            yield from ray.get(done)

    return shards.extract_shards(inputs, out, engine, **settings)


def _call(do: Callable[[str], str], task: str) -> str:
    return do(task)
