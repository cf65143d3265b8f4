"""The synthetic benchmark's result as tables for the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rebind.eval.bench.osu import published
from rebind.eval.bench.osu.scoring import BUDGETS, Table


def tables(result: Mapping[str, Any]) -> list[Table]:
    """Calibration, statistics, Table 9 with the paper's figures beside ours, the gain, Table 10, the grid."""
    return [
        _calibration_table(result),
        _statistics_table(result),
        _methods_table(result),
        _gain_table(result),
        _test_table(result),
        _grid_table(result),
    ]


def _calibration_table(result: Mapping[str, Any]) -> Table:
    rows = [[str(r["burst_length"]), f"{r['rms']:.4f}"] for r in result["calibration"]["rows"]]
    return "Distance of the rows without units to Table 9 (no OSU-Mem)", ["burst length", "rms recall"], rows


def _statistics_table(result: Mapping[str, Any]) -> Table:
    rows = [
        [r["name"], f"{r['measured']:.3f}", "" if r["published"] is None else f"{r['published']:g}"]
        for r in result["statistics"]
    ]
    return f"The generator ({result['configuration']['name']})", ["statistic", "measured", "paper"], rows


def _methods_table(result: Mapping[str, Any]) -> Table:
    rows: dict[str, list[str]] = {}
    for r in result["rows"]:
        there = published.TABLE_9.get(r["method"])
        for place, metric in enumerate(("hit2", "recall")):
            paper = "" if there is None else f" ({there[BUDGETS.index(r['budget'])][place]:.3f})"
            rows.setdefault(r["method"], [r["method"]]).append(f"{r[metric]:.3f}{paper}")
    columns = ["method", *(f"{metric} B={b}" for b in BUDGETS for metric in ("Hit@2", "Recall"))]
    return "Table 9: evidence retrieval (the paper's figure in brackets)", columns, list(rows.values())


def _gain_table(result: Mapping[str, Any]) -> Table:
    gain = result["gain"]
    rows = [
        [
            m,
            gain[f"{m}_base"],
            *(_percent(gain[f"{m}{end}"]) for end in ("", "_ci_low", "_ci_high")),
            f"{gain[f'p_{m}']:.4f}",
            f"{gain['published'][m]:+.1%}",
        ]
        for m in ("recall", "hit2")
    ]
    return (
        "OSU-Mem over the better flat method, B = 256",
        ["metric", "against", "gain", "95 % from", "to", "p", "paper"],
        rows,
    )


def _test_table(result: Mapping[str, Any]) -> Table:
    rows = [
        [
            r["metric"],
            r["against"],
            f"{r['difference']:+.4f}",
            f"{r['p']:.4f}",
            f"{r['holm']:.4f}",
            f"{r['p_query']:.4f}",
        ]
        for r in result["significance"]
    ]
    columns = ["metric", "OSU-Mem against", "Δ", "p (episode)", "Holm", "p (query)"]
    return "Table 10: paired sign-flip tests, B = 256", columns, rows


def _grid_table(result: Mapping[str, Any]) -> Table:
    rows = [
        [
            str(r["burst_length"]),
            f"{r['background_entity']:.0%}",
            _percent(r["recall_gain"]),
            _percent(r["hit2_gain"]),
            f"{r['recall_osu']:.3f}",
            f"{r['recall_disjoint']:.3f}",
            f"{r['recall_best']:.3f}",
        ]
        for r in result["grid"]
    ]
    columns = ["burst length", "background entities", "recall gain", "Hit@2 gain", "OSU", "disjoint", "best flat"]
    return "The gain hinges on what the text leaves open, B = 256", columns, rows


def _percent(value: float | None) -> str:
    return "" if value is None else f"{value:+.1%}"
