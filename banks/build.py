"""Collects verified rollouts of source tasks into a folder that a killed run can take up again."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rebind.banks.files import append_line, drop_torn_tail, read_lines, replace_text, silent
from rebind.banks.lanes import in_lanes
from rebind.banks.rollout import Roller, Rollout, roll
from rebind.banks.steadily import steadily
from rebind.errors import BankError, UserError, did_you_mean
from rebind.types import Environment, Progress, World

Difficulty = Literal["all", "intermediate"]
ROLLOUTS = "rollouts.jsonl"
BASELINE = "baseline.jsonl"
STATE = "build.json"
"""Environment, and the families a freeze shall take."""


@dataclass(frozen=True)
class Built:
    """What a build folder holds now."""

    rollouts: int
    accepted: int
    families: tuple[str, ...]
    """Families that were kept."""
    dropped: dict[str, str]
    """Families that were not, with why."""


def build(  # noqa: PLR0913  # one keyword for each option of the command
    world: World,
    out: Path,
    roller: Roller,
    *,
    seeds: Sequence[int],
    families: Sequence[str] = (),
    difficulty: Difficulty = "all",
    baseline: Roller | None = None,
    baseline_seeds: Sequence[int] = (0, 1, 2, 3),
    workers: int = 1,
    progress: Progress = silent,
) -> Built:
    """Rolls out every family and seed that `out` does not have yet, `workers` at a time; the file is the same whatever
    their number.

    With `difficulty="intermediate"` only families of which `baseline` (a no-memory agent) solves some tasks and fails
    some are rolled out (QCR, section 3.2); where no baseline is given, the roller's own rollouts decide, which makes
    sense only for a model without memory.

    Raises:
        UserError: an unknown family, or a difficulty that only an oracle is there to tell. BankError: `out` was begun
            with another environment.
    """
    chosen = _known_families(world, families)
    _begin(out, world.env_id)
    dropped: dict[str, str] = {}
    if difficulty == "intermediate" and baseline is not None:
        _collect(world, out / BASELINE, baseline, (chosen, baseline_seeds), workers, progress)
        dropped = not_intermediate(read_rollouts(out / BASELINE), chosen)
    rolled = [f for f in chosen if f not in dropped]
    _collect(world, out / ROLLOUTS, roller, (rolled, seeds), workers, progress)
    rollouts = [r for r in read_rollouts(out / ROLLOUTS) if r.family in rolled]
    if difficulty == "intermediate" and baseline is None:
        _refuse_oracles(rollouts)
        dropped = not_intermediate(rollouts, rolled)
    kept = tuple(f for f in chosen if f not in dropped)
    earlier = [f for f in _state(out)["families"] if f not in chosen]
    _write_state(out, world.env_id, (*earlier, *kept))
    return Built(len(rollouts), sum(r.accepted for r in rollouts if r.family in kept), kept, dropped)


def _refuse_oracles(rollouts: Iterable[Rollout]) -> None:
    if any(r.seal.rollout and r.seal.rollout.get("source") == "oracle" for r in rollouts):
        raise UserError(
            "which families are of intermediate difficulty cannot be told from the oracle, which always succeeds; "
            "let a model without memory roll out, or give a baseline"
        )


def not_intermediate(rollouts: Iterable[Rollout], families: Iterable[str]) -> dict[str, str]:
    """The families that do not yield both a success and a failure, with what they yield."""
    seen: defaultdict[str, set[bool]] = defaultdict(set)
    for rollout in rollouts:
        seen[rollout.family].add(rollout.accepted)
    words: Mapping[frozenset[bool], str] = {
        frozenset(): "no rollouts",
        frozenset({True}): "only successes",
        frozenset({False}): "only failures",
    }
    return {f: words[frozenset(seen[f])] for f in families if frozenset(seen[f]) in words}


def kept_rollouts(out: Path) -> list[Rollout]:
    """The accepted rollouts of a build folder's kept families.

    Raises:
        BankError: the folder holds none.
    """
    if not (out / STATE).exists():
        raise BankError(f"{out} holds no finished build; `rebind bank build` makes one")
    families = _state(out)["families"]
    kept = [r for r in read_rollouts(out / ROLLOUTS) if r.accepted and r.family in families]
    if not kept:
        raise BankError(f"{out} holds no rollout that its verifier accepted and whose family was kept")
    return kept


def read_rollouts(path: Path) -> list[Rollout]:
    """The rollouts of a file, in the order they were made."""
    return [Rollout.model_validate(line) for line in read_lines(path)]


def _collect(
    world: World,
    path: Path,
    roller: Roller,
    wanted: tuple[Sequence[str], Sequence[int]],
    workers: int,
    progress: Progress,
) -> None:
    """Appends the rollouts a file does not have yet; families take turns, so that a stopped run is balanced."""
    drop_torn_tail(path)
    have = {(r.family, r.seed) for r in read_rollouts(path)}
    families, seeds = wanted
    jobs = [(family, seed) for seed in seeds for family in families if (family, seed) not in have]

    @steadily
    def rolled(environment: Environment, job: tuple[str, int]) -> Rollout:
        family, seed = job
        return roll(environment, world.sample(family, seed), family, seed, roller)

    progress("rollouts", 0, len(jobs))
    with closing(in_lanes(world, jobs, rolled, workers)) as made:
        for done, rollout in enumerate(made, 1):
            append_line(path, rollout.model_dump(mode="json"))
            progress("rollouts", done, len(jobs))


def _begin(out: Path, env_id: str) -> None:
    out.mkdir(parents=True, exist_ok=True)
    if not (out / STATE).exists():
        _write_state(out, env_id, ())
    begun = _state(out)["env"]
    if begun != env_id:
        raise BankError(f"{out} was begun with {begun}, not {env_id}; build into another folder")


def _write_state(out: Path, env_id: str, families: Sequence[str]) -> None:
    replace_text(out / STATE, json.dumps({"env": env_id, "families": list(families)}, indent=2) + "\n")


def _state(out: Path) -> dict[str, Any]:
    state: dict[str, Any] = json.loads((out / STATE).read_text(encoding="utf-8"))
    return state


def _known_families(world: World, wanted: Sequence[str]) -> list[str]:
    known = world.families()
    for family in wanted:
        if family not in known:
            raise UserError(f"{world.name} has no family {family!r}{did_you_mean(family, known)}")
    return list(wanted or known)
