#!/usr/bin/env python3
"""What a crawl costs, side by side with peers, on one web served from loopback.

    python3 bench/crawl.py [--hosts 500] [--pages 40] [--runs 5] [--only pith,spider,wget2,scrapy]

Politeness is off everywhere; pith stores compressed shards and keeps its durable frontier, wget2 writes plain files,
spider and Scrapy store nothing. Runs are interleaved and medians are printed: CPU seconds of the crawler (user and
system, children included) per 1 000 pages, which contention disturbs least. Peers that are not installed are left out
with a line that says so:

    apt install wget2
    (cd bench/spider && cargo build --release)
    python3 -m venv venv && venv/bin/pip install scrapy      # and --scrapy venv/bin/scrapy
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

SCRAPY = """
import scrapy

class Pages(scrapy.Spider):
    name = "pages"
    custom_settings = {
        "ROBOTSTXT_OBEY": False, "LOG_LEVEL": "ERROR", "TELNETCONSOLE_ENABLED": False, "COOKIES_ENABLED": False,
        "CONCURRENT_REQUESTS": 100, "CONCURRENT_REQUESTS_PER_DOMAIN": 8, "RETRY_ENABLED": False, "DOWNLOAD_DELAY": 0,
        "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.DownloaderAwarePriorityQueue", "CLOSESPIDER_PAGECOUNT": LIMIT,
    }
    start_urls = open("SEEDS").read().split()
    n_pages = 0

    def parse(self, response):
        self.n_pages += 1
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href, self.parse)

    def closed(self, reason):
        print(self.n_pages)
"""


def run(command, cwd=None):
    """Runs a command; gives its CPU seconds, wall seconds, peak RSS in MB and stdout."""
    started = time.monotonic()
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL, cwd=cwd)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read().decode(errors="replace")
    wall = time.monotonic() - started
    return usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1000, text, process.returncode


def pith(args, seeds, scratch):
    out = os.path.join(scratch, "crawl")
    command = [args.pith, "crawl", "--seeds", seeds, "--out", out, "--delay", "0s", "--scope", "any", "--allow-private",
               "--ignore-robots", "--no-sitemaps", "--slots", "64", "--quiet", "--json", *args.pith_words.split()]
    cpu, wall, rss, text, code = run(command)
    if code not in (0, 3):
        sys.exit(f"pith failed with {code}")
    stored = sum(os.path.getsize(os.path.join(out, "pages", name)) for name in os.listdir(os.path.join(out, "pages")))
    return cpu, wall, rss, json.loads(text)["pages"], stored


def spider(args, seeds, scratch):
    cpu, wall, rss, text, _ = run([args.spider, seeds])
    return cpu, wall, rss, json.loads(text)["pages"], 0


def wget2(args, seeds, scratch):
    command = [args.wget2, "-q", "-r", "-l", "0", "-H", "--no-robots", "--max-threads=50", "-i", seeds]
    cpu, wall, rss, _, _ = run(command, cwd=scratch)
    pages, stored = 0, 0
    for folder, _, names in os.walk(scratch):
        pages += len(names)
        stored += sum(os.path.getsize(os.path.join(folder, name)) for name in names)
    return cpu, wall, rss, pages, stored


def scrapy(args, seeds, scratch):
    program = os.path.join(scratch, "pages.py")
    with open(program, "w") as file:
        file.write(SCRAPY.replace("LIMIT", str(args.scrapy_pages)).replace("SEEDS", seeds))
    cpu, wall, rss, text, _ = run([args.scrapy, "runspider", program], cwd=scratch)
    return cpu, wall, rss, int(text.strip() or 0), 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hosts", type=int, default=500)
    parser.add_argument("--pages", type=int, default=40)
    parser.add_argument("--bytes", type=int, default=60_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="pith,spider,wget2,scrapy")
    parser.add_argument("--pith", default=os.path.join(ROOT, "target/release/pith"))
    parser.add_argument("--pith-words", default="", help="more words for pith, such as '--level 1'")
    parser.add_argument("--web", default=os.path.join(ROOT, "target/release/pith-web"))
    parser.add_argument("--spider", default=os.path.join(ROOT, "bench/spider/target/release/bench-spider"))
    parser.add_argument("--wget2", default=shutil.which("wget2") or "wget2")
    parser.add_argument("--scrapy", default=shutil.which("scrapy") or "scrapy")
    parser.add_argument("--scrapy-pages", type=int, default=1000, help="Scrapy is cut off here, it takes its time")
    parser.add_argument("--scratch", default=None, help="where crawls are written for the moment")
    args = parser.parse_args()

    crawlers = {"pith": pith, "spider": spider, "wget2": wget2, "scrapy": scrapy}
    chosen = []
    for name in args.only.split(","):
        if shutil.which(getattr(args, name)):
            chosen.append(name)
        else:
            print(f"left out: {name} is not at {getattr(args, name)}", file=sys.stderr)
    web = subprocess.Popen(
        [args.web, "--hosts", str(args.hosts), "--pages", str(args.pages), "--bytes", str(args.bytes), "--links", "40"],
        stdout=subprocess.PIPE, text=True)
    try:
        port = int(re.search(r"port (\d+)", web.stdout.readline()).group(1))
        rows = {name: [] for name in chosen}
        with tempfile.TemporaryDirectory(dir=args.scratch) as folder:
            seeds = os.path.join(folder, "seeds.txt")
            with open(seeds, "w") as file:
                for index in range(args.hosts):
                    file.write(f"http://127.0.{index // 254}.{index % 254 + 1}:{port}/\n")
            for number in range(args.runs):
                for name in chosen:
                    if name == "scrapy" and number > 0:
                        continue
                    scratch = tempfile.mkdtemp(dir=folder)
                    cpu, wall, rss, pages, stored = crawlers[name](args, seeds, scratch)
                    shutil.rmtree(scratch)
                    rows[name].append((cpu / max(pages, 1) * 1000, pages / wall, rss, pages, stored / 1e6))
                    print(f"run {number + 1}: {name} {pages} pages, {cpu:.2f} CPU s, {wall:.1f} s", file=sys.stderr)
    finally:
        web.kill()
        web.wait()
    best = {name: [statistics.median(column) for column in zip(*rows[name])] for name in chosen}
    base = best[chosen[0]][0]
    print(f"{args.hosts} hosts x {args.pages} pages of {args.bytes} bytes, medians of {args.runs} interleaved runs, "
          f"{os.cpu_count()} cores")
    print(f"{'crawler':10} {'CPU s/1000':>10} {'÷ ' + chosen[0]:>8} {'pages/s':>9} {'peak MB':>8} {'pages':>7} {'stored MB':>9}")
    for name in chosen:
        cost, rate, rss, pages, stored = best[name]
        print(f"{name:10} {cost:>10.3f} {cost / base:>8.2f} {rate:>9.0f} {rss:>8.1f} {pages:>7.0f} {stored:>9.1f}")


if __name__ == "__main__":
    main()
