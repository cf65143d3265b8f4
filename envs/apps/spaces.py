"""The space of the app world's actions."""

from __future__ import annotations

from typing import Any

from pydantic import JsonValue

from rebind.envs.apps.api import registry
from rebind.envs.apps.api.values import compact
from rebind.envs.spaces import UnicodeText


class ActionText(UnicodeText):
    """Action texts; samples are well-formed tool calls with arguments of the right types."""

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        word = super().sample(mask, probability)
        names = sorted(registry.REGISTRY)
        one = registry.REGISTRY[names[int(self.np_random.integers(len(names)))]]
        args: dict[str, JsonValue] = {p.name: self._value(p, word) for p in one.parameters if p.required}
        return compact({"tool": one.name, "args": args})

    def _value(self, parameter: registry.Parameter, word: str) -> JsonValue:
        if parameter.choices:
            return parameter.choices[int(self.np_random.integers(len(parameter.choices)))]
        values: dict[str, JsonValue] = {
            "text": word,
            "integer": int(self.np_random.integers(1, 100)),
            "number": float(self.np_random.random()),
            "boolean": bool(self.np_random.integers(2)),
            "list of text": [word],
        }
        return values[parameter.type]
