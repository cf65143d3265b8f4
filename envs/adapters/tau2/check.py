"""Proves τ²'s tasks: what `rebind envs check tau2` shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rebind.envs.adapters.lines import Side
from rebind.envs.adapters.pairs import changed
from rebind.envs.adapters.tau2.install import start
from rebind.envs.adapters.tau2.tasks import Tau2Task, families, family
from rebind.types import Progress


def check(names: Sequence[str] | None, seeds: Sequence[int], progress: Progress) -> dict[str, Any]:
    """Plays, of each family (all where None), up to as many tasks as there are seeds: the gold calls, nothing at all,
    and the gold calls of the next task of the family that has other bindings (`stale`).

    Returns `families`, `tasks`, `pairs`; the shares that passed, `oracle_pass`, `noop_pass`, `stale_pass`; `by_domain`
    with the same; and `failures`. Raises UserError for an unknown family.
    """
    chosen = families() if names is None else {name: family(name) for name in names}
    runs: dict[tuple[str, str], list[bool]] = {}
    failures: list[dict[str, Any]] = []
    side = start()
    try:
        for done, (name, members) in enumerate(chosen.items()):
            progress(name, done, len(chosen))
            for one in members[: len(seeds)]:
                other = _partner(one, members)
                played = {"oracle": one, "noop": None} | ({"stale": other} if other else {})
                for kind, source in played.items():
                    passed = _passes(side, one, source)
                    runs.setdefault((one.domain, kind), []).append(passed)
                    if passed != (kind == "oracle"):
                        failures.append({"family": name, "task": one.id, "what": f"{kind} {_word(passed)}"})
    finally:
        side.close()
    domains = sorted({domain for domain, _ in runs})
    return {
        "families": len(chosen),
        **_shares(runs, domains),
        "by_domain": {domain: _shares(runs, [domain]) for domain in domains},
        "failures": failures,
    }


def _passes(side: Side, one: Tau2Task, source: Tau2Task | None) -> bool:
    """Whether a task is solved by the gold calls of `source` (by nothing where None)."""
    calls = [{"tool": call.tool, "args": call.args} for call in source.calls] if source else []
    told = list(source.told) if source else []
    found = side.ask("play", domain=one.domain, task=one.id, solo=one.solo, calls=calls, said=told)
    return all(found["checks"].values())


def _partner(one: Tau2Task, members: Sequence[Tau2Task]) -> Tau2Task | None:
    """The next member, round in a circle, with other bindings."""
    at = members.index(one)
    values = {b.name: b.value for b in one.bindings()}
    for other in (*members[at + 1 :], *members[:at]):
        if changed({b.name: b.value for b in other.bindings()}, values):
            return other
    return None


def _shares(runs: dict[tuple[str, str], list[bool]], domains: Sequence[str]) -> dict[str, Any]:
    by_kind = {kind: [p for d in domains for p in runs.get((d, kind), [])] for kind in ("oracle", "noop", "stale")}
    shares = {f"{kind}_pass": sum(passed) / len(passed) if passed else None for kind, passed in by_kind.items()}
    return {"tasks": len(by_kind["oracle"]), "pairs": len(by_kind["stale"]), **shares}


def _word(passed: bool) -> str:
    return "passes" if passed else "fails"
