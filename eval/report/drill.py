"""The drill-down: episodes of one target and seed side by side, as many as a page can bear."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rebind.eval.frames import Group, Run
from rebind.eval.report import format as fmt
from rebind.eval.report.model import Case, Drill, DrillRun, DrillStep, DrillTarget
from rebind.eval.stories import Story, failure_kinds, shown_action, shown_observation

BUDGET = 8_000_000
"""Characters of the drill-down at most, so that the page stays below 15 MB."""
_STEP_MARKUP = 260
"""About how many characters of HTML stand around the texts of a step."""


def drill(run: Run, conditions: Sequence[str], cases: Iterable[Case], budget: int = BUDGET) -> Drill:
    """The groups that fit: first those shown as cases, then families and levels take turns, a target's most telling
    seed (where conditions disagree) before its others."""
    rows = run.groups()
    shown: list[DrillTarget] = []
    spent = 0
    for group in _order(run, rows, [(c.target, c.seed) for c in cases]):
        made = _target(run, group, rows[group], conditions)
        spent += _size(made)
        if spent > budget and shown:
            break
        shown.append(made)
    order = {key: n for n, key in enumerate(run.target_rows)}
    shown.sort(key=lambda t: (t.family, order[t.target], t.seed))
    return Drill(targets=tuple(shown), groups=len(rows), rule=_rule(len(shown), len(rows)))


def _rule(shown: int, groups: int) -> str:
    if shown == groups:
        return f"All {groups:,} target × seed groups are shown. Texts are cut to a few hundred characters."
    return (
        f"{shown:,} of {groups:,} target × seed groups are shown, to keep this page small: first those of the case "
        "studies, then families and shift levels in turn, a target's most telling seed (where conditions disagree) "
        "before its others. Texts are cut to a few hundred characters. The ledger holds all of them in full."
    )


def _order(run: Run, rows: dict[Group, dict[str, dict[str, Any]]], first: list[Group]) -> Iterator[Group]:
    """Every group once, in the order of the rule."""
    by_target: dict[str, list[Group]] = defaultdict(list)
    for group in rows:
        by_target[group[0]].append(group)
    turns: dict[tuple[str, str | None], int] = defaultdict(int)
    ranked: list[tuple[int, int, str, Group]] = []
    for target in run.target_rows:
        seal = run.target_rows[target].seal
        seeds = sorted(by_target.get(target, ()), key=lambda g: (_agree(rows[g]), g[1]))
        turn = turns[seal.family, seal.level]
        turns[seal.family, seal.level] += 1
        ranked += [(depth, turn, seal.family, group) for depth, group in enumerate(seeds)]
    ranked.sort(key=lambda r: r[:3])
    yield from dict.fromkeys([g for g in first if g in rows] + [r[3] for r in ranked])


def _agree(by_condition: dict[str, dict[str, Any]]) -> bool:
    return len({_outcome(row) for row in by_condition.values()}) < 2


def _outcome(row: dict[str, Any]) -> Any:
    if row["outcome"] != "valid":
        return row["outcome"]
    return "success" if row["success"] is True else "failure"


def _target(run: Run, group: Group, rows: dict[str, dict[str, Any]], conditions: Sequence[str]) -> DrillTarget:
    about = run.target_rows[group[0]]
    return DrillTarget(
        target=about.key,
        goal=about.task.goal,
        family=about.seal.family,
        level=about.seal.level or "",
        seed=group[1],
        changed=about.seal.changed,
        runs=tuple(_run(rows[c], run.stories[rows[c]["cell"]]) for c in conditions if c in rows),
    )


def _run(row: dict[str, Any], story: Story) -> DrillRun:
    stale: dict[int, list[str]] = defaultdict(list)
    for use in story.stale:
        stale[use.step].append(f"{use.binding} “{use.value}”")
    milestone, online = row["milestone"], row["online"]
    return DrillRun(
        condition=str(row["condition"]),
        outcome=_outcome(row),
        ending=str(row["ending"]),
        milestone=f"{100 * float(milestone):.0f} %" if isinstance(milestone, float) else fmt.DASH,
        online=fmt.token_text(online) if isinstance(online, int) else fmt.DASH,
        support=_support(story),
        support_title="Note" if story.note else "Support",
        flags=story.flags,
        failures=failure_kinds(story),
        steps=tuple(
            DrillStep(
                action=shown_action(s),
                observation=shown_observation(s),
                error=s.error,
                statuses=s.statuses,
                stale=tuple(stale[n]),
            )
            for n, s in enumerate(story.steps)
        ),
    )


def _support(story: Story) -> str:
    note = story.note
    if note is None:
        return story.support
    return f"Workflow: {note.workflow}\nRe-obtain: {note.rebind}\nApplies if: {note.applies}\nVerify: {note.verify}"


def _size(target: DrillTarget) -> int:
    """About how many characters of HTML a group takes."""
    return len(target.goal) + 600 + sum(_run_size(r) for r in target.runs)


def _run_size(run: DrillRun) -> int:
    return 500 + len(run.support) + sum(len(s.action) + len(s.observation) + _STEP_MARKUP for s in run.steps)
