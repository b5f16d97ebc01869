"""rensa's MinHash (Rust core) with word 5-grams and 14 bands of 8, clusters by union-find.

    python peer_rensa.py DOCUMENTS.jsonl OUT.tsv

OUT.tsv: for every document that goes, its id and the id of the one that stays.
"""

import json
import re
import sys

from rensa import RMinHash

WORD = re.compile(r"\w+")
BANDS, ROWS = 14, 8


def main():
    buckets = [dict() for _ in range(BANDS)]
    ids, parent = [], []

    def find(x):
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x

    with open(sys.argv[1]) as lines:
        for index, line in enumerate(lines):
            document = json.loads(line)
            ids.append(document["id"])
            parent.append(index)
            words = WORD.findall(document["text"].lower())
            shingles = [" ".join(words[i : i + 5]) for i in range(max(1, len(words) - 4))]
            minhash = RMinHash(num_perm=BANDS * ROWS, seed=42)
            minhash.update(shingles)
            digest = minhash.digest()
            for band in range(BANDS):
                key = tuple(digest[band * ROWS : (band + 1) * ROWS])
                first = buckets[band].setdefault(key, index)
                if first != index:
                    left, right = find(first), find(index)
                    if left != right:
                        parent[max(left, right)] = min(left, right)
    with open(sys.argv[2], "w") as out:
        for index, name in enumerate(ids):
            root = find(index)
            if root != index:
                out.write(f"{name}\t{ids[root]}\n")


main()
