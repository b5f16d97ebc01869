"""Summaries, sentences, words and near-duplicates, and the examples of the docstrings and the README."""

import doctest
import gzip
import pathlib
import re

import pith
import pytest
from conftest import PROSE, page, record


def test_a_summary_has_the_sentences_that_are_asked_for():
    for method in pith.methods():
        summary = pith.summarize(PROSE, method, 2, title="Ducks")
        assert len(summary) == 2
        assert all(sentence.text in PROSE for sentence in summary)
        assert [one.position for one in summary] == sorted(one.position for one in summary)
    assert pith.summarize(PROSE, sentences=0) == []
    assert pith.summarize("") == []


def test_sentences_joined_give_the_text_back():
    for text in (PROSE, "", "他說：「下雨了。」我走了。", "Am 3. Mai regnete es. Dann nicht."):
        assert "".join(pith.split_sentences(text)) == text
    assert len(pith.split_sentences("Am 3. Mai regnete es.", language="de")) == 1


def test_words_are_without_punctuation_on_any_number_of_lines():
    assert pith.words("It rained,\nall day.\n\n“Really?”") == ["It", "rained", "all", "day", "Really"]
    assert pith.words("") == []


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: pith.summarize(b"rain"), "text must be str, not bytes"),
        (lambda: pith.summarize("rain", language=3), "language"),
        (lambda: pith.split_sentences(None), "text"),
        (lambda: pith.words(3), "text"),
        (lambda: pith.near_duplicates("rain"), "texts"),
        (lambda: pith.near_duplicates([3]), "every text"),
        (lambda: pith.near_duplicates(["a"], threshold="much"), "threshold"),
    ],
)
def test_a_wrong_argument_is_named(call, named):
    with pytest.raises(TypeError, match=named):
        call()


def test_near_duplicates_name_the_first_of_their_kind():
    long = " ".join(f"Sentence {n} tells of the rain in town {n * 7919 % 101}." for n in range(60))
    edited = long.replace("Sentence 30 tells", "Sentence 30 says nothing")
    found = pith.near_duplicates([long, "Ducks.", edited, long, "Ducks.\n"])
    assert [(one.index, one.of) for one in found] == [(2, 0), (3, 0), (4, 1)]
    assert 0.8 < found[0].similarity < 1 == found[1].similarity
    assert [one.index for one in pith.near_duplicates([long, edited, long], threshold=1.0)] == [2]
    assert pith.near_duplicates([]) == []
    with pytest.raises(ValueError, match="threshold"):
        pith.near_duplicates([], threshold=0)


def test_the_examples_of_the_docstrings_run(tmp_path):
    archive = tmp_path / "example.warc.gz"
    archive.write_bytes(gzip.compress(record("http://example.com/", page("Rain"))))
    results = doctest.testmod(pith, extraglobs={"pith": pith, "example_warc": archive})
    assert results.failed == 0 and results.attempted > 12


def test_the_first_example_of_the_readme_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "page.html").write_bytes(page("Rain"))
    readme = (pathlib.Path(__file__).parents[1] / "README.md").read_text()
    example = re.search(r"```python\n(.*?)```", readme, re.DOTALL).group(1)
    exec(compile(example, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "Rain" in printed and PROSE in printed
