"""One page and many: what comes out, what is refused, what ends."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pith
import pytest
from conftest import PROSE, page


def test_a_document_has_text_title_links_and_a_summary():
    document = pith.extract(page("Rain"), "https://example.org/rain")
    assert document.title == "Rain"
    assert PROSE in document.text and "Copyright" not in document.text
    assert len(document.summary) == 3 and all(sentence.text in document.text for sentence in document.summary)
    assert {link.url for link in document.links} == {"https://example.org/", "https://example.org/all"}
    assert document.language == "en" and document.counts.words > 60
    assert document.markdown is None and document.error is None and not document.error_page


def test_every_attribute_is_the_field_of_the_line():
    document = pith.extract(page("Rain"), "https://example.org/rain", markdown=True)
    fields = document.to_dict()
    assert list(fields) == list(json.loads(document.to_json()))
    for name in set(fields) - {"summary", "links", "counts", "source"}:
        assert getattr(document, name) == fields[name], name
    summary = [{"text": one.text, "score": one.score, "position": one.position} for one in document.summary]
    assert summary == fields["summary"]
    assert fields["links"] == [{"url": link.url, "text": link.text, "main": link.main} for link in document.links]
    assert fields["counts"]["words"] == document.counts.words


def test_the_line_is_that_of_the_program(pith_program):
    for settings, flags in [
        ({}, []),
        ({"method": "lead", "sentences": 1}, ["--method", "lead", "--sentences", "1"]),
        ({"markdown": True, "favor": "recall"}, ["--markdown", "--favor", "recall"]),
        ({"scope": "page", "comments": "drop"}, ["--scope", "page", "--comments", "drop"]),
    ]:
        line = pith_program("extract", "-", "--json", "--url", "https://example.org/rain", *flags, stdin=page("Rain"))
        document = pith.extract(page("Rain"), "https://example.org/rain", **settings)
        assert document.to_json() + "\n" == line.decode()


def test_rules_of_a_site_are_obeyed():
    rules = '["example.org"]\ncontent = ["nav"]\n'
    assert pith.extract(page("Rain"), "https://example.org/rain", rules=rules).text.split() == ["Home", "All"]
    with pytest.raises(ValueError, match="line 2"):
        pith.extract(page("Rain"), rules='["example.org"]\ncontent = ["::"]\n')


def test_text_is_decoded_already_and_bytes_are_not():
    html = "<meta charset=big5><title>雨</title><p>今天下午台北下了一場很大的雨，路上的行人都躲進了旁邊的商店裡面。"
    assert pith.extract(html).title == "雨"
    assert pith.extract(html.encode("big5")).title == "雨"
    assert pith.extract(html.encode(), content_type="text/html; charset=utf-8").title == "雨"
    assert "\ufffd" in pith.extract("<p>It rained \ud800 all day in the old town of the river.").text


@pytest.mark.parametrize(
    ("arguments", "settings", "error", "named"),
    [
        ((None,), {}, TypeError, "html"),
        ((7,), {}, TypeError, "html"),
        ((b"", b"http://a/"), {}, TypeError, "url"),
        ((b"",), {"content_type": 3}, TypeError, "content_type"),
        ((b"",), {"sentences": "3"}, TypeError, "sentences"),
        ((b"",), {"sentences": True}, TypeError, "sentences"),
        ((b"",), {"sentences": -1}, ValueError, "sentences"),
        ((b"",), {"markdown": 1}, TypeError, "markdown"),
        ((b"",), {"method": "best"}, ValueError, "method must be one of pith, naive"),
        ((b"",), {"favor": None}, TypeError, "favor"),
        ((b"",), {"time_limit": 0}, ValueError, "time_limit"),
        ((b"",), {"rules": b""}, TypeError, "rules"),
    ],
)
def test_a_wrong_argument_is_named(arguments, settings, error, named):
    with pytest.raises(error, match=named):
        pith.extract(*arguments, **settings)


@pytest.mark.parametrize(
    "html",
    [b"", b"\x00" * 1000, b"<" * 100_000, b"<div>" * 50_000, b"&#x110000;" * 1000, bytes(range(256)) * 100, "\ud800" * 10],
)
def test_any_bytes_are_a_page(html):
    assert isinstance(pith.extract(html, "no address").text, str)


def test_many_documents_come_in_order_and_equal_those_of_single_calls():
    pages = [(page(f"Rain {n}"), f"https://example.org/{n}") for n in range(40)]
    alone = [pith.extract(html, url).to_json() for html, url in pages]
    for jobs in (1, 2, 5):
        assert [document.to_json() for document in pith.extract_many(iter(pages), jobs=jobs)] == alone
    named = [{"html": html, "url": url, "other": 1} for html, url in pages]
    assert [document.to_json() for document in pith.extract_many(named)] == alone
    assert [document.title for document in pith.extract_many([page("Rain")])] == ["Rain"]


def test_pages_are_read_as_documents_are_taken():
    n_read = 0

    def endless():
        nonlocal n_read
        while True:
            n_read += 1
            yield page(f"Rain {n_read}")

    documents = pith.extract_many(endless(), jobs=2)
    assert [next(documents).title for _ in range(50)][-1] == "Rain 50"
    assert n_read < 100


def test_what_an_iterable_raises_comes_behind_the_documents_before_it():
    def pages():
        yield page("Rain")
        raise KeyError("gone")

    documents = pith.extract_many(pages())
    assert next(documents).title == "Rain"
    with pytest.raises(KeyError, match="gone"):
        next(documents)
    documents = pith.extract_many([page("Rain"), 7])
    assert next(documents).title == "Rain"
    with pytest.raises(TypeError, match="html must be bytes or str, not int"):
        next(documents)
    with pytest.raises(TypeError, match="pages"):
        pith.extract_many(7)
    with pytest.raises(ValueError, match="jobs"):
        pith.extract_many([], jobs=0)


def test_a_page_that_takes_too_long_costs_only_itself():
    slow = b"<p>" + b"It rained all day. " * 4_000_000
    with pytest.raises(TimeoutError):
        pith.extract(slow, time_limit=0.25)
    pages = [page("Rain"), (slow, "https://example.org/slow"), page("Sun")]
    documents = list(pith.extract_many(pages, jobs=1, time_limit=0.25))
    assert [document.error for document in documents] == [None, "time-limit", None]
    assert (documents[1].url, documents[1].text) == ("https://example.org/slow", "")


def test_other_threads_run_while_a_page_is_extracted():
    slow = page("Rain", more="<p>A word and another one.</p>" * 40_000)
    n_turns = 0
    is_done = threading.Event()

    def count():
        nonlocal n_turns
        while not is_done.is_set():
            n_turns += 1
            time.sleep(0.001)

    other = threading.Thread(target=count)
    other.start()
    begun = time.monotonic()
    pith.extract(slow)
    seconds = time.monotonic() - begun
    is_done.set()
    other.join()
    assert n_turns > min(3, seconds * 20), (n_turns, seconds)


@pytest.mark.parametrize(
    "work",
    [
        "pith.extract(b'<p>word and another ' * 20_000_000, time_limit=500)",
        "for document in pith.extract_many(iter(lambda: b'<p>It rained all day.', None)): pass",
        "pith.near_duplicates(iter(lambda: 'It rained all day.', None))",
        "pith.summarize('It rained all day in town. ' * 2_000_000, method='lexrank')",
        "pith.words('今天下午下雨了' * 5_000_000)",
    ],
)
def test_ctrl_c_ends_long_calls(work):
    code = f"""
        import pith
        print("ready", flush=True)
        try:
            {work}
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"ready\n"
        time.sleep(1)
        assert process.poll() is None, "the call was not long"
        os.kill(process.pid, signal.SIGINT)
        said, _ = process.communicate(timeout=30)
        assert said == b"interrupted\n"
    finally:
        process.kill()
