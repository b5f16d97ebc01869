#!/usr/bin/env python3
"""Writes the tables of docs/*.md from bench/results/*.csv.

A table stands between `<!-- table: NAME -->` and `<!-- end -->`; its rows are those of bench/results/NAME.csv without
the first four columns (date, commit, load, command), which say how each row was measured.

    python3 bench/tables.py           write the tables
    python3 bench/tables.py --check   exit with 1 where a document differs from its figures
"""
import csv
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROVENANCE = ["date", "commit", "load", "command"]
TABLE = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def table(name):
    with open(ROOT / "bench/results" / f"{name}.csv", newline="") as file:
        header, *rows = list(csv.reader(file))
    if header[:4] != PROVENANCE:
        sys.exit(f"bench/results/{name}.csv: the first columns must be {', '.join(PROVENANCE)}")
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            sys.exit(f"bench/results/{name}.csv:{number}: {len(row)} columns, the header has {len(header)}")
    lines = [header[4:], ["---"] * len(header[4:])] + [row[4:] for row in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main():
    stale = []
    for path in sorted((ROOT / "docs").glob("*.md")) + [ROOT / "README.md"]:
        before = path.read_text()
        after = TABLE.sub(lambda found: found[1] + table(found[2]) + found[3], before)
        if after != before:
            stale.append(path.relative_to(ROOT))
            if "--check" not in sys.argv:
                path.write_text(after)
    if "--check" in sys.argv and stale:
        sys.exit("tables differ from bench/results: " + ", ".join(map(str, stale)) + "; run python3 bench/tables.py")


main()
