"""Study → cells: which episodes will run, and what they are likely to cost, before a cent is spent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rebind.banks.store import Bank
from rebind.banks.targets import TargetSet
from rebind.errors import StudyError, did_you_mean
from rebind.eval.study import Study
from rebind.types import SHIFT_LEVELS, Cell, Played, Record, ShiftLevel, Target

CHARACTERS_PER_TOKEN = 3.6
"""For estimates only; a run counts with the model's own tokenizer."""
BASE_PROMPT_TOKENS = 900
"""System prompt, tools and goal of an app-world task, for estimates."""
ANSWER_TOKENS = 45
"""A JSON action, for estimates."""


@dataclass(frozen=True)
class Plan:
    """The cells of a study, in the order they will run."""

    study: Study
    targets: tuple[Target, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Estimate:
    """What a plan is likely to need; `usd` is None where the model's price is unknown."""

    episodes: int
    model_calls: int
    prompt_tokens: int
    completion_tokens: int
    usd: float | None


def make_plan(study: Study) -> Plan:
    """The plan of a study. Cells are ordered by target, then seed, then condition, so that a stopped run is balanced.

    Raises:
        StudyError: an unknown environment or condition, no target left by the filters, or a model for a part that no
            environment has.
    """
    from rebind.envs import world
    from rebind.memory.conditions import get_condition

    env_ids = {world(name).env_id for name in study.environments}
    for name in study.conditions:
        get_condition(name)
    targets = _played(study, _choose(study, TargetSet.open(study.targets.path).targets(), env_ids))
    cells = tuple(
        Cell(target=t.task.key, condition=c, seed=s) for t in targets for s in study.seeds for c in study.conditions
    )
    return Plan(study, targets, cells)


def _choose(study: Study, targets: Sequence[Target], env_ids: set[str]) -> tuple[Target, ...]:
    part = study.targets
    known = {t.seal.family for t in targets}
    for family in part.families:
        if family not in known:
            raise StudyError(f"targets.families: no target of family {family!r}{did_you_mean(family, known)}")
    kept = [
        t
        for t in targets
        if t.task.env in env_ids
        and (not part.levels or t.seal.level in part.levels)
        and (not part.families or t.seal.family in part.families)
    ]
    if not kept:
        raise StudyError(
            f"no target of {part.path} is left: environments {list(study.environments)}, levels {list(part.levels)}, "
            f"families {list(part.families)}; loosen one of them"
        )
    return tuple(_spread(kept, part.limit))


def _played(study: Study, targets: Sequence[Target]) -> tuple[Target, ...]:
    """The targets, as they are where the study's models play their parts."""
    from rebind.envs import world

    parts = study.model.parts
    worlds = {w.env_id: w for w in map(world, study.environments) if isinstance(w, Played) and w.part in parts}
    for part in parts:
        if part not in {w.part for w in worlds.values()}:
            raise StudyError(f"model.{part} is given, but no environment of {list(study.environments)} has a {part}")
    return tuple(worlds[t.task.env].played(t) if t.task.env in worlds else t for t in targets)


def _spread(targets: Sequence[Target], limit: int | None) -> list[Target]:
    """At most `limit` targets: levels take turns, and each turn goes to the family that had the fewest so far, so that
    a small study still covers the grid. Which target of a family comes first is decided by its key, a hash."""
    waiting: dict[ShiftLevel | None, list[Target]] = {level: [] for level in (*SHIFT_LEVELS, None)}
    for t in sorted(targets, key=lambda t: t.task.key):
        waiting[t.seal.level].append(t)
    had: Counter[str] = Counter()
    chosen: list[Target] = []
    wanted = len(targets) if limit is None else min(limit, len(targets))
    while len(chosen) < wanted:
        for left in filter(None, waiting.values()):
            pick = min(left, key=lambda t: had[t.seal.family])
            left.remove(pick)
            had[pick.seal.family] += 1
            chosen.append(pick)
    return chosen[:wanted]


def estimate(plan: Plan, bank: Bank) -> Estimate:
    """Calls, tokens and cost of a plan, from the length of each target's source record and of its support."""
    writer = plan.study.model.writer or plan.study.model.actor
    calls = prompt = completion = 0
    for target in plan.targets:
        record = bank.record(target.seal.source) if target.seal.source else None
        steps = min(len(record.steps) if record else 10, plan.study.budget.steps)
        history = record_tokens(record) if record else 1_000
        for condition in plan.study.conditions:
            support = {"none": 0, "full": history}.get(condition, min(1_024, history // 4))
            calls += steps * len(plan.study.seeds)
            each = steps * (BASE_PROMPT_TOKENS + support) + history * steps // 2
            prompt += each * len(plan.study.seeds)
            completion += steps * ANSWER_TOKENS * len(plan.study.seeds)
        calls += 1 + ("qcr" in plan.study.conditions)
        prompt += BASE_PROMPT_TOKENS + history
        completion += 300
    usd = _usd(writer, plan.study.model.actor, prompt, completion)
    return Estimate(len(plan.cells), calls, prompt, completion, usd)


def record_tokens(record: Record) -> int:
    """About how many tokens a record's full text has."""
    text = record.instruction + record.first_observation
    size = len(text) + sum(len(s.observation) + len(s.model_dump_json(include={"action"})) for s in record.steps)
    return int(size / CHARACTERS_PER_TOKEN)


def _usd(writer: str, actor: str, prompt: int, completion: int) -> float | None:
    from rebind.agents.llm import price

    if writer != actor and price(writer, 1, 1) is None:
        return None
    return price(actor, prompt, completion)
