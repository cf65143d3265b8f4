"""Side-by-side cases in the layout of QCR's Table A14, picked from the run by a stated rule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rebind.eval.contrasts import NO_MEMORY, OURS
from rebind.eval.frames import Run
from rebind.eval.report import format as fmt
from rebind.eval.report.model import Case, CaseElement
from rebind.eval.rows import TargetRow
from rebind.eval.stories import Steps, StepView, Story, cut, failure_kinds, masked, shown_action, shown_error
from rebind.types import SHIFT_LEVELS

DIRECT = "full"
MOST = 6
"""Cases in a report."""
_RANKS = (
    "{direct} failed with a stale value, {bound} succeeded",
    "{direct} failed, {bound} succeeded",
    "{direct} used a stale value, {bound} did not",
    "{bound} failed, {direct} succeeded",
    "{direct} and {bound} ended alike",
)
_LINE = 420
"""Characters of a quoted text."""


@dataclass(frozen=True)
class _Pair:
    """The two episodes of one target and seed that a case compares."""

    row: TargetRow
    seed: int
    direct: dict[str, Any]
    bound: dict[str, Any]
    rank: int

    @property
    def order(self) -> tuple[int, int, int, str, int]:
        """Most instructive first; among equals the larger shift, then the shorter episode."""
        level = SHIFT_LEVELS.index(self.row.seal.level) if self.row.seal.level else 0
        return self.rank, -level, self.direct["steps"], self.row.key, self.seed


def cases(run: Run, conditions: Sequence[str]) -> list[Case]:
    """The most instructive targets, at most two of a family; empty where fewer than two conditions ran."""
    roles = case_roles(conditions)
    if roles is None:
        return []
    taken: dict[str, int] = {}
    found = []
    with Steps(run.folder) as steps:
        for pair in sorted(_pairs(run, *roles), key=lambda p: p.order):
            family = pair.row.seal.family
            if taken.get(family, 0) < 2:
                taken[family] = taken.get(family, 0) + 1
                found.append(_case(run, pair, steps))
            if len(found) == MOST:
                break
    return found


def case_roles(conditions: Sequence[str]) -> tuple[str, str] | None:
    """Which conditions stand in the roles of Full Trajectory and QCR."""
    memory = [c for c in conditions if c != NO_MEMORY]
    if DIRECT in memory and OURS in memory:
        return DIRECT, OURS
    if len(memory) >= 2:
        return memory[0], memory[-1]
    return (conditions[0], conditions[-1]) if len(conditions) >= 2 else None


def _pairs(run: Run, direct: str, bound: str) -> Iterator[_Pair]:
    for (target, seed), by in run.groups.items():
        ended = [c for c in (direct, bound) if c in by and by[c]["outcome"] in ("valid", "invalid-agent")]
        if len(ended) == 2:
            rank = _rank(by[direct], by[bound])
            yield _Pair(run.target_rows[target], seed, by[direct], by[bound], rank)


def _rank(direct: dict[str, Any], bound: dict[str, Any]) -> int:
    """Index into `_RANKS`."""
    won = [row["success"] is True for row in (direct, bound)]
    stale = [isinstance(row["stale"], int) and row["stale"] > 0 for row in (direct, bound)]
    if won == [False, True]:
        return 0 if stale[0] else 1
    if stale == [True, False]:
        return 2
    return 3 if won == [True, False] else 4


def _case(run: Run, pair: _Pair, steps: Steps) -> Case:
    one, two = run.stories[pair.direct["cell"]], run.stories[pair.bound["cell"]]
    row, direct, bound = pair.row, str(pair.direct["condition"]), str(pair.bound["condition"])
    record = run.records.get(row.chosen or "")
    source = (_line(record.instruction), _line(record.index_text.partition("\nWorkflow: ")[2])) if record else ()
    elements = (
        CaseElement(label="Source task and selected record", lines=source or ("No record was selected.",)),
        CaseElement(label="Target task and changed binding", lines=(_line(row.task.goal), *_changed(run, row))),
        CaseElement(label="Target-side evidence", lines=_evidence(two)),
        CaseElement(label=f"{fmt.condition_label(direct)} decision", **_decision(one, steps.of(one))),
        CaseElement(label=f"{fmt.condition_label(bound)} note and final action", **_final(two, steps.of(two))),
        CaseElement(label="Outcome", lines=(_outcome(direct, pair.direct, one), _outcome(bound, pair.bound, two))),
    )
    return Case(
        target=row.key,
        level=row.seal.level or "",
        family=row.seal.family,
        seed=pair.seed,
        direct=direct,
        bound=bound,
        picked=_RANKS[pair.rank].format(direct=fmt.condition_label(direct), bound=fmt.condition_label(bound)),
        elements=elements,
    )


def _changed(run: Run, row: TargetRow) -> tuple[str, ...]:
    """Old and new value of each binding that differs from the selected record's."""
    record = run.records.get(row.chosen or "")
    source = record.seal if record else row.source
    old = source.values() if source else {}
    lines = [
        f"{b.name} ({b.kind}): {old.get(b.name)} → {b.value}" for b in row.seal.bindings if old.get(b.name) != b.value
    ]
    return tuple(_line(line) for line in lines) or ("No binding changed.",)


