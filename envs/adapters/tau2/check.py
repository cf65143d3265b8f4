"""Proves τ²'s tasks: what `rebind envs check tau2` shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rebind.envs.adapters.lines import Side
from rebind.envs.adapters.proof import Proof
from rebind.envs.adapters.tau2.install import start
from rebind.envs.adapters.tau2.tasks import Tau2Task, tasks
from rebind.envs.adapters.variants import by_family, chosen, following
from rebind.types import Progress


def check(names: Sequence[str] | None, seeds: Sequence[int], progress: Progress) -> dict[str, Any]:
    """Plays, of each family (all where None), up to as many tasks as there are seeds: the gold calls, nothing at all,
    and the gold calls of the next task of the family that has other bindings (`stale`).

    Returns `families`, `tasks`, `pairs`; the shares that passed, `oracle_pass`, `noop_pass`, `stale_pass`; `by_domain`
    with the same; and `failures`. Raises UserError for an unknown family.
    """
    wanted = chosen(by_family(tasks()), names)
    proof, side = Proof(), start()
    try:
        for done, (name, members) in enumerate(wanted.items()):
            progress(name, done, len(wanted))
            for one in members[: len(seeds)]:
                other = following(one, members)
                played = {"oracle": one, "noop": None} | ({"stale": other} if other else {})
                for kind, source in played.items():
                    proof.add(name, one.id, kind, _passes(side, one, source), one.domain)
    finally:
        side.close()
    return {
        "families": len(wanted),
        **_counted(proof, proof.parts()),
        "by_domain": {domain: _counted(proof, [domain]) for domain in proof.parts()},
        "failures": proof.failures,
    }


def _passes(side: Side, one: Tau2Task, source: Tau2Task | None) -> bool:
    """Whether a task is solved by the gold calls of `source` (by nothing where None)."""
    calls = [{"tool": call.tool, "args": call.args} for call in source.calls] if source else []
    told = list(source.told) if source else []
    found = side.ask("play", domain=one.domain, task=one.id, solo=one.solo, calls=calls, said=told)
    return all(found["checks"].values())


def _counted(proof: Proof, domains: Sequence[str]) -> dict[str, Any]:
    tasks, pairs = (len(proof.plays(kind, domains)) for kind in ("oracle", "stale"))
    return {"tasks": tasks, "pairs": pairs, **proof.shares(domains)}
