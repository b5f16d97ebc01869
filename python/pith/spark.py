"""Apache Spark 4: documents from data frames, archives as a data source, shards as tasks (needs `pyspark`, `pyarrow`).

    from pith import spark as pith_spark

    pages.select("html", "url").mapInArrow(pith_spark.extract_in_arrow(sentences=3), pith_spark.DOCUMENT_SCHEMA)

    spark.dataSource.register(pith_spark.PithDataSource)
    spark.read.format("pith").load("crawl")
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any, Callable, Dict, Iterable, Iterator, List, Sequence, Tuple

import pyarrow
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from . import _pith, arrow, read_warc, shards

#: The columns of a document, for `mapInArrow`.
DOCUMENT_SCHEMA: StructType = from_arrow_schema(arrow.DOCUMENT_SCHEMA)

#: The columns of a record of an archive.
RECORD_SCHEMA: StructType = from_arrow_schema(arrow.RECORD_SCHEMA)

#: So many shards are offered to Spark at a time; it runs as many of them as it has cores.
MAX_JOBS = 256

Batches = Iterator[pyarrow.RecordBatch]


def extract_in_arrow(**settings: Any) -> Callable[[Batches], Batches]:
    """A function for `mapInArrow`: columns `html` (or `body`), and perhaps `url` and `content_type`, become documents."""

    def extract(batches: Batches) -> Batches:
        yield from arrow.extract_batches(batches, jobs=1, **settings)

    return extract


class PithDataSource(DataSource):
    """`spark.read.format("pith").load(PATHS)`: archives, crawl folders or folders of archives, one shard a partition.

    `option("rows", "records")` gives the records themselves instead of documents. The other options are settings of
    `pith.extract` (`method`, `sentences`, `markdown`, `favor`, `comments`, `scope`, `rules`). Several paths: `load` with one, or
    `option("paths", json.dumps([…]))`.
    """

    @classmethod
    def name(cls) -> str:
        return "pith"

    def schema(self) -> StructType:
        return RECORD_SCHEMA if self.options.get("rows") == "records" else DOCUMENT_SCHEMA

    def reader(self, schema: StructType) -> DataSourceReader:
        return PithReader(dict(self.options))


class ShardPartition(InputPartition):
    """One archive."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class PithReader(DataSourceReader):
    """Reads one archive after the other, each in a task of its own."""

    def __init__(self, options: Dict[str, str]) -> None:
        self.paths, self.rows, self.settings = _options(options)

    def partitions(self) -> Sequence[InputPartition]:
        return [ShardPartition(str(path)) for path in _pith.find_archives(self.paths)]

    def read(self, partition: InputPartition) -> Batches:
        assert isinstance(partition, ShardPartition)
        if self.rows == "records":
            with read_warc(partition.path) as reader:
                yield from reader.to_arrow()
            return
        for table in arrow.document_tables(shards.documents(partition.path, **self.settings)):
            yield from table.to_batches()


def _options(options: Dict[str, str]) -> Tuple[List[Any], str, Dict[str, Any]]:
    """Options of Spark are texts without case."""
    given = {name.lower(): value for name, value in options.items()}
    paths: List[Any] = json.loads(given.pop("paths", "[]"))
    if "path" in given:
        paths.append(given.pop("path"))
    if not paths:
        raise ValueError("nothing to read: load() takes an archive, a crawl folder or a folder of archives")
    rows = given.pop("rows", "documents")
    if rows not in ("documents", "records"):
        raise ValueError(f"rows must be documents or records, not {rows!r}")
    settings: Dict[str, Any] = dict(given)
    if "sentences" in settings:
        settings["sentences"] = int(settings["sentences"])
    if "markdown" in settings:
        settings["markdown"] = settings["markdown"].lower() == "true"
    return paths, rows, settings


def extract_shards(spark: SparkSession, inputs: Sequence[Any], out: Any, **settings: Any) -> Dict[str, int]:
    """Page shards to document shards, one shard a task; see `pith.shards.extract_shards`."""

    def engine(do: Callable[[str], str], tasks: List[str]) -> Iterable[str]:
        # A job for every shard, so that each is recorded when it is done, whatever becomes of the others. Spark runs again
        # what was lost with an executor.
        def run(task: str) -> str:
            return spark.sparkContext.parallelize([task], 1).map(do).collect()[0]

        with ThreadPoolExecutor(min(MAX_JOBS, len(tasks) or 1)) as pool:
            for done in as_completed([pool.submit(run, task) for task in tasks]):
                yield done.result()

    return shards.extract_shards(inputs, out, engine, **settings)
