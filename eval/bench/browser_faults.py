"""`rebind bench browser-faults`: injects faults into episodes in the browser, and checks what each episode is called.

The site is a process of its own, browser, environment and the rules of an attempt are the real ones; the agent is a
script (simulated). Each episode with a fault is followed by one without, which has to succeed and to see nothing of it.
"""

from __future__ import annotations

import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from rebind.banks.files import silent
from rebind.envs.browser.engine import engine
from rebind.eval import parts
from rebind.eval.bench.browser_fault_kinds import Case, draw
from rebind.eval.bench.browser_lab import BOUND, Lab
from rebind.eval.ledger import Ledger
from rebind.types import Episode, Progress

_WRONG_EVERY = 3
"""In every third episode that a fault must not end, the agent orders the wrong quantity: a 0, and its own."""


def run(episodes: int = 200, progress: Progress = silent) -> dict[str, Any]:
    """Runs `episodes` episodes with a fault, and one without after each.

    Returns:
        `episodes`; `hung` (did not end in time); `misattributed` (called otherwise than the fault demands: faults of
        site or browser are invalid-infra, what an agent can cope with is valid, a wrong order a 0); `next_clean` (of
        the episodes after a fault, how many succeeded and saw nothing of it); `leftover_processes`,
        `leftover_folders`, `leftover_contexts` (of browsers), `left` (which processes); `rows` by fault, `kinds` by
        kind; `details` (a sentence for each thing that is not as it should be).

    Raises:
        UserError: this machine has no browser.
    """
    engine()  # says what is missing where no browser can run
    rows: dict[tuple[str, str], Row] = {}
    with tempfile.TemporaryDirectory(prefix="rebind-faults-") as scratch, Ledger.open(Path(scratch)) as ledger:
        lab = Lab(ledger)
        with mock.patch.object(parts, "world_of", return_value=lab):
            for n, case in enumerate(draw(episodes)):
                progress(f"{case.kind}, {case.how}", n, episodes)
                row = rows.setdefault((case.kind, case.how), Row(case.kind, case.how, case.outcome))
                _pair(lab, n, case, row)
            lab.bench.close()
        left = lab.leftovers()
    made = list(rows.values())
    sums = ("episodes", "hung", "misattributed", "next_clean")
    kinds: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(sums, 0))
    for row in made:
        for name in sums:
            kinds[row.kind][name] += getattr(row, name)
    return {
        **{name: sum(getattr(row, name) for row in made) for name in sums},
        **left,
        "leftover_contexts": lab.most_contexts - 1,
        "kinds": dict(kinds),
        "rows": [{**vars(row), "seconds": round(row.seconds, 1)} for row in made],
        "details": [f"{row.kind}, {row.how}: {said}" for row in made for said in row.details],
    }


@dataclass
class Row:
    """One kind of fault, done in one way."""

    kind: str
    how: str
    must_be: str
    episodes: int = 0
    hung: int = 0
    misattributed: int = 0
    next_clean: int = 0
    endings: dict[str, int] = field(default_factory=dict)
    named: str = ""
    """How the ledger names it, once."""
    seconds: float = 0.0
    """Of the slowest episode."""
    details: list[str] = field(default_factory=list)


def _pair(lab: Lab, n: int, case: Case, row: Row) -> None:
    """An episode with the fault and one without."""
    wrong = case.outcome == "valid" and n % _WRONG_EVERY == 0
    began = time.monotonic()
    got = lab.attempt(2 * n, case, wrong)
    row.seconds = max(row.seconds, time.monotonic() - began)
    row.episodes += 1
    lab.recover()
    if got is None:
        row.hung += 1
        row.details.append(f"episode {n} did not end within {BOUND:g} s")
    else:
        called = f"{got.outcome}: {got.ending}" + ("" if got.success is None else f", success {got.success}")
        row.endings[called] = row.endings.get(called, 0) + 1
        row.named = row.named or lab.named
        why = _misnamed(case, wrong, got, lab.seen)
        row.misattributed += why is not None
        row.details += [f"episode {n} {why} ({called}; {lab.named})"] if why else []
    after = lab.attempt(2 * n + 1, None, False)
    clean = _clean(after, lab.seen)
    row.next_clean += clean is None
    if clean:
        row.details.append(f"the episode after {n} {clean}; {lab.named}")


def _misnamed(case: Case, wrong: bool, got: Episode, seen: list[str]) -> str | None:
    """Why an episode is not called what its fault demands."""
    if got.outcome != case.outcome:
        return f"is {got.outcome}, not {case.outcome}"
    if case.outcome != "valid":
        return None
    if got.success is wrong:
        return f"has success {got.success}"
    if case.says and not any(case.says in one for one in seen):
        return f"shows {case.says!r} nowhere"
    return None


def _clean(got: Episode | None, seen: list[str]) -> str | None:
    """Why an episode is not as if there had never been another."""
    if got is None:
        return "did not end"
    if got.outcome != "valid" or not got.success:
        return f"is {got.outcome}, success {got.success}"
    if "Visits: 1" not in seen[0] or "note:" in seen[0] or "tabs:" in seen[0]:
        return f"began with {seen[0][:300]!r}"
    return None
