"""The ToolBench benchmark's result as tables for the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rebind.eval.bench.osu.scoring import Table


def tables(result: Mapping[str, Any]) -> list[Table]:
    """Statistics, cells, memberships, Table 3, Tables 6, 15 and 16, the α variant, Table 14."""
    return [
        ("The data", ["statistic", "measured"], [[r["name"], f"{r['measured']:.4g}"] for r in result["statistics"]]),
        (
            "Cells found (the paper: about 100 % T+E+)",
            ["evidence", "cell", "fraction"],
            [[str(r["evidence"]), r["cell"], f"{r['fraction']:.1%}"] for r in result["cells"]],
        ),
        _held(result),
        _methods(result),
        _gaps(
            "Tables 6, 15, 16: overlap − disjoint by β (the paper's recall in brackets)", "β", "beta", result["beta"]
        ),
        _gaps("Appendix G.5: overlap − disjoint by α, over the steps that units hold", "α", "alpha", result["alpha"]),
        _gaps("Table 14: overlap − disjoint by evidence size, β = .12", "evidence", "evidence", result["sizes"]),
    ]


def _held(result: Mapping[str, Any]) -> Table:
    rows = [
        [
            r["construction"],
            f"{r['memberships']:.2f} ({r['published_memberships']:.2f})",
            f"{r['median']:g}",
            f"{r['evicted']:.1%} ({r['published_evicted']:.1%})",
            f"{r['cluster_recall']:.2f}",
        ]
        for r in result["held"]
    ]
    columns = ["construction", "units per evidence step (paper)", "median", "in no unit (paper)", "cluster recall"]
    return "How units hold evidence", columns, rows


def _methods(result: Mapping[str, Any]) -> Table:
    rows: dict[str, list[str]] = {}
    budgets = list(dict.fromkeys(r["budget"] for r in result["rows"]))
    for r in result["rows"]:
        rows.setdefault(r["method"], [r["method"]]).extend([f"{r['hit2']:.3f}", f"{r['recall']:.3f}"])
    columns = ["method", *(f"{metric} B={b}" for b in budgets for metric in ("Hit@2", "Recall"))]
    return "Table 3: planted retrieval", columns, list(rows.values())


def _gaps(title: str, label: str, key: str, gaps: list[Mapping[str, Any]]) -> Table:
    rows = [
        [
            f"{r[key]:g}",
            str(r["budget"]),
            f"{r['recall']:+.3f}" + (f" ({r['published']:+.3f})" if "published" in r else ""),
            f"{r['recall_p']:.4f}",
            f"{r['hit2']:+.3f}",
            f"{r['hit2_p']:.4f}",
        ]
        for r in gaps
    ]
    return title, [label, "B", "Δ recall", "Fisher p", "Δ Hit@2", "Fisher p"], rows
