"""LoCoMo's results for the terminal, the paper's figures beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Table = tuple[str, list[str], list[list[str]]]
_COLUMNS = [
    "ShardHit@3",
    "VecScan",
    "of admissible",
    "recall@10",
    "with facts",
    "probed",
    "p95 ms",
    "paper: ShardHit",
    "VecScan",
    "p95",
]


def tables(result: Mapping[str, Any]) -> list[Table]:
    shown = [
        (
            f"LoCoMo, {gold} gold, {result['split']['questions']} questions, B_probe {result['b_probe']}",
            ["router", *_COLUMNS],
            [[r["router"], *_cells(r)] for r in result["rows"] if r["gold"] == gold],
        )
        for gold in ("strict", "loose")
    ]
    cv = result["cv"]
    shown.append(
        (
            f"Our router, five folds over {cv['questions']} questions (strict gold)",
            ["ShardHit", "BM25", "difference, 95 %", "recall@10", "of admissible"],
            [
                [
                    f"{cv['shard_hit']:.3f}",
                    f"{cv['bm25_shard_hit']:.3f}",
                    f"{cv['ci_over_bm25_low']:+.3f} to {cv['ci_over_bm25_high']:+.3f}",
                    f"{cv['recall10']:.3f}",
                    f"{cv['scan_fraction']:.3f}",
                ]
            ],
        )
    )
    for key, title, names in (
        ("shards", "Table 4: shards a conversation", ("shards",)),
        ("noise", "Table 5: noise in the training labels", ("noise",)),
        ("top_p", "Tables 10 to 12: adaptive Top-P", ("parameter", "value")),
    ):
        if key in result:
            rows = [[r["router"], *(str(r[name]) for name in names), *_cells(r)] for r in result[key]]
            shown.append((title, ["router", *names, *_COLUMNS], rows))
    if "answers" in result:
        rows = [[r["router"], f"{r['f1']:.2f}", f"{r['bleu1']:.2f}"] for r in result["answers"]]
        shown.append((f"Answers by {result['answers'][0]['model']}", ["evidence", "F1", "BLEU-1"], rows))
    return shown


def _cells(row: Mapping[str, Any]) -> list[str]:
    paper = row["paper"] or {}
    spread = f" ± {row['shard_hit_sd']:.3f}" if row["shard_hit"] is not None and row["seeds"] > 1 else ""
    return [
        "–" if row["shard_hit"] is None else f"{row['shard_hit']:.3f}{spread}",
        f"{row['vec_scan']:.0f}",
        f"{row['scan_fraction']:.3f}",
        f"{row['recall10']:.3f}",
        f"{row['recall10_cited']:.3f}",
        f"{row['probed']:.2f}",
        f"{row['p95_ms']:.2f}",
        *("" if paper.get(key) is None else str(paper[key]) for key in ("shard_hit", "vec_scan", "p95_ms")),
    ]
