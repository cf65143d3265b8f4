"""`rebind bench shardmemo hotpot`: HotpotQA questions at contexts of 56K tokens (paper, Table 2; MemAgent's protocol).

A document is a shard, its sentences are the items. A question's context is its own ten paragraphs and as many others of
the sample as fill the token count; the scope admits the documents of that context and no others.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rebind.eval.bench.shardmemo.answers import answer, bleu_1, token_f1
from rebind.eval.bench.shardmemo.collection import Collection, Wanted, table
from rebind.eval.bench.shardmemo.locomo_data import DataError
from rebind.eval.bench.shardmemo.published import HOTPOT_56K_F1
from rebind.memory.shard.embedded import EmbeddingCache, Encode
from rebind.memory.shard.query import make_query
from rebind.memory.shard.scope import ItemMeta, Scope, SessionIs
from rebind.memory.shard.segment import Item
from rebind.memory.shard.tier_b import Evidence, ReadSettings
from rebind.types import Model

TOKENS, B_PROBE = 56_000, 8
"""The budget of probes is ours: two documents are needed among some four hundred."""
_FILE = "hotpot_distractor_sample100.jsonl.gz"
_PER_TOKEN = 4
"""Characters a token, as providers reckon English."""
Progress = Callable[[str, int, int], None]


def run_hotpot(
    data: Path,
    encode: Encode | None = None,
    tokens: int = TOKENS,
    limit: int | None = None,
    model: Model | None = None,
    model_name: str = "",
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Retrieval rows on the second half of the sample (the router is trained on the first), and answers of a model.

    Raises:
        DataError: the sample is not there. ProviderError: the model does not answer.
    """
    from rebind.memory.encoders import encoder

    raw = _load(data)[:limit]
    encode = encode or EmbeddingCache(encoder("all-minilm-l6-v2")).encode
    documents = {title: lines for one in raw for title, lines in _paragraphs(one)}
    collection = Collection([item for title, lines in documents.items() for item in _items(title, lines)], encode)
    wanted = _wanted(raw, documents, encode, tokens)
    half = len(wanted) // 2
    rows: list[dict[str, Any]] = []
    for router in collection.routers(wanted[:half]):
        row, found = collection.measure(wanted[half:], router, ReadSettings(b_probe=B_PROBE))
        if model is not None:
            row |= _answered(raw[half:], found, model, model_name)
        rows.append(row)
        if progress is not None:
            progress(router.name, len(rows), 5)
    for mode in ("all-admissible", "post-filter"):
        settings = ReadSettings(b_probe=B_PROBE, mode=mode)
        rows.append(collection.measure(wanted[half:], collection.trained(wanted[:half], 0), settings)[0])
        if progress is not None:
            progress(mode, len(rows), 5)
    admitted = [len(collection.admit(one.scope)) for one in wanted[half:]]
    return {
        "tokens": tokens,
        "documents": len(documents),
        "context_documents": float(np.mean(admitted)),
        "questions": len(wanted) - half,
        "b_probe": B_PROBE,
        "model": model_name or None,
        "rows": rows,
        "paper": {"f1": HOTPOT_56K_F1},
    }


def _load(data: Path) -> list[dict[str, Any]]:
    path = data / "hotpotqa" / _FILE if (data / "hotpotqa").is_dir() else data / _FILE if data.is_dir() else data
    try:
        return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    except (OSError, ValueError) as error:
        raise DataError(f"{path} is not the sample of HotpotQA: {error}") from None


def _paragraphs(one: dict[str, Any]) -> list[tuple[str, list[str]]]:
    return list(zip(one["context"]["title"], one["context"]["sentences"], strict=True))


def _items(title: str, lines: Sequence[str]) -> list[Item]:
    meta = ItemMeta(session=title)
    return [
        Item(id=f"{title}#{n}", text=f"{title}: {line.strip()}", shard=title, meta=meta)
        for n, line in enumerate(lines)
        if line.strip()
    ]


def _wanted(
    raw: Sequence[dict[str, Any]], documents: dict[str, list[str]], encode: Encode, tokens: int
) -> list[Wanted]:
    vectors = encode([one["question"] for one in raw])
    made: list[Wanted] = []
    for number, (one, vector) in enumerate(zip(raw, vectors, strict=True)):
        own = list(one["context"]["title"])
        others = np.random.default_rng(number).permutation([t for t in documents if t not in own])
        context, size = list(own), sum(len(" ".join(documents[t])) for t in own)
        for title in others:
            if size >= tokens * _PER_TOKEN:
                break
            context.append(str(title))
            size += len(" ".join(documents[str(title)]))
        facts = one["supporting_facts"]
        needed = {
            f"{title}#{line}"
            for title, line in zip(facts["title"], facts["sent_id"], strict=True)
            if line < len(documents[title]) and documents[title][line].strip()
        }
        scope = Scope(predicates=(SessionIs(names=tuple(context)),))
        made.append(Wanted(make_query(one["question"], vector), scope, frozenset(needed)))
    return made


def _answered(raw: Sequence[dict[str, Any]], found: Sequence[Evidence], model: Model, name: str) -> dict[str, float]:
    scores = []
    for one, evidence in zip(raw, found, strict=True):
        said = answer(model, name, one["question"], [hit.text for hit in evidence.hits])
        scores.append((token_f1(said, one["answer"]), bleu_1(said, one["answer"])))
    f1, bleu = np.mean(scores, axis=0)
    return {"f1": float(f1), "bleu1": float(bleu)}


def tables(result: dict[str, Any]) -> list[tuple[str, list[str], list[list[str]]]]:
    """For the terminal."""
    title = (
        f"HotpotQA, {result['questions']} questions, contexts of {result['tokens']} tokens "
        f"({result['context_documents']:.0f} of {result['documents']} documents), B_probe {result['b_probe']}"
    )
    return [table(title, result["rows"])]
