"""datatrove's pipeline."""

import gzip
import json
import shutil

import pytest
from conftest import page

pytest.importorskip("datatrove")


def test_archives_through_the_pipeline_give_the_texts_of_the_program(
    archives, shards_of_all_kinds, tmp_path, pith_program
):
    from datatrove.executor.local import LocalPipelineExecutor
    from datatrove.pipeline.writers import JsonlWriter
    from pith.datatrove import PithWarcReader

    for shard in (shards_of_all_kinds[0] / "pages").glob("*.warc.*"):
        if not shard.name.endswith(".cdxj"):
            shutil.copy(shard, archives)
    pipeline = [PithWarcReader(str(archives), settings={"sentences": 1}), JsonlWriter(str(tmp_path / "out"))]
    stats = LocalPipelineExecutor(pipeline, tasks=2, workers=1, logging_dir=str(tmp_path / "logs")).run()
    found = {}
    for path in (tmp_path / "out").glob("*.jsonl.gz"):
        for line in gzip.open(path, "rt", encoding="utf-8"):
            document = json.loads(line)
            found[document["id"]] = document
    lines = pith_program("extract", archives, "--out", "-", "--quiet", "--sentences", "1").decode().splitlines()
    wanted = {line["id"]: line for line in map(json.loads, lines)}
    assert {name: one["text"] for name, one in found.items()} == {name: one["text"] for name, one in wanted.items()}
    for name, one in found.items():
        fields = {key: value for key, value in wanted[name].items() if key not in ("id", "text")}
        assert {key: one["metadata"][key] for key in fields} == fields
    assert stats.stats[0].stats["damaged"].total == 0


def test_the_extractor_takes_the_pages_of_any_reader():
    import pith
    from datatrove.data import Document
    from pith.datatrove import PithExtractor

    pages = [
        Document(text=page("Rain").decode(), id="1", metadata={"url": "https://example.org/rain"}),
        Document(text="<title>404 Not Found</title><h1>Not Found</h1>", id="2", metadata={}),
        Document(text="", id="3", metadata={}),
    ]
    found = list(PithExtractor(sentences=2).run(pages))
    assert [one.id for one in found] == ["1"]
    assert found[0].text == pith.extract(page("Rain")).text
    assert found[0].metadata["title"] == "Rain" and len(found[0].metadata["summary"]) == 2
    assert found[0].metadata["url"] == "https://example.org/rain"
