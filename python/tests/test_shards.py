"""Shards as tasks: the folder that any engine makes is the folder of the program."""

import json
import random

import pith
import pytest
from conftest import folder_bytes
from pith import shards


def test_tasks_in_any_order_and_twice_make_the_folder_of_the_program(archives, tmp_path, pith_program):
    pith_program("extract", archives, "--out", tmp_path / "single", "--quiet")

    def engine(do, tasks):
        order = tasks * 2
        random.Random(7).shuffle(order)
        return [do(task) for task in order]

    counts = shards.extract_shards([archives], tmp_path / "docs", engine)
    assert folder_bytes(tmp_path / "docs") == folder_bytes(tmp_path / "single")
    assert counts["extracted"] == 15 and counts["skipped.status-404"] == 3
    # The program takes the folder for its own, and finds nothing to do.
    pith_program("extract", archives, "--out", tmp_path / "docs", "--quiet")
    assert folder_bytes(tmp_path / "docs") == folder_bytes(tmp_path / "single")


def test_a_job_that_is_run_again_goes_on_where_it_stopped(archives, tmp_path, pith_program):
    done = []

    def broken(do, tasks):
        for task in tasks:
            if len(done) == 2:
                raise RuntimeError("the driver is gone")
            done.append(task)
            yield do(task)

    with pytest.raises(RuntimeError, match="gone"):
        shards.extract_shards([archives], tmp_path / "docs", broken)
    (tmp_path / "docs" / "documents-00002.jsonl.zst.5.pith-tmp").write_bytes(b"of an executor that was killed")

    def whole(do, tasks):
        assert len(tasks) == 1 and tasks[0] not in done
        return map(do, tasks)

    assert shards.extract_shards([archives], tmp_path / "docs", whole)["extracted"] == 15
    pith_program("extract", archives, "--out", tmp_path / "single", "--quiet")
    assert folder_bytes(tmp_path / "docs") == folder_bytes(tmp_path / "single")
    assert shards.extract_shards([archives], tmp_path / "docs", lambda do, tasks: [])["extracted"] == 15


def test_settings_reach_every_shard_and_another_setting_is_refused(archives, tmp_path, pith_program):
    engine = lambda do, tasks: map(do, tasks)  # noqa: E731
    settings = {"sentences": 1, "method": "lead", "markdown": True, "fields": ["id", "summary", "markdown"]}
    shards.extract_shards([archives], tmp_path / "docs", engine, **settings)
    flags = ["--sentences", "1", "--method", "lead", "--markdown", "--fields", "id,summary,markdown"]
    pith_program("extract", archives, "--out", tmp_path / "single", "--quiet", *flags)
    assert folder_bytes(tmp_path / "docs") == folder_bytes(tmp_path / "single")
    with pytest.raises(ValueError, match="with other settings"):
        shards.extract_shards([archives], tmp_path / "docs", engine)


def test_a_folder_in_use_is_refused(archives, tmp_path):
    job = pith.ShardJob([str(archives)], str(tmp_path / "docs"))
    assert len(job.tasks) == 3 and json.loads(job.tasks[0])["name"] == "documents-00000.jsonl.zst"
    with pytest.raises(OSError, match="in use"):
        pith.ShardJob([str(archives)], str(tmp_path / "docs"))
    with pytest.raises(ValueError, match="not finished"):
        job.finish()
    with pytest.raises(ValueError, match="finished or closed"):
        job.finish()
    with pytest.raises(ValueError, match="no page shards"):
        pith.ShardJob([str(tmp_path)], str(tmp_path / "other"))
