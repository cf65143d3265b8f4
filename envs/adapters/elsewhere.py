"""Benchmarks whose tasks Rebind reads but does not run in this version, as `rebind envs list` names them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rebind.envs.adapters.reach import SNOW


@dataclass(frozen=True)
class Elsewhere:
    """One of them: what it needs, and what is missing on this machine."""

    name: str
    env_id: str
    needs: str
    what_works: str
    lacking: Callable[[], list[str]]

    def why_not(self) -> str:
        """Why it cannot run here, and what can be done with it."""
        return "; ".join([*self.lacking(), "Rebind has no runner for it", self.what_works])


def elsewhere(known: Sequence[str]) -> tuple[Elsewhere, ...]:
    """All of them but those that a World of that name runs after all."""
    return tuple(one for one in _ALL if one.name not in known)


def _unset(names: Sequence[str]) -> list[str]:
    missing = [name for name in names if not os.environ.get(name)]
    return [f"not set: {', '.join(missing)}"] if missing else []


_ALL = (
    Elsewhere(
        "workarena",
        "rebind/WorkArena-v0",
        f"a ServiceNow instance: {', '.join(SNOW)}",
        "its binding-shift pairs: rebind targets build --from workarena --data PATH --dry-run",
        lambda: _unset(SNOW),
    ),
)
