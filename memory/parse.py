"""Reads the JSON object in a model's answer, also from between code fences and words, also where it was cut off."""

from __future__ import annotations

import re
from typing import Any

import pydantic_core

_OPENING = re.compile(r'\{\s*["}]')


def json_object(text: str, *, partial: bool = False) -> dict[str, Any]:
    """The first JSON object in a text. With `partial`, one that breaks off gives the members that were complete.

    Raises:
        ValueError: there is none.
    """
    starts = [found.start() for found in _OPENING.finditer(text)]
    for start in starts:
        ends = [at for at, character in enumerate(text) if character == "}" and at > start]
        for end in reversed(ends):
            try:
                value = pydantic_core.from_json(text[start : end + 1])
            except ValueError:
                continue
            if isinstance(value, dict):
                return value
    if partial and starts:
        value = pydantic_core.from_json(text[starts[0] :], allow_partial=True)
        if isinstance(value, dict):
            return value
    raise ValueError("no complete JSON object in the answer")
