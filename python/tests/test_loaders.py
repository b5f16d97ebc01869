"""Loaders of LangChain and LlamaIndex."""

import pith
import pytest
from conftest import page


@pytest.fixture
def saved_page(tmp_path):
    path = tmp_path / "rain.html"
    path.write_bytes(page("Rain"))
    return path


def expected(archives):
    return [one.extract() for path in sorted(archives.iterdir()) for one in pith.read_warc(path).pages()]


def test_langchain_loads_archives_and_pages(archives, saved_page):
    pytest.importorskip("langchain_core")
    from pith.langchain import PithLoader

    loaded = PithLoader(archives).load()
    assert [one.page_content for one in loaded] == [one.text for one in expected(archives)]
    assert loaded[0].metadata["title"] == "Rain 0 0" and loaded[0].metadata["source"] == "http://host0.example/0"
    assert all(isinstance(value, (str, float)) for value in loaded[0].metadata.values())
    (alone,) = PithLoader(saved_page, markdown=True).lazy_load()
    assert alone.page_content.startswith("# Rain")


def test_llama_index_loads_archives_and_pages(archives, saved_page):
    pytest.importorskip("llama_index.core")
    from pith.llama_index import PithReader

    loaded = PithReader().load_data(archives)
    assert [one.text for one in loaded] == [one.text for one in expected(archives)]
    assert [one.id_ for one in loaded] == [one.id for one in expected(archives)]
    (alone,) = PithReader(sentences=1).load_data(saved_page)
    assert alone.metadata["title"] == "Rain"
