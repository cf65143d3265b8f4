"""`rebind bench shardmemo banking`: the documents of τ²-bench's banking domain, with topic namespaces as scope.

A document is an item; its topic ("credit_cards.gold_rewards_card") is its namespace and its shard. A request is a
customer's scenario; its labels are the documents that the task needs. The scope "topics" admits the areas
("credit_cards") that these documents lie in: what a well-informed policy would grant.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rebind.eval.bench.shardmemo.collection import Collection, Wanted, table
from rebind.eval.bench.shardmemo.locomo_data import DataError
from rebind.memory.shard.embedded import EmbeddingCache, Encode
from rebind.memory.shard.query import make_query
from rebind.memory.shard.scope import ItemMeta, NamespaceIs, Scope
from rebind.memory.shard.segment import Item
from rebind.memory.shard.tier_b import ReadSettings

_FOLDER = Path("tau2-bench/domains/banking_knowledge")
_AREAS = (
    "business_checking_accounts", "business_savings_accounts", "business_credit_cards", "checking_accounts",
    "savings_accounts", "credit_cards", "bank_accounts", "everyone_pay", "buy_now_pay_later",
)  # fmt: skip
_FOLDS = 5
Progress = Callable[[str, int, int], None]


def run_banking(data: Path, encode: Encode | None = None, progress: Progress | None = None) -> dict[str, Any]:
    """Every router under every scope, pooled over five folds of the tasks.

    Raises:
        DataError: the files are not there.
    """
    from rebind.memory.encoders import encoder

    documents, tasks = _load(data)
    encode = encode or EmbeddingCache(encoder("all-minilm-l6-v2")).encode
    collection = Collection([_item(one) for one in documents], encode)
    vectors = encode([task["user_scenario"]["instructions"] for task in tasks])
    rows: list[dict[str, Any]] = []
    kinds = (("everything", "routed"), ("topics", "routed"), ("topics", "post-filter"), ("topics", "all-admissible"))
    for done, (scope, mode) in enumerate(kinds):
        wanted = [_wanted(task, vector, scope) for task, vector in zip(tasks, vectors, strict=True)]
        settings = ReadSettings(mode=mode)  # type: ignore[arg-type]  # these are modes
        label = scope if mode == "routed" else f"{scope}, {mode}"
        rows.extend({"scope": label, **row} for row in _pooled(collection, wanted, settings))
        if progress is not None:
            progress(label, done + 1, len(kinds))
    return {
        "documents": len(documents),
        "tasks": len(tasks),
        "labels": sum(len(task["required_documents"]) for task in tasks),
        "topics": len({_topic(one["id"]) for one in documents}),
        "rows": rows,
    }


def _pooled(collection: Collection, wanted: Sequence[Wanted], settings: ReadSettings) -> list[dict[str, Any]]:
    """Each router's row, the means of its folds weighted by their tasks."""
    folds = np.array_split(np.random.default_rng(0).permutation(len(wanted)), _FOLDS)
    by_router: dict[str, list[tuple[int, dict[str, Any]]]] = {}
    for fold in folds:
        train = [one for n, one in enumerate(wanted) if n not in fold]
        for router in collection.routers(train):
            row, _ = collection.measure([wanted[n] for n in fold], router, settings)
            by_router.setdefault(router.name, []).append((len(fold), row))
    return [_mean(rows) for rows in by_router.values()]


def _mean(rows: Sequence[tuple[int, dict[str, Any]]]) -> dict[str, Any]:
    total = sum(count for count, _ in rows)
    first = rows[0][1]
    return {
        key: value if not isinstance(value, float) else sum(count * row[key] for count, row in rows) / total
        for key, value in first.items()
    }


def _load(data: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    folder = data / _FOLDER if (data / _FOLDER).is_dir() else data
    try:
        lines = gzip.decompress((folder / "documents.jsonl.gz").read_bytes()).splitlines()
        return [json.loads(line) for line in lines], json.loads(
            gzip.decompress((folder / "tasks.json.gz").read_bytes())
        )
    except (OSError, ValueError) as error:
        raise DataError(f"{folder} does not hold τ²-bench's banking_knowledge: {error}") from None


def _topic(document: str) -> str:
    """ "doc_credit_cards_gold_rewards_card_001" is of topic "credit_cards.gold_rewards_card"."""
    name = re.sub(r"_\d+$", "", document.removeprefix("doc_"))
    area = next((area for area in _AREAS if name.startswith(area)), name)
    rest = name.removeprefix(area).strip("_").replace(".", "_")
    return f"{area}.{rest}" if rest else area


def _item(document: dict[str, Any]) -> Item:
    topic = _topic(document["id"])
    text = f"{document['title']}\n{document['content']}"
    return Item(id=document["id"], text=text, shard=topic, meta=ItemMeta(namespace=topic))


def _wanted(task: dict[str, Any], vector: np.ndarray[Any, Any], scope: str) -> Wanted:
    needed = frozenset(task["required_documents"])
    areas = tuple(sorted({_topic(one).split(".")[0] for one in needed}))
    chosen = Scope(predicates=(NamespaceIs(names=areas),)) if scope == "topics" else Scope()
    return Wanted(make_query(task["user_scenario"]["instructions"], vector), chosen, needed)


def tables(result: dict[str, Any]) -> list[tuple[str, list[str], list[list[str]]]]:
    """For the terminal."""
    title = f"τ²-bench banking: {result['documents']} documents in {result['topics']} topics, {result['tasks']} tasks"
    return [table(title, result["rows"])]
