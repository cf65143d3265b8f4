"""Takes the families of the sites through all their paces: what `rebind envs check sites` and `… desk` show."""

from __future__ import annotations

import statistics
import threading
import time
from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import Any

from rebind.envs.sites.building import Recipe, family_of
from rebind.envs.sites.families.view import CannotBuild
from rebind.envs.sites.world import SitesWorld
from rebind.errors import CannotShift, RebindError
from rebind.types import SHIFT_LEVELS, Call, Environment, Progress, Seal, Target, ToolCall, Verdict, length_group

_WORKERS = 2
_AT_ONCE = ToolCall(tool="send_msg_to_user", args={"text": "done"})
_GIVE_UP = ToolCall(tool="report_infeasible", args={"reason": "not tried"})


@dataclass
class _Tally:
    """Runs that passed, by kind of run, and what went wrong. For many threads."""

    runs: dict[str, list[bool]] = field(default_factory=dict)
    groups: dict[str, set[str]] = field(default_factory=dict)
    resets: list[float] = field(default_factory=list)
    failures: list[dict[str, Any]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, kind: str, passed: bool) -> None:
        with self.lock:
            self.runs.setdefault(kind, []).append(passed)

    def fail(self, family: str, seed: int, what: str) -> None:
        with self.lock:
            self.failures.append({"family": family, "seed": seed, "what": what})

    def share(self, kind: str) -> float | None:
        """The share that passed; None where there was no such run."""
        runs = self.runs.get(kind)
        return sum(runs) / len(runs) if runs else None


def check(
    world: SitesWorld, families: Sequence[str] | None, seeds: Sequence[int], progress: Progress
) -> dict[str, Any]:
    """Runs, for each family (all where None) and seed, in a real browser: the oracle; a no-op (ending at once or, with
    odd seeds, giving up at once); and per shift level the literal replay of the source's actions on the target.

    Returns `families`; the shares of runs that passed, `oracle_pass`, `noop_pass`, `literal_replay_pass` (small,
    medium, large) and `none_replay_pass`; `infeasible`, how many of the sources were; `data_reset_ms_median`
    (the database put back, the server staying up) and `reset_ms_median` (with browser tab and first page);
    `length_groups`; `failures`. Raises UserError for an unknown family.
    """
    names = list(world.families()) if families is None else list(families)
    for name in names:
        family_of(world.env_id, name)
    tally, local, made = _Tally(), threading.local(), list[Environment]()

    def job(name: str, seed: int) -> None:
        if not hasattr(local, "env"):
            local.env = world.make()
            made.append(local.env)
        _check(world, local.env, name, seed, tally)

    jobs = [(name, seed) for seed in seeds for name in names]
    try:
        with ThreadPoolExecutor(_WORKERS) as pool:
            futures = [pool.submit(job, *one) for one in jobs]
            for done, future in enumerate(as_completed(futures)):
                progress("families", done, len(jobs))
                future.result()
    finally:
        for env in made:
            env.close()
    groups = Counter(group for found in tally.groups.values() for group in found)
    return {
        "families": len(names),
        **{f"{kind}_pass": tally.share(kind) for kind in ("oracle", "noop", "literal_replay", "none_replay")},
        "infeasible": len(tally.runs.get("infeasible", ())),
        "data_reset_ms_median": _data_reset_ms(),
        "reset_ms_median": round(statistics.median(tally.resets), 1) if tally.resets else None,
        "length_groups": dict(sorted(groups.items())),
        "failures": sorted(tally.failures, key=lambda f: (f["family"], f["seed"])),
    }


def _data_reset_ms(times: int = 21) -> float:
    """Median milliseconds of putting the database back."""
    from rebind.envs.sites import server
    from rebind.envs.sites.content.people import MANAGER
    from rebind.envs.sites.snapshot import world_image

    running, found = server.acquire(), []
    for _ in range(times):
        started = time.perf_counter()
        running.restore(world_image(), MANAGER)
        found.append(1000 * (time.perf_counter() - started))
    server.release(running)
    return round(statistics.median(found), 1)


def _check(world: SitesWorld, env: Environment, name: str, seed: int, tally: _Tally) -> None:
    try:
        source = world.sample(name, seed)
    except CannotBuild as error:
        tally.fail(name, seed, f"cannot be built: {error}")
        return
    if not Recipe.of(source.seal).feasible:
        tally.add("infeasible", True)
    calls = _check_oracle(world, env, source, seed, tally)
    ending = _AT_ONCE if seed % 2 == 0 or not Recipe.of(source.seal).feasible else _GIVE_UP
    verdict = _play(env, source.seal, iter([ending]), tally)[1]
    tally.add("noop", verdict.success)
    if verdict.success or verdict.collateral:
        tally.fail(name, seed, f"{ending.tool} at once: success {verdict.success}, damage {verdict.collateral}")
    if calls is not None:
        _check_targets(world, env, source, calls, seed, tally)


def _check_oracle(
    world: SitesWorld, env: Environment, source: Target, seed: int, tally: _Tally
) -> tuple[Call, ...] | None:
    """The calls of the oracle's run; None where one was refused."""
    family, feasible = family_of(world.env_id, source.seal.family), Recipe.of(source.seal).feasible
    try:
        calls, verdict = _play(env, source.seal, family.solve(source.seal.values()), tally)
    except RebindError as error:
        tally.add("oracle", False)
        tally.fail(family.id, seed, f"oracle: {type(error).__name__}: {error}")
        return None
    passed = verdict.success and verdict.progress == 1
    tally.add("oracle", passed)
    if not passed:
        missed = [m.id for m in verdict.milestones if not m.reached]
        tally.fail(family.id, seed, f"oracle: {verdict.failures}, damage {verdict.collateral}, missed {missed}")
    group = length_group(sum(c.ok for c in calls))
    if feasible:
        tally.groups.setdefault(family.id, set()).add(family.group)
        if group != family.group:
            tally.fail(family.id, seed, f"{sum(c.ok for c in calls)} effective actions are {group}, not {family.group}")
    return calls


def _check_targets(
    world: SitesWorld, env: Environment, source: Target, calls: Sequence[Call], seed: int, tally: _Tally
) -> None:
    for level in SHIFT_LEVELS:
        try:
            target = world.shift(source.seal, level, seed)
        except CannotShift as error:
            if error.reason != "infeasible":
                tally.fail(source.seal.family, seed, f"no target at {level}: {error.reason}")
            continue
        actions = iter([ToolCall(tool=c.tool, args=c.args) for c in calls])
        passed = _play(env, target.seal, actions, tally)[1].success
        tally.add("none_replay" if level == "none" else "literal_replay", passed)
        if passed != (level == "none"):
            changed = ", ".join(target.seal.changed)
            tally.fail(
                source.seal.family, seed, f"literal replay at {level} ({changed}): {'passes' if passed else 'fails'}"
            )


def _play(env: Environment, seal: Seal, actions: Iterable[ToolCall], tally: _Tally) -> tuple[tuple[Call, ...], Verdict]:
    """Resets to the task and steps the actions, sending a generator the calls each of them made."""
    started = time.perf_counter()
    env.reset(options={"seal": seal})
    with tally.lock:
        tally.resets.append(1000 * (time.perf_counter() - started))
    calls: list[Call] = []
    iterator = iter(actions)
    action = next(iterator, None)
    while action is not None:
        _, _, over, _, info = env.step(action)
        calls += info["calls"]
        if over:
            break
        try:
            action = iterator.send(tuple(info["calls"])) if isinstance(iterator, Generator) else next(iterator, None)
        except StopIteration:
            break
    return tuple(calls), env.verify()
