"""Near-duplicates side by side: recall by kind, false removals, documents per CPU second, memory.

    python run.py PITH N [--peers rensa,datatrove] [--rounds 3] [--work DIR] [--peer-documents 3000]

Every tool runs in a process of its own and is charged user and system time of all its threads, reading and
writing included. Rounds are interleaved; the table shows medians. datatrove needs a second for fifty documents, so
it runs once and gets a part: whole planted pairs, up to --peer-documents; pith gets the same part beside it.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def measured(command):
    """CPU seconds and peak megabytes of a command."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    error = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{' '.join(command)} failed:\n{error.decode()[-2000:]}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def removed_by_pith(folder):
    removed = {}
    with open(f"{folder}/report/clusters.jsonl") as clusters:
        for line in clusters:
            cluster = json.loads(line)
            for document in cluster["removed"]:
                removed[document["id"]] = cluster["kept"]["id"]
    return removed


def removed_by_peer(path):
    with open(path) as lines:
        return dict(line.rstrip("\n").split("\t") for line in lines)


def score(removed, truth, present):
    """Recall by kind and the number of removals that no planted pair explains."""
    partner, kinds = {}, {}
    for copy, base, kind, _ in truth:
        if copy in present and base in present:
            partner[copy], partner[base] = base, copy
            kinds.setdefault(kind, []).append((copy, base))
    found = {}
    for kind, pairs in kinds.items():
        hits = sum(1 for copy, base in pairs if copy in removed or base in removed)
        found[kind] = (hits, len(pairs))
    false = sum(1 for name, kept in removed.items() if name not in partner or (kept and partner[name] != kept))
    return found, false


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pith")
    parser.add_argument("documents", type=int)
    parser.add_argument("--peers", default="rensa")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--work", default="/tmp/pith-bench-dedup")
    parser.add_argument("--peer-documents", type=int, default=4000)
    parser.add_argument("--jobs", default="1")
    arguments = parser.parse_args()
    work = arguments.work
    os.makedirs(work, exist_ok=True)
    corpus = f"{work}/corpus-{arguments.documents}"
    if not os.path.exists(f"{corpus}/truth.tsv"):
        subprocess.check_call([sys.executable, f"{HERE}/generate.py", corpus, str(arguments.documents)])
    truth = [line.rstrip("\n").split("\t") for line in open(f"{corpus}/truth.tsv")]
    paired = {name for copy, base, *_ in truth[: arguments.peer_documents // 2] for name in (copy, base)}
    small = f"{work}/small-{len(paired)}/documents.jsonl"
    os.makedirs(os.path.dirname(small), exist_ok=True)
    with open(f"{corpus}/documents.jsonl") as source, open(small, "w") as target:
        for line in source:
            if line[8 : line.index('"', 8)] in paired:
                target.write(line)
    size = os.path.getsize(f"{corpus}/documents.jsonl") / arguments.documents
    print(f"{arguments.documents} documents of {size:.0f} bytes, {len(truth)} planted copies")

    peers = [peer for peer in arguments.peers.split(",") if peer]
    tools = [("pith", "all"), ("pith --exact", "all")] + [(peer, "all") for peer in peers if peer != "datatrove"]
    if "datatrove" in peers:
        tools += [("datatrove", "small"), ("pith", "small")]
    runs = {tool: [] for tool in tools}
    answers = {}
    for _ in range(arguments.rounds):
        for tool in tools:
            name, part = tool
            source = f"{corpus}/documents.jsonl" if part == "all" else small
            if name.startswith("pith"):
                out = f"{work}/pith"
                shutil.rmtree(out, ignore_errors=True)
                words = name.split()[1:]
                command = [arguments.pith, "corpus", "dedup", source, "--out", out, "--quiet", "--jobs", arguments.jobs]
                runs[tool].append(measured(command + words))
                answers[tool] = removed_by_pith(out)
            else:
                out = f"{work}/{name}.tsv"
                command = [sys.executable, f"{HERE}/peer_{name}.py", source, out]
                if name == "datatrove":
                    if runs[tool]:
                        continue
                    shutil.rmtree(f"{work}/datatrove", ignore_errors=True)
                    command.append(f"{work}/datatrove")
                runs[tool].append(measured(command))
                answers[tool] = removed_by_peer(out)

    rows = []
    for tool in tools:
        present = {f"d{number}" for number in range(arguments.documents)} if tool[1] == "all" else paired
        n = len(present)
        cpu = statistics.median(cpu for cpu, _ in runs[tool])
        peak = max(peak for _, peak in runs[tool])
        found, false = score(answers[tool], truth, present)
        rows.append((tool, n, cpu, peak, found, false))
    base = {part: next((n / cpu for (name, p), n, cpu, *_ in rows if name == "pith" and p == part), None) for part in ("all", "small")}
    print(f"{'tool':<14}{'documents':>10}{'CPU s':>9}{'docs/CPU s':>12}{'pith ÷ it':>11}{'peak MB':>9}{'false':>7}")
    for (name, part), n, cpu, peak, _, false in rows:
        print(f"{name:<14}{n:>10}{cpu:>9.2f}{n / cpu:>12.0f}{base[part] * cpu / n:>11.2f}{peak:>9.0f}{false:>7}")
    print("\nrecall by kind")
    kinds = ["exact", "block-5%", "words-2%", "block-15%", "words-5%", "block-40%"]
    print(f"{'tool':<14}{'documents':>10}" + "".join(f"{kind:>19}" for kind in kinds))
    for (name, _), n, _, _, found, _ in rows:
        cells = [found.get(kind, (0, 0)) for kind in kinds]
        print(f"{name:<14}{n:>10}" + "".join(f"{f'{a}/{b} = {a / max(1, b):.3f}':>19}" for a, b in cells))


main()
