"""A summarizer of sumy as a peer of `pith eval summaries`.

    pip install sumy jieba
    pith eval summaries --data SETS --peer 'sumy-textrank=python3 bench/peers/sumy_peer.py textrank'

Methods: textrank, lexrank, luhn, lsa, sumbasic, reduction. The sentences are given; words are sumy's own for its
language, jieba's for Chinese.
"""

import json
import re
import sys
import time

from sumy.models.dom import ObjectDocumentModel, Paragraph, Sentence
from sumy.nlp.stemmers import Stemmer, null_stemmer
from sumy.summarizers.lex_rank import LexRankSummarizer
from sumy.summarizers.lsa import LsaSummarizer
from sumy.summarizers.luhn import LuhnSummarizer
from sumy.summarizers.reduction import ReductionSummarizer
from sumy.summarizers.sum_basic import SumBasicSummarizer
from sumy.summarizers.text_rank import TextRankSummarizer
from sumy.utils import get_stop_words

METHODS = {
    "textrank": TextRankSummarizer,
    "lexrank": LexRankSummarizer,
    "luhn": LuhnSummarizer,
    "lsa": LsaSummarizer,
    "sumbasic": SumBasicSummarizer,
    "reduction": ReductionSummarizer,
}
LANGUAGES = {"en": "english", "pt": "portuguese", "zh": "chinese", "es": "spanish", "fr": "french", "de": "german"}


class Words:
    def __init__(self, lang):
        self.lang = lang

    def to_words(self, text):
        if self.lang == "zh":
            import jieba

            return [word for word in jieba.lcut(text) if re.search(r"\w", word)]
        return re.findall(r"\w+", text)


class Numbered(Sentence):
    __slots__ = ("number",)


def rank(question, method):
    lang = question["lang"][:2]
    name = LANGUAGES.get(lang, "english")
    words = Words(lang)
    sentences = []
    for number, text in enumerate(question["sentences"]):
        sentence = Numbered(text, words)
        sentence.number = number
        sentences.append(sentence)
    stemmer = null_stemmer if lang == "zh" else Stemmer(name)
    summarizer = METHODS[method](stemmer)
    summarizer.stop_words = get_stop_words(name)
    document = ObjectDocumentModel([Paragraph(sentences)])
    ranking = []
    try:
        rated = summarizer.rate_sentences(document) if hasattr(summarizer, "rate_sentences") else None
        if rated is not None:
            ranking = [s.number for s in sorted(rated, key=lambda s: (-rated[s], s.number))]
        else:
            # These pick a set for a count: asked for one more at a time, what is new is the next best.
            for count in range(1, len(sentences) + 1):
                picked = [s.number for s in summarizer(document, count)]
                ranking += [number for number in picked if number not in ranking]
    except (ValueError, ZeroDivisionError, KeyError, IndexError):
        ranking = []
    return ranking + [number for number in range(len(sentences)) if number not in ranking]


method = sys.argv[1]
for line in sys.stdin:
    question = json.loads(line)
    begun = time.process_time()
    ranking = rank(question, method)
    print(json.dumps({"id": question["id"], "ranking": ranking, "seconds": time.process_time() - begun}), flush=True)