def _evidence(story: Story) -> tuple[str, ...]:
    """Where each changed value could be read; a query is shown above already, so its values are only named."""
    by: dict[tuple[str, str], list[str]] = {}
    for e in story.evidence:
        by.setdefault((e.where, "" if e.where == "query" else e.snippet), []).append(e.binding)
    if not by:
        return ("No changed value was shown as such; see the steps.",)
    return tuple(
        f"{', '.join(names)}: in the {where}" + (f", “{masked(snippet)}”" if snippet else "")
        for (where, snippet), names in by.items()
    )


def _decision(story: Story, steps: Sequence[StepView]) -> dict[str, tuple[str, ...]]:
    """The copied value and what came of it; the last action where nothing was copied."""
    if not story.stale:
        last = steps[-1] if steps else None
        return {
            "lines": ("No stale value was used. Its last action:" if last else "It took no action.",),
            "code": (shown_action(last),) if last else (),
        }
    lines, code = [], []
    for use in story.stale[:3]:
        step = steps[use.step]
        value = _line(use.value)
        lines.append(
            f"Step {use.step + 1} uses the source’s {use.binding}, “{value}” (in {use.where}). {_came_of(step)}"
        )
        code.append(shown_action(step))
    return {"lines": tuple(lines), "code": tuple(dict.fromkeys(code))}


def _came_of(step: StepView) -> str:
    if step.error:
        return f"It was refused: {shown_error(step)}"
    return f"Status {', '.join(map(str, step.statuses))}." if step.statuses else "It reached no API."


def _final(story: Story, steps: Sequence[StepView]) -> dict[str, tuple[str, ...]]:
    """The note's four fields (or the support's beginning), and the last action that used a changed target value."""
    note = story.note
    if note:
        fields = (
            ("Workflow", note.workflow),
            ("Re-obtain", note.rebind),
            ("Applies if", note.applies),
            ("Verify", note.verify),
        )
        lines = tuple(f"{name}: {_line(text)}" for name, text in fields)
    else:
        lines = (_line(story.support) or "No support was delivered.",)
    told = [steps[i] for i in (story.bound_steps[-1:] or ())] + list(steps[-1:])
    return {"lines": lines, "code": tuple(dict.fromkeys(shown_action(s) for s in told))}


def _line(text: str) -> str:
    """A quoted text as a case shows it: credentials masked, cut."""
    return cut(masked(text), _LINE)


def _outcome(condition: str, row: dict[str, Any], story: Story) -> str:
    """Verifier result, milestones, and a failure category without evaluator detail."""
    label = fmt.condition_label(condition)
    if row["outcome"] != "valid":
        return f"{label}: {row['outcome']} ({row['ending']})"
    verdict = story.verdict
    reached = sum(m.reached for m in verdict.milestones) if verdict else 0
    milestones = f", {reached} of {len(verdict.milestones)} milestones" if verdict and verdict.milestones else ""
    if row["success"]:
        return f"{label}: success{milestones}"
    return f"{label}: failure{milestones}; {', '.join(failure_kinds(story))}"
