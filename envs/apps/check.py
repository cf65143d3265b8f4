"""Takes task families through all their paces: what `rebind envs check apps` shows."""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rebind.envs.apps.api.registry import REGISTRY
from rebind.envs.apps.building import family_of
from rebind.envs.apps.families import FAMILIES
from rebind.envs.apps.families.oracle import OracleFailed
from rebind.envs.apps.families.view import CannotBuild
from rebind.envs.apps.replay import Played, player
from rebind.envs.apps.shift import check as check_target
from rebind.envs.apps.shift import shift
from rebind.envs.apps.world import sample
from rebind.errors import CannotShift
from rebind.types import SHIFT_LEVELS, Seal, Target, ToolCall, length_group

_RESETS = 60
_COMPLETE = ToolCall(tool="supervisor_complete_task")


@dataclass
class _Tally:
    """Runs that passed, by kind of run, and what went wrong."""

    runs: dict[str, list[bool]] = field(default_factory=dict)
    groups: dict[str, str] = field(default_factory=dict)
    failures: list[dict[str, Any]] = field(default_factory=list)

    def add(self, kind: str, passed: bool) -> None:
        self.runs.setdefault(kind, []).append(passed)

    def share(self, kind: str) -> float | None:
        """The share that passed; None where there was no such run."""
        runs = self.runs.get(kind)
        return sum(runs) / len(runs) if runs else None

    def fail(self, seal: Seal, seed: int, what: str) -> None:
        self.failures.append({"family": seal.family, "seed": seed, "what": what})


def check(
    families: Sequence[str] | None = None,
    seeds: Sequence[int] = (0, 1),
    progress: Callable[[str, int, int], None] = lambda _what, _done, _all: None,
) -> dict[str, Any]:
    """Runs, for each family (all where None) and seed: the oracle, two no-ops (nothing at all; complete_task at once),
    and per shift level the target's checks and the literal replay of the source.

    Returns the counts `families` and `apis`; the shares of runs that passed, `oracle_pass`, `noop_pass`,
    `literal_replay_pass` (small, medium and large) and `none_replay_pass`; `reset_ms_median`; `length_groups`, families
    by the length group of their oracle; and `failures`, each with family, seed and what. `progress` is told the family,
    how many are done, and how many there are. Raises UserError for an unknown family.
    """
    names = list(FAMILIES) if families is None else list(families)
    tally, seals = _Tally(), []
    for done, name in enumerate(names):
        family_of(name)
        progress(name, done, len(names))
        for seed in seeds:
            try:
                target = sample(name, seed)
            except CannotBuild as error:
                tally.failures.append({"family": name, "seed": seed, "what": f"cannot be built: {error}"})
                continue
            seals.append(target.seal)
            _check_source(target, seed, tally)
            _check_targets(target, seed, tally)
    return {
        "families": len(names),
        "apis": len(REGISTRY),
        **{f"{kind}_pass": tally.share(kind) for kind in ("oracle", "noop", "literal_replay", "none_replay")},
        "reset_ms_median": _reset_ms(seals),
        "length_groups": dict(sorted(Counter(tally.groups.values()).items())),
        "failures": tally.failures,
    }


def _check_source(target: Target, seed: int, tally: _Tally) -> None:
    seal, family = target.seal, family_of(target.seal.family)
    solved = _solved(seal, seed, tally)
    if solved is not None:
        group = length_group(solved.effective)
        tally.groups[seal.family] = group
        if group != family.group:
            tally.fail(seal, seed, f"{solved.effective} effective calls are {group}, not {family.group}")
    for name, actions in (("nothing", ()), ("complete_task at once", (_COMPLETE,))):
        verdict = player().act(seal, actions).verdict
        tally.add("noop", verdict.success)
        reached = [m.id for m in verdict.milestones if m.reached]
        if verdict.success or reached or verdict.collateral:
            tally.fail(seal, seed, f"{name}: success {verdict.success}, reached {reached}, damage {verdict.collateral}")


def _solved(seal: Seal, seed: int, tally: _Tally) -> Played | None:
    """The oracle's run, tallied; None where one of its calls failed."""
    try:
        solved = player().solve(seal)
    except OracleFailed as error:
        tally.add("oracle", False)
        tally.fail(seal, seed, f"oracle: {error}")
        return None
    passed = solved.verdict.success and solved.verdict.progress == 1
    tally.add("oracle", passed)
    if not passed:
        missed = [m.id for m in solved.verdict.milestones if not m.reached]
        tally.fail(
            seal, seed, f"oracle: {solved.verdict.failures}, damage {solved.verdict.collateral}, missed {missed}"
        )
    return solved


def _check_targets(source: Target, seed: int, tally: _Tally) -> None:
    for level in SHIFT_LEVELS:
        try:
            target = shift(source.seal, level, seed)
        except CannotShift as error:
            tally.fail(source.seal, seed, f"no target at {level}: {error.reason}")
            continue
        reason = check_target(source, target)
        if reason is not None:
            tally.fail(source.seal, seed, f"target at {level}: {reason}")
        passed = player().replay(source.seal, target.seal).verdict.success
        tally.add("none_replay" if level == "none" else "literal_replay", passed)
        if passed != (level == "none"):
            tally.fail(source.seal, seed, f"literal replay at {level}: {'passes' if passed else 'fails'}")


def _reset_ms(seals: Sequence[Seal]) -> float | None:
    """Median milliseconds of a reset, the worlds being in memory; None without tasks."""
    times: list[float] = []
    for i in range(_RESETS if seals else 0):
        started = time.perf_counter()
        player().env.reset(options={"seal": seals[i % len(seals)]})
        times.append(1000 * (time.perf_counter() - started))
    return round(statistics.median(times), 3) if times else None


if __name__ == "__main__":
    print(json.dumps(check(sys.argv[1:] or None), indent=2))
