"""Ray Data, with processes of its own."""

import json
import os

import pytest
from conftest import folder_bytes, page

ray = pytest.importorskip("ray")
pytest.importorskip("ray.data")


@pytest.fixture(scope="module")
def cluster():
    os.environ.setdefault("RAY_DISABLE_IMPORT_WARNING", "1")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=200 << 20)
    yield ray
    ray.shutdown()


def test_batches_of_pages_become_documents(cluster):
    import pith
    import pith.ray

    rows = [{"html": page(f"Rain {n}"), "url": f"https://example.org/{n}"} for n in range(7)]
    pages = ray.data.from_items(rows)
    documents = pages.map_batches(
        pith.ray.extract_batch, batch_format="pyarrow", batch_size=3, fn_kwargs={"sentences": 1}
    ).take_all()
    assert {row["url"]: row["text"] for row in documents} == {
        row["url"]: pith.extract(row["html"], row["url"]).text for row in rows
    }


def test_archives_are_a_dataset(cluster, archives, pith_program):
    import pith.ray

    lines = pith_program("extract", archives, "--out", "-", "--quiet").decode().splitlines()
    found = {row["id"]: row for row in pith.ray.read([archives]).take_all()}
    assert found == {line["id"]: line for line in map(json.loads, lines)}


def test_shards_become_the_folder_of_the_program(cluster, archives, shards_of_all_kinds, tmp_path, pith_program):
    import pith.ray

    inputs = [archives, *shards_of_all_kinds]
    counts = pith.ray.extract_shards(inputs, tmp_path / "docs")
    assert counts["extracted"] > 400
    pith_program("extract", *inputs, "--out", tmp_path / "single", "--quiet", codes=(0, 3))
    assert folder_bytes(tmp_path / "docs") == folder_bytes(tmp_path / "single")
