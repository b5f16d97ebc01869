"""What the way through Python costs: pages per second of the program, of `pith.extract` and of `pith.extract_many`.

    python3 bench/python.py FILE.warc.gz… [--rounds 5]

Every contender reads the same pages of the same archives and makes whole documents with summaries. The program and the module
are those of the wheel. Contenders take turns; the table shows medians, and as ratio the median of the rounds' ratios. Python reads the
records before the clock starts; the time of the program is that of its whole run on one thread, less that of reading the
archives alone (`pith inspect`). Ratios of one and two threads say something only on a quiet machine with two free cores.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time

import pith


def seconds(work):
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def run(*words):
    done = subprocess.run([sys.executable, "-m", "pith", *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if done.returncode not in (0, 3):
        sys.exit(done.stderr.decode())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    records = [record for path in arguments.files for record in pith.read_warc(path).pages()]
    pages = [(record.body, record.url, record.content_type) for record in records]

    def one_by_one():
        for html, url, content_type in pages:
            pith.extract(html, url, content_type=content_type).to_json()

    def many(jobs):
        for document in pith.extract_many(pages, jobs=jobs):
            document.to_json()

    def program():
        run("extract", *arguments.files, "--out", "-", "--jobs", "1", "--quiet")

    contenders = {
        "program, one thread": lambda: seconds(program) - seconds(lambda: run("inspect", *arguments.files)),
        "extract": lambda: seconds(one_by_one),
        "extract_many, jobs=1": lambda: seconds(lambda: many(1)),
        "extract_many, jobs=2": lambda: seconds(lambda: many(2)),
    }
    rounds = [{name: measure() for name, measure in contenders.items()} for _ in range(arguments.rounds)]
    print(f"{len(pages)} pages, {arguments.rounds} rounds, load {os.getloadavg()[0]:.1f}")
    print(f"{'contender':<24}{'pages/s':>9}{'÷ program':>11}{'÷ jobs=1':>10}")
    for name in contenders:
        took = statistics.median(one[name] for one in rounds)
        of_program = statistics.median(one["program, one thread"] / one[name] for one in rounds)
        of_one = statistics.median(one["extract_many, jobs=1"] / one[name] for one in rounds)
        print(f"{name:<24}{len(pages) / took:>9.0f}{of_program:>11.2f}{of_one:>10.2f}")


main()
