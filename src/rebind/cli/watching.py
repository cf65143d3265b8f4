"""How a run that goes on looks on a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console, Group

OUTCOMES = ("valid", "invalid-agent", "invalid-infra")
_EVERY = 1.0
"""Seconds between frames."""


def live(screen: Console, frame: Callable[[], dict[str, Any]]) -> None:
    """Shows frame after frame until the run is finished."""
    from rich.live import Live

    with Live(console=screen, auto_refresh=False, transient=False) as view:
        while True:
            seen = frame()
            view.update(draw(seen), refresh=True)
            if seen["state"] == "finished":
                return
            time.sleep(_EVERY)


def draw(frame: dict[str, Any]) -> Group:
    """One frame as tables and lines."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    cells = Table(show_edge=False, pad_edge=False)
    for name in ("condition", *OUTCOMES):
        cells.add_column(name, justify="left" if name == "condition" else "right")
    for name, counts in frame["conditions"].items():
        cells.add_row(name, *(str(counts.get(o, 0)) for o in OUTCOMES))
    parts: list[Any] = [Text(_head(frame))]
    if frame["state"] != "not begun":
        parts += [Text(_sums(frame)), cells]
    if frame["running"]:
        under_way = Table(show_edge=False, pad_edge=False)
        for name in ("under way", "step", "for", "last action"):
            under_way.add_column(name, justify="right" if name in ("step", "for") else "left")
        for one in frame["running"]:
            under_way.add_row(one["cell"], str(one["step"]), span(one["seconds"]), Text(one["last"]))
        parts.append(under_way)
    if frame["trouble"]:
        parts.append(Text(f"last error: {frame['trouble'][:300]}"))
    return Group(*parts)


def _head(frame: dict[str, Any]) -> str:
    cells, state = frame["cells"], frame["state"]
    hint = {
        "not begun": "nothing was run there yet",
        "no process": "no process writes it; the command that began it resumes it",
        "stopped": f"{frame['why']}; raise the limit and give the same command to go on",
    }
    simulated = " (simulated model)" if frame["simulated"] else ""
    left = f", about {span(frame['eta_seconds'])} left" if frame["eta_seconds"] is not None else ""
    said = f" ({hint[state]})" if state in hint else ""
    done = f"  {cells['done']}/{cells['total']} cells" if cells["total"] else ""
    return f"{frame['name'] or frame['run']}{simulated}: {state}{said}{done}{left}"


def _sums(frame: dict[str, Any]) -> str:
    tokens, infra, rate = frame["tokens"], frame["infra"], frame["cells_per_minute"]
    facts = [
        f"tokens {tokens['prompt']:,} in, {tokens['completion']:,} out",
        "cost unknown" if frame["cost"] is None else f"cost ${frame['cost']:.4f}",
        "" if rate is None else f"{rate:.1f} cells a minute",
        f"infra: {infra['episodes']} episodes, {infra['failed_requests']} failed requests",
        "" if frame["workers"] is None else f"workers {frame['workers']}",
        *(f"{provider}: at most {limit} requests at once" for provider, limit in frame["concurrency"].items()),
    ]
    return "  ·  ".join(filter(None, facts))


def span(seconds: float) -> str:
    """A length of time as people say it."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
