"""From archives to text side by side: pages per CPU second on the same files in the same run.

    python run.py PITH FILE.warc.gz… [--peers fastwarc,datatrove] [--rounds 3] [--cores]

pith reads, extracts main content and metadata, summarizes and writes compressed JSON lines. FastWARC + Resiliparse
reads and extracts, and writes nothing. datatrove reads with warcio, extracts with trafilatura and writes JSON lines.
Every tool runs in a process of its own and is charged user and system time of all its threads and children; the
pages are those it extracted. Rounds are interleaved and the table shows medians, and as ratio the median of the
rounds' ratios. datatrove is slow and runs once.

`--cores` measures what a second core brings instead, by the clock, in turns: pith as it comes on one core and on two
(the process is bound to them), and beside that one and two threads on two cores. It says something only on a quiet
machine, with archives that take a core ten seconds or more.
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def measured(command):
    """CPU seconds, wall seconds, and what was printed."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    output = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    after, ended = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    # 3: finished with losses that were counted, which odd archives have.
    if output.returncode not in (0, 3):
        sys.exit(f"{' '.join(command)} failed:\n{output.stderr.decode()[-2000:]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, ended - started, output.stdout.decode()


def extract(arguments, *words, cores=None):
    """CPU seconds, wall seconds, and how many pages were extracted."""
    shutil.rmtree(arguments.work, ignore_errors=True)
    command = [arguments.pith, "extract", *arguments.files, "--out", arguments.work, "--json", "--quiet", *words]
    if cores:
        command = ["taskset", "-c", cores, *command]
    cpu, wall, said = measured(command)
    return cpu, wall, json.loads(said)["counts"]["extracted"]


def compare_cores(arguments):
    settings = [
        ("one core", {"cores": "0"}, ()),
        ("one core, one thread", {"cores": "0"}, ("--jobs", "1")),
        ("two cores", {"cores": "0,1"}, ()),
        ("two cores, one thread", {"cores": "0,1"}, ("--jobs", "1")),
        ("two cores, two threads", {"cores": "0,1"}, ("--jobs", "2")),
    ]
    rounds = []
    for _ in range(arguments.rounds):
        rounds.append({name: extract(arguments, *words, **where) for name, where, words in settings})
    print(f"{'setting':<26}{'wall s':>8}{'CPU s':>8}{'speed ÷ one core':>18}")
    for name, *_ in settings:
        cpu, wall = (statistics.median(round[name][place] for round in rounds) for place in (0, 1))
        ratios = sorted(round["one core"][1] / round[name][1] for round in rounds)
        spread = f"{statistics.median(ratios):.2f} ({ratios[0]:.2f}..{ratios[-1]:.2f})"
        print(f"{name:<26}{wall:>8.2f}{cpu:>8.2f}{spread:>18}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pith")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--peers", default="fastwarc")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cores", action="store_true")
    parser.add_argument("--work", default="/tmp/pith-bench-extract")
    arguments = parser.parse_args()
    if arguments.cores:
        return compare_cores(arguments)
    peers = [peer for peer in arguments.peers.split(",") if peer]
    runs = {name: [] for name in ["pith"] + peers}
    for _ in range(arguments.rounds):
        for name, results in runs.items():
            if name == "pith":
                cpu, _, pages = extract(arguments, "--jobs", "1")
            elif name == "datatrove" and results:
                continue
            else:
                shutil.rmtree(arguments.work, ignore_errors=True)
                command = [sys.executable, f"{HERE}/peer_{name}.py", arguments.work, *arguments.files]
                cpu, _, said = measured(command)
                pages = int(said.split()[-1])
            results.append((cpu, pages))
    print(f"{len(arguments.files)} files, {sum(map(os.path.getsize, arguments.files)) / 1e6:.1f} MB")
    print(f"{'tool':<12}{'pages':>8}{'CPU s':>9}{'pages/CPU s':>13}{'pith ÷ it':>11}")
    for name, results in runs.items():
        cpu = statistics.median(cpu for cpu, _ in results)
        pages = results[-1][1]
        rounds = zip(runs["pith"], results)
        ratio = statistics.median(pith[1] / pith[0] / (peer[1] / peer[0]) for pith, peer in rounds)
        print(f"{name:<12}{pages:>8}{cpu:>9.2f}{pages / cpu:>13.0f}{ratio:>11.2f}")


main()
