"""The drill-down: the episodes of every target and seed side by side, packed by task family for the page to unpack."""

from __future__ import annotations

import base64
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from rebind.eval.frames import Group, Run
from rebind.eval.report import format as fmt
from rebind.eval.report.model import Case, Drill, DrillFamily
from rebind.eval.stories import (
    Steps,
    Story,
    cut,
    failure_kinds,
    masked,
    shown_action,
    shown_error,
    shown_observation,
    shown_support,
)

BUDGET = 2_000_000
"""Bytes of packed steps at most: a third more as base64, so that a phone opens the page at once."""
_GOAL_CHARACTERS = 600
Rows = dict[Group, dict[str, dict[str, Any]]]


def drill(run: Run, conditions: Sequence[str], cases: Iterable[Case], budget: int = BUDGET) -> Drill:
    """Every group by family, and the steps of as many as fit: first those shown as cases, then families and levels take
    turns, a target's most telling seed (where conditions disagree) before its others."""
    rows = run.groups
    steps: dict[Group, list[Any]] = {}
    spent = 0
    with Steps(run.folder) as reader:
        for group in _order(run, rows, [(c.target, c.seed) for c in cases]):
            made = _side_by_side(run, rows[group], conditions, reader)
            spent += len(zlib.compress(msgspec.json.encode(made), 1))
            if spent > budget and steps:
                break
            steps[group] = made
    families: dict[str, list[Group]] = defaultdict(list)
    order = {key: n for n, key in enumerate(run.target_rows)}
    for group in sorted(rows, key=lambda g: (order[g[0]], g[1])):
        families[run.target_rows[group[0]].seal.family].append(group)
    return Drill(
        families=tuple(_family(run, name, families[name], rows, conditions, steps) for name in sorted(families)),
        groups=len(rows),
        shown=len(steps),
        rule=_rule(len(steps), len(rows)),
    )


def pack(groups: list[dict[str, Any]]) -> str:
    """Groups as base64 of zlib-compressed JSON. Of each: `target`, `goal`, `level`, `seed`, `runs` (`condition`,
    `outcome`, `ending`, `milestone`, `online`, `failures`, `flags`, `support`, `cell`), and `steps`: per step one entry
    a run, null where it has none, else [action, observation, error, stale values]; null where they did not fit."""
    return base64.b64encode(zlib.compress(msgspec.json.encode(groups), 6)).decode()


def _rule(shown: int, groups: int) -> str:
    if shown == groups:
        return f"All {groups:,} target × seed groups, step by step. Texts are cut to a few hundred characters."
    return (
        f"All {groups:,} target × seed groups are listed; the steps of {shown:,} are here, to keep this page small: "
        "first those of the case studies, then families and shift levels in turn, a target's most telling seed (where "
        "conditions disagree) before its others. Each of the others names the command that prints its steps. Texts are "
        "cut to a few hundred characters; the ledger holds all of them in full."
    )


def _order(run: Run, rows: Rows, first: list[Group]) -> Iterator[Group]:
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


def _family(
    run: Run, name: str, groups: list[Group], rows: Rows, conditions: Sequence[str], steps: dict[Group, list[Any]]
) -> DrillFamily:
    ended = {c: [_outcome(rows[g][c]) for g in groups if c in rows[g]] for c in conditions}
    return DrillFamily(
        name=name,
        groups=len(groups),
        shown=sum(g in steps for g in groups),
        outcomes=tuple((found.count("success"), len(found)) for found in ended.values()),
        packed=pack([_group(run, g, rows[g], conditions, steps.get(g)) for g in groups]),
    )


def _group(
    run: Run, group: Group, rows: dict[str, dict[str, Any]], conditions: Sequence[str], steps: list[Any] | None
) -> dict[str, Any]:
    about = run.target_rows[group[0]]
    return {
        "target": about.key[:16],
        "goal": cut(masked(about.task.goal), _GOAL_CHARACTERS),
        "level": about.seal.level or "source task",
        "seed": group[1],
        "runs": [_run(rows[c], run.stories[rows[c]["cell"]], steps is not None) for c in conditions if c in rows],
        "steps": steps,
    }


def _run(row: dict[str, Any], story: Story, shown: bool) -> dict[str, Any]:
    milestone, online = row["milestone"], row["online"]
    return {
        "condition": fmt.condition_label(str(row["condition"])),
        "outcome": _outcome(row),
        "ending": str(row["ending"]),
        "milestone": f"{100 * float(milestone):.0f} %" if isinstance(milestone, float) else fmt.DASH,
        "online": fmt.token_text(online) if isinstance(online, int) else fmt.DASH,
        "stale": len(story.stale),
        "failures": failure_kinds(story),
        "flags": story.flags,
        "title": "Note" if story.note else "Support",
        "support": shown_support(story) if shown else "",
        "cell": str(row["cell"]),
    }


def _side_by_side(
    run: Run, rows: dict[str, dict[str, Any]], conditions: Sequence[str], reader: Steps
) -> list[list[Any]]:
    """The steps of a group, one row a step: neighbouring texts are alike, so that they pack well."""
    columns = [_steps(run.stories[rows[c]["cell"]], reader) for c in conditions if c in rows]
    longest = max((len(c) for c in columns), default=0)
    return [[column[n] if n < len(column) else None for column in columns] for n in range(longest)]


def _steps(story: Story, reader: Steps) -> list[Any]:
    stale: dict[int, list[str]] = defaultdict(list)
    for use in story.stale:
        stale[use.step].append(f"{use.binding} “{use.value}”")
    return [
        (shown_action(s), shown_observation(s), shown_error(s), stale.get(n, ()))
        for n, s in enumerate(reader.of(story))
    ]
