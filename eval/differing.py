"""Where two JSON values differ, as lines a person can read."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator
from typing import Any

from rebind.types import Redacted

_LONGEST = 100
"""Characters of a text that are shown whole; of a longer one, as many around the first difference."""
_CONTEXT = 1
"""Lines shown around the differing ones of a text of several lines."""


def differences(old: Any, new: Any, where: str, *, wildcard: str) -> Iterator[str]:
    """Lines for every place at which `new` is not `old`: "- " what it was, "+ " what it is. Texts that hold JSON are
    compared as what they hold. What was redacted from `old` may be anything; so may what `wildcard`, a mark, stands for
    in its texts."""
    if isinstance(old, Redacted):
        return
    if isinstance(old, str) and isinstance(new, str):
        yield from _texts(old, new, where, wildcard)
    elif isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys([*old, *new]):
            place = f"{where}.{key}"
            if key not in new:
                yield f"- {place}: {_short(old[key])}"
            elif key not in old:
                yield f"+ {place}: {_short(new[key])}"
            else:
                yield from differences(old[key], new[key], place, wildcard=wildcard)
    elif isinstance(old, list) and isinstance(new, list):
        for index, (before, after) in enumerate(zip(old, new, strict=False)):
            yield from differences(before, after, f"{where}[{index}]", wildcard=wildcard)
        if len(old) != len(new):
            yield from (f"- {where} has {len(old)} members", f"+ {where} has {len(new)} members")
    elif old != new or type(old) is not type(new):
        yield from (f"- {where}: {_short(old)}", f"+ {where}: {_short(new)}")


def _texts(old: str, new: str, where: str, wildcard: str) -> Iterator[str]:
    if old == new or (wildcard in old and _fits(old, new, wildcard)):
        return
    held = _held(old), _held(new)
    if None not in held:
        lines = list(differences(*held, where, wildcard=wildcard))
        if lines or wildcard in old:
            yield from lines
            return
    if "\n" in old or "\n" in new:
        yield f"  {where}:"
        shown = difflib.unified_diff(old.splitlines(), new.splitlines(), n=_CONTEXT, lineterm="")
        yield from (line for line in shown if not line.startswith(("---", "+++")))
        return
    start = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    yield from (f"- {where}: {_around(old, start)}", f"+ {where}: {_around(new, start)}")


def _fits(old: str, new: str, wildcard: str) -> bool:
    pattern = ".*?".join(re.escape(part) for part in old.split(wildcard))
    return re.fullmatch(pattern, new, re.DOTALL) is not None


def _held(text: str) -> Any:
    """The JSON object or list in a text, or None."""
    if not text.startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except ValueError:
        return None


def _short(value: Any) -> str:
    return _around(json.dumps(value, ensure_ascii=False), 0)


def _around(text: str, start: int) -> str:
    """A text, or what stands around a place in it."""
    if len(text) <= _LONGEST:
        return text
    first = max(0, start - _LONGEST // 2)
    last = first + _LONGEST
    return f"{'…' if first else ''}{text[first:last]}{'…' if last < len(text) else ''}"
