#!/usr/bin/env python3
"""Whether a long crawl stays as it began: memory, threads, open files and rate, with one host in ten bad.

    python3 bench/steady.py [--pith target/release/pith] [--minutes 30] [--hosts 2000] [--delay 12]

Every host has a tree of pages of its own, larger than the crawl has time for. Of the bad hosts a quarter accept a
connection and say nothing, a quarter send a byte a second, a quarter refuse connections, and a quarter answer 503. The
pauses between requests bound the rate, so that a busy machine hardly does. Every ten seconds the program's memory,
threads and open files are read from /proc, with the requests that the good hosts have got.
"""

import argparse
import asyncio
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STEP = 10
WORDS = "It rained all day in the old town, and nobody went out until it was dark. "


class Web:
    """Serves all hosts, good and bad, from one port."""

    def __init__(self):
        self.n_requests = 0

    async def answer(self, reader, writer):
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                line, *fields = head.decode("latin-1").split("\r\n")
                path = line.split(" ")[1]
                host = next(f.split(":", 1)[1].strip() for f in fields if f.lower().startswith("host:"))
                kind = re.match(r"[a-z]+", host).group()
                if kind == "silent":
                    await reader.read()
                    break
                if kind == "slow":
                    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100000\r\n\r\n")
                    while True:
                        writer.write(b".")
                        await writer.drain()
                        await asyncio.sleep(1)
                status, body = self.page(host, path) if kind == "good" else ("503 Service Unavailable", "")
                await asyncio.sleep(0.02)
                data = body.encode()
                writer.write(f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {len(data)}\r\n\r\n".encode())
                writer.write(data)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, IndexError, StopIteration):
            pass
        finally:
            writer.close()

    def page(self, host, path):
        self.n_requests += 1
        if not (number := path[1:] or "0").isdigit():
            return "404 Not Found", ""
        number = int(number)
        links = "".join(f"<a href=/{3 * number + child}>page {3 * number + child}</a> " for child in (1, 2, 3))
        return "200 OK", f"<title>Page {number}</title><h1>{host} {number}</h1><p>{WORDS * 60}{number}</p>{links}"


def reading(pid):
    """Megabytes, threads and open files of a process."""
    with open(f"/proc/{pid}/status") as file:
        status = file.read()
    field = lambda name: int(re.search(rf"{name}:\s+(\d+)", status).group(1))
    return field("VmRSS") / 1e3, field("Threads"), len(os.listdir(f"/proc/{pid}/fd"))


async def watch(process, web, seconds):
    rows, started = [], time.monotonic()
    print(f"{'seconds':>8} {'MB':>8} {'threads':>8} {'files':>8} {'requests':>8}")
    while process.returncode is None and time.monotonic() - started + STEP < seconds:
        await asyncio.sleep(STEP)
        rows.append((time.monotonic() - started, *reading(process.pid), web.n_requests))
        print("{:8.0f} {:8.1f} {:8d} {:8d} {:8d}".format(*rows[-1]), flush=True)
    return rows


def report(rows):
    """Compares the first minute with the last one, and the first quarter with the rest."""
    minute = 60 // STEP
    if len(rows) < 2 * minute:
        sys.exit("the crawl ended too soon to compare anything")
    rate = lambda a, b: (b[4] - a[4]) / (b[0] - a[0])
    first, last = rate((0, 0, 0, 0, 0), rows[minute - 1]), rate(rows[-minute - 1], rows[-1])
    print(f"requests per second: first minute {first:.1f}, last minute {last:.1f} ({100 * last / first:.0f} %)")
    quarter = len(rows) // 4
    for name, column in (("MB", 1), ("threads", 2), ("files", 3)):
        before, after = (max(row[column] for row in part) for part in (rows[:quarter], rows[quarter:]))
        print(f"{name}: at most {before:.0f} in the first quarter, {after:.0f} later")


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pith", default=os.path.join(ROOT, "target/release/pith"))
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--hosts", type=int, default=2000)
    parser.add_argument("--delay", type=int, default=12, help="seconds between two requests to a host")
    args = parser.parse_args()

    web = Web()
    server = await asyncio.start_server(web.answer, "127.0.0.1", 0, backlog=4096)
    port = server.sockets[0].getsockname()[1]
    n_bad = args.hosts // 10
    kinds = ["silent", "slow", "closed", "busy"]
    hosts = [f"good{number}.test" for number in range(args.hosts - n_bad)]
    hosts += [f"{kinds[number % 4]}{number}.test" for number in range(n_bad)]
    folder = tempfile.mkdtemp(prefix="pith-steady-")
    try:
        with open(os.path.join(folder, "seeds.txt"), "w") as file:
            # Bad hosts first: whoever comes later must not suffer from it.
            file.writelines(f"http://{host}/\n" for host in reversed(hosts))
        words = ["crawl", "--seeds", os.path.join(folder, "seeds.txt"), "--out", os.path.join(folder, "crawl")]
        words += ["--resolve", f"*=127.0.0.1:{port}", "--delay", f"{args.delay}s", "--scope", "any", "--timeout", "20s"]
        # Port 9 is that of the discard service, which nobody runs.
        words += [word for host in hosts if host.startswith("closed") for word in ("--resolve", f"{host}=127.0.0.1:9")]
        words += ["--time", f"{round(args.minutes * 60)}s", "--no-sitemaps", "--quiet"]
        process = await asyncio.create_subprocess_exec(args.pith, *words, stdout=subprocess.DEVNULL)
        rows = await watch(process, web, args.minutes * 60)
        status = await process.wait()
        print(f"the crawl ended with {status}")
        report(rows)
    finally:
        shutil.rmtree(folder)


asyncio.run(main())
