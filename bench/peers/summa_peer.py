"""summa's TextRank as a peer of `pith eval summaries`.

    pip install summa
    pith eval summaries --data SETS --peer 'summa=python3 bench/peers/summa_peer.py'

Reads {id, lang, title, sentences} on each line and answers {id, ranking, seconds}. The sentences are given, so only
summa's cleaning, graph and PageRank run; sentences that it cannot rank come last, in their order.
"""

import json
import sys
import time

from summa.commons import build_graph, remove_unreachable_nodes
from summa.pagerank_weighted import pagerank_weighted_scipy
from summa.preprocessing.textcleaner import init_textcleanner, merge_syntactic_units, filter_words
from summa.summarizer import _set_graph_edge_weights

LANGUAGES = {"en": "english", "pt": "portuguese", "es": "spanish", "fr": "french", "de": "german", "it": "italian", "nl": "dutch"}


def units(sentences, lang):
    if lang.startswith("zh"):
        import jieba

        filtered = [" ".join(word for word in jieba.lcut(s) if word.strip() and word.isalnum()) for s in sentences]
    else:
        init_textcleanner(LANGUAGES.get(lang[:2], "english"), None)
        filtered = filter_words(sentences)
    merged = []
    for index, (original, token) in enumerate(zip(sentences, filtered)):
        if token:
            merged += merge_syntactic_units([original], [token])
            merged[-1].index = index
    return merged


def rank(question):
    sentences = question["sentences"]
    merged = units(sentences, question["lang"])
    graph = build_graph([unit.token for unit in merged])
    _set_graph_edge_weights(graph)
    remove_unreachable_nodes(graph)
    scores = pagerank_weighted_scipy(graph) if graph.nodes() else {}
    score = {unit.index: scores.get(unit.token, -1.0) for unit in merged}
    return sorted(range(len(sentences)), key=lambda index: (-score.get(index, -2.0), index))


for line in sys.stdin:
    question = json.loads(line)
    begun = time.process_time()
    ranking = rank(question)
    print(json.dumps({"id": question["id"], "ranking": ranking, "seconds": time.process_time() - begun}), flush=True)
