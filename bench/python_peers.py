"""F1 and speed of `pith.extract` beside other extractors for Python, on the same pages, in one table.

    pip install ./python resiliparse trafilatura readability-lxml lxml_html_clean
    python3 bench/python_peers.py DIR [--every 16] [--rounds 5]

`DIR` is a folder of gold sets. The program asks every peer for every page (`pith eval extraction`), then lets them read the pages
in turns (`pith eval speed`); speeds are medians of processor time around each call. F1 is that of words, the mean over the sets.
"""

import argparse
import json
import pathlib
import shlex
import statistics
import subprocess
import sys

PEERS = {
    "pith.extract": "pith_peer.py",
    "trafilatura": "trafilatura_peer.py",
    "resiliparse": "resiliparse_peer.py",
    "readability-lxml": "readability_peer.py",
}


def evaluate(*words):
    folder = pathlib.Path(__file__).resolve().parent / "peers"
    command = [sys.executable, "-m", "pith", "eval", *words, "--json"]
    for name, script in PEERS.items():
        command += ["--peer", f"{name}={shlex.join([sys.executable, str(folder / script)])}"]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", metavar="DIR")
    parser.add_argument("--every", default="16", metavar="N")
    parser.add_argument("--rounds", default="5", metavar="N")
    arguments = parser.parse_args()
    where = ["--data", arguments.data, "--every", arguments.every]
    scores = evaluate("extraction", *where)
    speeds = {one["name"]: one for one in evaluate("speed", *where, "--rounds", arguments.rounds)["methods"]}
    sets = {name: scores["peers"][name]["sets"] for name in PEERS}
    n_pages = sum(one["pages"] for one in sets["pith.extract"].values())
    print(f"{n_pages} pages of {len(sets['pith.extract'])} sets, {arguments.rounds} rounds")
    print(f"{'extractor':<18}{'F1':>7}{'pages/s':>10}{'MB/s':>8}{'peak MB':>9}")
    for name in PEERS:
        f1 = statistics.mean(one["bow_f1"] for one in sets[name].values() if one.get("bow_f1") is not None)
        speed = speeds[name]
        rates = f"{speed['pages_per_second']:>10.0f}{speed['mb_per_second']:>8.1f}{speed['peak_rss_mb'] or 0:>9.0f}"
        print(f"{name:<18}{f1:>7.3f}{rates}")


main()
