"""What the tests share: an archive of pages, and the real program."""

import gzip
import os
import pathlib
import subprocess
import sys

import pytest

#: Real pages and archives, which are not part of the project; tests that ask for them are skipped without.
DATA = pathlib.Path(os.environ.get("PITH_SHARED", pathlib.Path(__file__).parents[3] / "shared")) / "data"

PROSE = (
    "It rained all day in the old town, and nobody went out until it was dark. The river rose to the bridge, where the "
    "keeper of the park counted the ducks. They were pleased by the rain, as he told everybody who asked him."
)


def page(title, text=PROSE, more=""):
    """A page with a navigation, an article and a footer."""
    return (
        f"<html lang=en><title>{title} - The Paper</title><nav><a href=/>Home</a> <a href=/all>All</a></nav>"
        f"<article><h1>{title}</h1><p>{text}</p><p>{title} number two. {text[:80]}</p>{more}</article>"
        "<footer>Copyright</footer></html>"
    ).encode()


def record(url, body, status="200 OK", media_type="text/html"):
    """One record of an archive."""
    http = f"HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
    head = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: 2026-11-01T00:00:00Z\r\nWARC-Target-URI: {url}\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(http)}\r\n\r\n"
    )
    return head.encode() + http + b"\r\n\r\n"


def records(number, n_pages):
    """The records of one archive: pages, one that is missing, one that is no text."""
    base = f"http://host{number}.example"
    yield record(f"{base}/missing", page("Missing"), "404 Not Found")
    yield record(f"{base}/image", b"\x89PNG", media_type="image/png")
    for n in range(n_pages):
        yield record(f"{base}/{n}", page(f"Rain {number} {n}"))


@pytest.fixture
def archives(tmp_path):
    """A folder with three archives."""
    folder = tmp_path / "archives"
    folder.mkdir()
    for number in range(3):
        packed = b"".join(gzip.compress(one, mtime=0) for one in records(number, 4 + number))
        (folder / f"pages-{number}.warc.gz").write_bytes(packed)
    return folder


@pytest.fixture(scope="session")
def shards_of_all_kinds(tmp_path_factory):
    """A crawl of the test web by the program, and the archives of others, where they are at hand."""
    demo = tmp_path_factory.mktemp("demo") / "pith-demo"
    command = [sys.executable, "-m", "pith", "demo", "--out", str(demo)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    assert done.returncode == 0, done.stdout.decode()[-2000:]
    inputs = [demo / "crawl"]
    if (DATA / "warc").is_dir():
        endings = (".warc.gz", ".warc", ".arc.gz")
        inputs += sorted(path for path in (DATA / "warc").iterdir() if path.name.endswith(endings))
    else:
        print(f"skipped: the archives of others, there are none in {DATA / 'warc'}")
    return inputs


@pytest.fixture
def pith_program():
    """Runs the program of the wheel and gives what it prints."""

    def run(*words, stdin=None, codes=(0,)):
        command = [sys.executable, "-m", "pith", *map(str, words)]
        done = subprocess.run(command, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
        assert done.returncode in codes, done.stderr.decode()
        return done.stdout

    return run


def folder_bytes(folder):
    """Every file of a folder of documents by its name; the manifest without the command that it names."""
    files = {}
    for path in sorted(pathlib.Path(folder).rglob("*")):
        if path.is_file() and path.name != "pith.lock":
            content = path.read_bytes()
            if path.name == "manifest.json":
                content = b"".join(line for line in content.splitlines(True) if b'"command":' not in line)
            files[str(path.relative_to(folder))] = content
    return files
