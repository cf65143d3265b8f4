"""The calibration's numbers as tables for a terminal."""

from __future__ import annotations

from typing import Any

Shown = tuple[str, list[str], list[list[str]]]
_SUMMARY = (
    ("coverage95", "95 % intervals cover the planted difference: cluster-robust, micro; three metrics"),
    ("coverage95_macro", "the same, macro"),
    ("coverage95_bca", "the same, BCa bootstrap"),
    ("coverage95_retained", "of the retained-utility ratio"),
    ("level05", "sign-flip test at 5 % rejects where nothing was planted; three metrics"),
    ("level05_mixed", "the same, where sources differ and their mean effect is 0"),
    ("fwer05_holm", "Holm at 5 %: some true null rejected"),
    ("level05_interaction", "interaction test at 5 % rejects where nothing was planted"),
    ("power", "sign-flip test at 5 % finds the planted gain of Full Trajectory"),
)


def tables(result: dict[str, Any]) -> list[Shown]:
    """Title, columns and rows of each table; every title says that it is simulated."""
    about = (
        f"Calibration on {result['studies']:,} SIMULATED studies of {result['sources']} sources, about "
        f"{result['targets']:.0f} targets and {result['seeds']} seeds; standard error of a coverage "
        f"{result['coverage95_se']}, of a level {result['level05_se']}; {result['ledgers_equal']} of "
        f"{result['ledgers_written']} ledgers gave the frame made directly"
    )
    by = result["by"]
    contrasts = sorted({name for kind in ("robust", "level") for name in by[kind]})
    kinds = ("robust", "bca", "null-robust", "level", "power")
    small = ("sources", "studies", "robust", "bca", "shown", "level")
    return [
        (about, ["share", "what"], [[_text(result[key]), words] for key, words in _SUMMARY]),
        (
            "By contrast (SIMULATED): metric, average, treatment of invalid runs, contrast",
            ["contrast", *kinds],
            [[name, *(_text(by[kind].get(name)) for kind in kinds)] for name in contrasts],
        ),
        (
            "Few sources (SIMULATED): coverage of a planted gain in success, how often there is an interval, level",
            list(small),
            [[_text(row[key]) for key in small] for row in result["small_samples"]],
        ),
    ]


def _text(value: float | int | None) -> str:
    if value is None:
        return "–"
    return str(value) if isinstance(value, int) else f"{value:.4f}"
