"""Memory and speed of near-duplicate removal on many documents of 4.6 KB.

    python million.py PITH WORK [--documents 1000000] [--jobs 2]

Documents are sentences drawn from a pool of 200 000, so that any two may share a few; one in twenty is an exact copy of
one of the last 5 000 and one in twenty a copy with two sentences replaced (a similarity of about 0.85). They are written
to ten `.jsonl.zst` shards below WORK, which takes about 2 GB for a million and is removed at the end, as is the result.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys

import zstandard

SYLLABLES = [c + v for c in "bcdfghjklmnprstvz" for v in "aeiou"]


def generate(folder, n_documents, n_shards=10):
    draw = random.Random(8)
    words = ["".join(draw.choices(SYLLABLES, k=draw.randint(1, 4))) for _ in range(60_000)]
    weights = [0.0]
    for rank in range(1, len(words) + 1):
        weights.append(weights[-1] + 1 / rank**0.9)
    cumulative = weights[1:]
    pool = [
        " ".join(draw.choices(words, cum_weights=cumulative, k=draw.randint(8, 20))).capitalize() + "."
        for _ in range(200_000)
    ]
    os.makedirs(folder)
    recent, counts = [], {"exact": 0, "near": 0}
    for shard in range(n_shards):
        compressor = zstandard.ZstdCompressor(level=1)
        with open(f"{folder}/documents-{shard:05}.jsonl.zst", "wb") as file, compressor.stream_writer(file) as out:
            for number in range(shard * n_documents // n_shards, (shard + 1) * n_documents // n_shards):
                kind = draw.random()
                if recent and kind < 0.1:
                    # A base is copied once, so that the number of removals is known.
                    place = draw.randrange(len(recent))
                    recent[place], recent[-1] = recent[-1], recent[place]
                    sentences = recent.pop()
                    if kind < 0.05:
                        counts["exact"] += 1
                    else:
                        sentences = list(sentences)
                        for _ in range(2):
                            sentences[draw.randrange(len(sentences))] = pool[draw.randrange(len(pool))]
                        counts["near"] += 1
                else:
                    sentences = draw.choices(pool, k=max(12, min(150, int(draw.lognormvariate(3.76, 0.45)))))
                    if len(recent) < 5000:
                        recent.append(sentences)
                row = {"id": f"d{number}", "url": f"https://site{number % 997}.example/{number}", "text": " ".join(sentences)}
                out.write(json.dumps(row).encode() + b"\n")
    return counts


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pith")
    parser.add_argument("work")
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--jobs", default="2")
    arguments = parser.parse_args()
    documents, out = f"{arguments.work}/documents", f"{arguments.work}/unique"
    for folder in (documents, out):
        shutil.rmtree(folder, ignore_errors=True)
    planted = generate(documents, arguments.documents)
    command = [arguments.pith, "corpus", "dedup", documents, "--out", out, "--json", "--quiet", "--jobs", arguments.jobs]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{' '.join(command)} failed")
    cpu = usage.ru_utime + usage.ru_stime
    size = sum(os.path.getsize(f"{documents}/{name}") for name in os.listdir(documents)) / 1e9
    print(f"{arguments.documents} documents, {size:.2f} GB compressed; planted {planted}")
    print(f"{cpu:.1f} CPU s, {arguments.documents / cpu:.0f} documents per CPU s, peak {usage.ru_maxrss / 1024:.0f} MB")
    print(said.decode().strip())
    for folder in (documents, out):
        shutil.rmtree(folder)


main()
