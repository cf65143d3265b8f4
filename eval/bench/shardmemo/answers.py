"""Answers from retrieved evidence, and their token F1 and BLEU-1 against the gold answer (paper, Appendix D)."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence
from math import exp

from rebind.prompts import render
from rebind.types import Decoding, Message, Model, Request

_ARTICLES = re.compile(r"\b(?:a|an|the|and)\b")


def answer(model: Model, name: str, question: str, evidence: Sequence[str], seed: int = 0) -> str:
    """What a model answers, at temperature 0. Raises `ProviderError`."""
    request = Request(
        model=name,
        purpose="actor",
        messages=(Message(role="user", content=render("memory_answer", question=question, evidence=list(evidence))),),
        decoding=Decoding(temperature=0.0, top_p=1.0, max_tokens=64, seed=seed),
    )
    return model.complete(request).text.strip()


def token_f1(predicted: str, gold: str) -> float:
    """Harmonic mean of precision and recall over normalised words."""
    ours, theirs = _words(predicted), _words(gold)
    common = sum((Counter(ours) & Counter(theirs)).values())
    if not common:
        return float(ours == theirs)
    return 2 * common / (len(ours) + len(theirs))


def bleu_1(predicted: str, gold: str) -> float:
    """Clipped unigram precision with the brevity penalty."""
    ours, theirs = _words(predicted), _words(gold)
    if not ours:
        return float(not theirs)
    precision = sum((Counter(ours) & Counter(theirs)).values()) / len(ours)
    return precision * min(1.0, exp(1 - len(theirs) / len(ours)))


def _words(text: str) -> list[str]:
    """Lower case, no punctuation, no articles (LoCoMo's and SQuAD's normalisation)."""
    plain = text.lower().translate(str.maketrans("", "", string.punctuation))
    return _ARTICLES.sub(" ", plain).split()
