"""What an episode leaves to be judged by, and the milestones that look at it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rebind.envs.apps.api.registry import OPEN_APPS, REGISTRY
from rebind.envs.apps.families.effects import Match
from rebind.envs.apps.families.view import View
from rebind.types import Call


@dataclass(frozen=True)
class Evidence:
    """The states at the start and now, and every call made between."""

    before: View
    after: View
    calls: tuple[Call, ...]

    def called(self, tool: str, **args: Match) -> bool:
        """Whether a call of that tool succeeded with these arguments (values or predicates), whatever its others."""
        return any(
            c.ok
            and c.tool == tool
            and all(name in c.args and _agrees(test, c.args[name]) for name, test in args.items())
            for c in self.calls
        )

    def saw(self, *values: Any) -> bool:
        """Whether every value (text or number) occurs as a whole in some result of a successful reading call."""
        return all(re.search(rf"(?<!\w){re.escape(_written(value))}(?!\w)", self._read) for value in values)

    @cached_property
    def _read(self) -> str:
        """All that reading calls returned, as JSON text."""
        readings = [c.result for c in self.calls if c.ok and _reads(c.tool)]
        return "\n".join(json.dumps(result, ensure_ascii=False) for result in readings)


def _agrees(test: Match, value: Any) -> bool:
    return bool(test(value)) if callable(test) else bool(test == value)


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False).strip('"')


def _reads(tool: str) -> bool:
    return REGISTRY[tool].app not in OPEN_APPS and not REGISTRY[tool].writes


@dataclass(frozen=True)
class Mark:
    """A milestone on the calls or the state: `label` is "id: text"."""

    label: str
    test: Callable[[Evidence], bool]


def saw(label: str, *values: Any) -> Mark:
    """Reached once every value was read from the world by some call."""
    return Mark(label, lambda evidence: evidence.saw(*values))


def called(label: str, tool: str, **args: Match) -> Mark:
    """Reached once the tool was called with these arguments and did not refuse."""
    return Mark(label, lambda evidence: evidence.called(tool, **args))
