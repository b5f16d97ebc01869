"""Writes a corpus with planted duplicates of six kinds, and the truth about them.

    python generate.py OUT N [SEED]

OUT/documents.jsonl  {"id", "url", "text"}, N documents with a mean of about 4.6 KB
OUT/truth.tsv        copy, base, kind, true Jaccard similarity of the sets of word 5-grams

Words are drawn by Zipf's law from an invented vocabulary, so that two documents are alike only where one was
made from the other. One document in eight is a copy of an earlier base; no base has two copies.
"""

import json
import os
import sys

import numpy as np

KINDS = ["exact", "block-5%", "words-2%", "block-15%", "words-5%", "block-40%"]
SHARES = [0.15, 0.2, 0.15, 0.2, 0.15, 0.15]


def vocabulary(random, size):
    syllables = [c + v for c in "bcdfghjklmnprstvz" for v in "aeiou"]
    words = set()
    while len(words) < size:
        length = random.integers(1, 5)
        words.add("".join(syllables[i] for i in random.integers(0, len(syllables), length)))
    return np.array(sorted(words))[random.permutation(size)]


def change(random, words, kind, draw):
    words = words.copy()
    n = len(words)
    if kind.startswith("block"):
        length = max(1, int(n * float(kind[6:-1]) / 100))
        start = random.integers(0, n - length + 1)
        words[start : start + length] = draw(length)
    elif kind.startswith("words"):
        count = max(1, int(n * float(kind[6:-1]) / 100))
        places = random.choice(n, count, replace=False)
        words[places] = draw(count)
    return words


def grams(words):
    return {tuple(words[i : i + 5]) for i in range(len(words) - 4)}


def layout(random, words, vocabulary):
    """Sentences of 8 to 20 words, paragraphs of 3 to 6 sentences."""
    parts, position, in_paragraph = [], 0, 0
    while position < len(words):
        end = min(len(words), position + int(random.integers(8, 21)))
        sentence = " ".join(vocabulary[words[position:end]])
        parts.append(sentence[:1].upper() + sentence[1:] + ".")
        position = end
        in_paragraph += 1
        if in_paragraph >= random.integers(3, 7):
            parts.append("\n\n")
            in_paragraph = 0
    return " ".join(parts).replace(" \n\n ", "\n\n").strip()


def main():
    out, n = sys.argv[1], int(sys.argv[2])
    random = np.random.default_rng(int(sys.argv[3]) if len(sys.argv) > 3 else 8)
    os.makedirs(out, exist_ok=True)
    words = vocabulary(random, 60_000)
    weights = 1 / np.arange(1, len(words) + 1) ** 0.9
    cumulative = np.cumsum(weights / weights.sum())
    draw = lambda count: np.searchsorted(cumulative, random.random(count)).clip(0, len(words) - 1)
    waiting = []
    with open(f"{out}/documents.jsonl", "w") as documents, open(f"{out}/truth.tsv", "w") as truth:
        for number in range(n):
            copy = waiting and random.random() < 0.125
            if copy:
                base_id, base, base_text = waiting.pop(int(random.integers(0, len(waiting))))
                kind = str(random.choice(KINDS, p=SHARES))
                body = change(random, base, kind, draw)
                text = base_text if kind == "exact" else layout(random, body, words)
                left, right = grams(base), grams(body)
                jaccard = len(left & right) / max(1, len(left | right))
                truth.write(f"d{number}\t{base_id}\t{kind}\t{jaccard:.4f}\n")
            else:
                body = draw(int(np.clip(random.lognormal(6.24, 0.5), 60, 6000)))
                text = layout(random, body, words)
                if len(waiting) < 5000:
                    waiting.append((f"d{number}", body, text))
            row = {"id": f"d{number}", "url": f"https://site{number % 997}.example/{number}", "text": text}
            documents.write(json.dumps(row) + "\n")


main()
