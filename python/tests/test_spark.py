"""Spark, with two executors in processes of their own."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time

import pytest
from conftest import folder_bytes, page, records

pytest.importorskip("pyspark")
if shutil.which("java") is None:
    pytest.skip("no Java, so nothing is asked of Spark", allow_module_level=True)
SCRIPT = pathlib.Path(__file__).parents[1] / "spark" / "pith_extract.py"


@pytest.fixture(scope="module")
def spark():
    """`local-cluster`: two executors with one core each, in processes of their own."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.executorEnv.PYSPARK_PYTHON", sys.executable)
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    yield session
    session.stop()


def executors():
    """The processes of executors that this test's driver has started."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"org.apache.spark.executor.CoarseGrainedExecutorBackend" in words and is_ours(int(entry.name)):
                found.append(int(entry.name))
    return found


def is_ours(process):
    while process > 1:
        if process == os.getpid():
            return True
        status = pathlib.Path(f"/proc/{process}/stat").read_text()
        process = int(status.rsplit(")", 1)[1].split()[1])
    return False


def test_pages_of_a_data_frame_become_documents(spark, archives):
    import pith
    from pith import spark as pith_spark

    rows = [(bytes(page(f"Rain {n}")), f"https://example.org/{n}") for n in range(7)]
    pages = spark.createDataFrame(rows, "html binary, url string")
    documents = pages.mapInArrow(pith_spark.extract_in_arrow(sentences=1), pith_spark.DOCUMENT_SCHEMA).collect()
    assert {row.url: row.text for row in documents} == {url: pith.extract(html, url).text for html, url in rows}
    assert all(len(row.summary) == 1 for row in documents)


def test_archives_are_a_data_source(spark, archives, pith_program):
    from pith import spark as pith_spark

    spark.dataSource.register(pith_spark.PithDataSource)
    documents = spark.read.format("pith").option("sentences", "1").load(str(archives))
    assert documents.rdd.getNumPartitions() == 3
    lines = pith_program("extract", archives, "--out", "-", "--quiet", "--sentences", "1").decode().splitlines()
    found = {row["id"]: row.asDict(recursive=True) for row in documents.collect()}
    assert found == {line["id"]: line for line in map(json.loads, lines)}
    kept = spark.read.format("pith").option("rows", "records").load(str(archives))
    assert kept.filter("status = 404").count() == 3


def slow_archives(folder, n_archives, n_pages):
    folder.mkdir()
    for number in range(n_archives):
        (folder / f"pages-{number:02}.warc").write_bytes(b"".join(records(number, n_pages)))
    return folder


def test_an_executor_that_is_killed_in_the_middle_changes_nothing(spark, shards_of_all_kinds, tmp_path, pith_program):
    from pith import spark as pith_spark

    inputs = [slow_archives(tmp_path / "pages", 8, 400), *shards_of_all_kinds]
    single, docs = tmp_path / "single", tmp_path / "docs"
    pith_program("extract", *inputs, "--out", single, "--quiet", codes=(0, 3))
    killed = []

    def kill_one():
        # A shard is done and others are under way.
        while len(list(docs.glob("documents-*.jsonl.zst"))) < 2:
            time.sleep(0.02)
        victim = executors()[0]
        os.kill(victim, signal.SIGKILL)
        killed.append(victim)

    assassin = threading.Thread(target=kill_one)
    assassin.start()
    counts = pith_spark.extract_shards(spark, inputs, docs)
    assassin.join()
    assert killed and folder_bytes(docs) == folder_bytes(single)
    assert counts == json.loads((single / "manifest.json").read_text())["counts"]


def test_the_script_makes_the_folder_of_the_program(archives, tmp_path, pith_program):
    command = [sys.executable, str(SCRIPT), str(archives), "--out", str(tmp_path / "docs"), "--sentences", "1"]
    surroundings = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    surroundings["PYSPARK_SUBMIT_ARGS"] = "--master local[2] --conf spark.ui.enabled=false pyspark-shell"
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=surroundings, timeout=600)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    assert json.loads(done.stdout)["counts"]["extracted"] == 15
    pith_program("extract", archives, "--out", tmp_path / "single", "--quiet", "--sentences", "1")
    assert folder_bytes(tmp_path / "docs") == folder_bytes(tmp_path / "single")
