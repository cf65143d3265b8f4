"""Texts as terms: lower-cased words of two letters and more, without stop words, stemmed (Snowball), hashed.

Pattern and stop words are bm25s's: its longer English list, so that "what" and "did" do not rank evidence. A term is
known by 64 bits of its BLAKE2b hash, so that no process needs a dictionary of the whole store.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rebind.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable

Terms = NDArray[np.uint64]
_WORD = re.compile(r"(?u)\b\w\w+\b")


def words(text: str) -> list[str]:
    """The stemmed words of a text, in order, stop words left out."""
    stem, stop = _stemmer(), _stop_words()
    return [stem(word) for word in _WORD.findall(text.lower()) if word not in stop]


def counted(text: str) -> tuple[Terms, NDArray[np.uint16]]:
    """A text's terms, ascending, and how often each occurs."""
    counts = Counter(term(word) for word in words(text))
    terms = np.array(sorted(counts), dtype=np.uint64)
    return terms, np.array([min(counts[int(t)], 65535) for t in terms], dtype=np.uint16)


@lru_cache(maxsize=200_000)
def term(word: str) -> int:
    """The number of a stemmed word."""
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little")


@cache
def _stop_words() -> frozenset[str]:
    try:
        from bm25s.stopwords import STOPWORDS_EN_PLUS
    except ImportError as error:
        raise UserError(f"sharded memory needs {error.name}: install rebind[retrieval,shard]") from None
    return frozenset(STOPWORDS_EN_PLUS)


@cache
def _stemmer() -> Callable[[str], str]:
    try:
        import Stemmer
    except ImportError:
        raise UserError("sharded memory needs PyStemmer: install rebind[shard]") from None
    return lru_cache(maxsize=200_000)(Stemmer.Stemmer("english").stemWord)
