"""From archives to text side by side: pages per CPU second on the same files in the same run.

    python run.py PITH FILE.warc.gz… [--peers fastwarc,datatrove] [--rounds 3]

pith reads, extracts main content and metadata, summarizes and writes compressed JSON lines. FastWARC + Resiliparse
reads and extracts, and writes nothing. datatrove reads with warcio, extracts with trafilatura and writes JSON lines.
Every tool runs in a process of its own and is charged user and system time of all its threads and children; the
pages are those it extracted. Rounds are interleaved and the table shows medians.
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def measured(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # 3: finished with losses that were counted, which odd archives have.
    if output.returncode not in (0, 3):
        sys.exit(f"{' '.join(command)} failed:\n{output.stderr.decode()[-2000:]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, output.stdout.decode()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pith")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--peers", default="fastwarc")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--work", default="/tmp/pith-bench-extract")
    arguments = parser.parse_args()
    peers = [peer for peer in arguments.peers.split(",") if peer]
    runs = {name: [] for name in ["pith"] + peers}
    for _ in range(arguments.rounds):
        for name, results in runs.items():
            shutil.rmtree(arguments.work, ignore_errors=True)
            if name == "pith":
                words = ["extract", *arguments.files, "--out", arguments.work, "--json", "--quiet", "--jobs", "1"]
                cpu, said = measured([arguments.pith, *words])
                pages = json.loads(said)["counts"]["extracted"]
            else:
                command = [sys.executable, f"{HERE}/peer_{name}.py", arguments.work, *arguments.files]
                cpu, said = measured(command)
                pages = int(said.split()[-1])
            results.append((cpu, pages))
    print(f"{len(arguments.files)} files, {sum(map(os.path.getsize, arguments.files)) / 1e6:.1f} MB")
    print(f"{'tool':<12}{'pages':>8}{'CPU s':>9}{'pages/CPU s':>13}{'pith ÷ it':>11}")
    rate = {}
    for name, results in runs.items():
        cpu = statistics.median(cpu for cpu, _ in results)
        rate[name] = (results[-1][1], cpu, results[-1][1] / cpu)
    for name, (pages, cpu, speed) in rate.items():
        print(f"{name:<12}{pages:>8}{cpu:>9.2f}{speed:>13.0f}{rate['pith'][2] / speed:>11.2f}")


main()
