"""Proves tasks of the stub site by runs that solve them, come close, or do nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from rebind.envs.adapters.proof import Proof
from rebind.errors import UserError, did_you_mean
from rebind.types import Progress

KINDS = ("right", "wrong", "noop")


class Numbered(Protocol):
    """A task of WebArena."""

    @property
    def id(self) -> int: ...

    @property
    def family(self) -> str: ...


N = TypeVar("N", bound=Numbered)


def prove(
    tasks: Sequence[N],
    names: Sequence[str] | None,
    seeds: Sequence[int],
    progress: Progress,
    passes: Callable[[N, str], bool],
) -> dict[str, Any]:
    """Plays, of each template (all where None), up to as many tasks as there are seeds, in each of `KINDS`.

    Returns `data` (whose site: these are no WebArena scores), `families`, `tasks`; the shares that scored 1.0,
    `right_pass`, `wrong_pass`, `noop_pass`; and `failures`. Raises UserError for an unknown family.
    """
    families: dict[str, list[N]] = {}
    for one in tasks:
        families.setdefault(one.family, []).append(one)
    for name in names or ():
        if name not in families:
            raise UserError(f"no task family {name!r} on the stub site{did_you_mean(name, families)}")
    chosen = [one for name in names or families for one in families[name][: len(seeds)]]
    proof = Proof(KINDS)
    for done, one in enumerate(chosen):
        progress(one.family, done, len(chosen))
        for kind in KINDS:
            proof.add(one.family, str(one.id), kind, passes(one, kind))
    return {
        "data": "stub site of our own, no WebArena scores",
        "families": len(names or families),
        "tasks": len(chosen),
        **proof.shares(),
        "failures": proof.failures,
    }
