"""The space of a browser's actions."""

from __future__ import annotations

import json
from typing import Any

from rebind.envs.browser.actions import TOOLS
from rebind.envs.spaces import UnicodeText


class ActionText(UnicodeText):
    """Action texts; samples are well-formed actions, their elements numbered 1 to 30."""

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        word = super().sample(mask, probability)
        tool = TOOLS[int(self.np_random.integers(len(TOOLS)))]
        required: Any = tool.parameters["required"]
        properties: Any = tool.parameters["properties"]
        args: dict[str, str | int] = {}
        for key in required:
            number = int(self.np_random.integers(1, 31))
            args[key] = (
                str(number) if key.endswith("element") else number if properties[key]["type"] == "integer" else word
            )
        return json.dumps({"tool": tool.name, "args": args})
