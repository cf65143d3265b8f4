"""The τ-bench benchmark's result as tables for the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rebind.eval.bench.osu.scoring import PRIMARY, Table


def tables(result: Mapping[str, Any]) -> list[Table]:
    """Statistics, cells, Tables 4 and 5 with the paper's figures beside ours, interaction, Table 17, augmented,
    router."""
    return [
        _statistics(result),
        _cells(result),
        _crosstab("Tables 4 and 5: OSU − Flat (the paper's Hit@2 in brackets)", result["crosstab"]),
        _crosstab("The same with the user's own words as query", result["verbatim"]["crosstab"], paper=False),
        _interaction(result),
        _rule(result),
        _augmented(result),
        _held(result),
        *(t for one in (result["router"], *result["router_other_budgets"]) for t in _router(one)),
    ]


def _statistics(result: Mapping[str, Any]) -> Table:
    rows = [[r["name"], f"{r['measured']:.4g}", _optional(r["published"], "g")] for r in result["statistics"]]
    return f"The data ({result['configuration']['name']})", ["statistic", "measured", "paper"], rows


def _cells(result: Mapping[str, Any]) -> Table:
    rows = [
        [r["set"], r["cell"], str(r["n"]), f"{r['fraction']:.1%}", f"{r['published']:.1%}"] for r in result["cells"]
    ]
    return "Cells of the queries", ["set", "cell", "n", "fraction", "paper"], rows


def _crosstab(title: str, crosstab: list[Mapping[str, Any]], *, paper: bool = True) -> Table:
    rows = [
        [
            r["cell"],
            str(r["budget"]),
            str(r["n"]),
            f"{r['hit2']:+.3f}" + (f" ({r['published']:+.3f})" if paper and r["published"] is not None else ""),
            _optional(r["hit2_p"], ".3f"),
            _optional(r["hit2_p_query"], ".3f"),
            f"{r['recall']:+.3f}",
            _optional(r["recall_p"], ".3f"),
            f"{r['overlap']:+.3f}",
        ]
        for r in crosstab
    ]
    columns = ["cell", "B", "n", "Δ Hit@2", "p (episode)", "p (query)", "Δ recall", "p (episode)", "overlap − disjoint"]
    return title, columns, rows


def _interaction(result: Mapping[str, Any]) -> Table:
    rows = [
        [str(r["budget"]), *(_optional(r[key], ".4f") for key in ("p", "p_query", "p_wald", "published"))]
        for r in result["interaction"]
    ]
    return "Method × cell interaction, Hit@2", ["B", "p (episode)", "p (query)", "p (Wald)", "paper"], rows


def _rule(result: Mapping[str, Any]) -> Table:
    rows = [
        [
            str(r["budget"]),
            r["always"] or _optional(r["p"], ".1%"),
            f"{r['p_low']:.0%} to {r['p_high']:.0%}",
            _optional(r["pi_tool_even"], ".1%"),
            _optional(r["pi_any_even"], ".1%"),
            f"{r['pi_tool']:.1%}",
            f"{r['pi_any']:.1%}",
            r["band"],
            f"{r['aggregate']:+.3f}",
            f"{r['oracle']:+.3f}",
            _optional(r["published_p"], ".1%"),
        ]
        for r in result["rule"]
    ]
    columns = [
        "B",
        "break-even p",
        "95 %",
        "π_T+ at p",
        "π_any+ at p",
        "π_T+",
        "π_any+",
        "band",
        "aggregate",
        "oracle",
        "paper's p",
    ]
    return "Table 17: when is overlap net-positive?", columns, rows


def _augmented(result: Mapping[str, Any]) -> Table:
    rows = [
        [str(r["budget"]), f"{r['difference']:+.3f}", _optional(r["p"], ".4f"), f"{r['published']:+.3f}"]
        for r in result["augmented"]["gaps"]
    ]
    return "Table 12: OSU − Flat, Hit@2, augmented (Stage D)", ["B", "Δ", "p (episode)", "paper"], rows


def _held(result: Mapping[str, Any]) -> Table:
    rows = [
        [
            r["construction"],
            f"{r['memberships']:.2f}",
            f"{r['median']:g}",
            f"{r['evicted']:.1%}",
            f"{r['cluster_recall']:.2f}",
        ]
        for r in result["held"]
    ]
    columns = ["construction", "units per evidence step", "median", "in no unit", "cluster recall"]
    return "How units hold evidence", columns, rows


def _router(router: Mapping[str, Any]) -> list[Table]:
    shares = [key for key in router["rows"][0] if key.startswith("always_")]
    main = "" if router["budget"] == PRIMARY else " (not the primary budget)"
    columns = ["cell", "queries", "n", "OSU", "Flat", *(f"overlap {k.removeprefix('always_')}" for k in shares)]
    columns += ["cell oracle", "router", "over the better", "mean overlap share"]
    return [
        (
            f"Router on held-out tasks, Hit@2, B = {router['budget']}{main}{which}",
            columns,
            [
                [
                    r["cell"],
                    str(r["queries"]),
                    str(r["n"]),
                    *(f"{r[key]:.3f}" for key in ("osu", "flat", *shares, "oracle", "router")),
                    f"{r['over_better']:+.3f}",
                    f"{r['overlap_share']:.2f}",
                ]
                for r in router[part]
            ],
        )
        for part, which in (("rows", ""), ("untouched", ": tasks that no choice was made on"))
    ]


def _optional(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)
