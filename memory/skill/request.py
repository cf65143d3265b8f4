"""The words of a request around its values: how alike two requests are, and where the values of a later one stand."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import date, datetime
from functools import lru_cache

from pydantic import JsonValue

from rebind.memory.values import spellings
from rebind.types import Frozen, Skill, Slot

_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|«[^»]*»")
_NUMBER = re.compile(r"(?<!\w)[+$€£]?\d[\d.,:/ -]*(?:\w*\d\w*)?")
_NAMES = re.compile(r"(?<=[a-z0-9,;:'’)] )[A-Z][\w'’-]*(?: (?:of |the |and |& )?[A-Z0-9&][\w'’-]*)*")
_WORD = re.compile(r"[^\W_]+")
_STEM = 5
_DAYS = ("%d %B %Y", "%B %d, %Y", "%d %b %Y", "%b %d, %Y")


class Request(Frozen):
    """What a verified trace was asked, and which slots took which of its values."""

    text: str
    values: dict[str, JsonValue]


def request_of(text: str, skill: Skill) -> Request:
    """The request behind a skill, with the values of the slots that the caller takes from it."""
    return Request(text=text, values={s.name: s.example for s in skill.slots if s.provenance == "query"})


@lru_cache(maxsize=1 << 14)
def masked(text: str) -> str:
    """A request without what looks like a value: quoted texts, numbers and dates, names inside a sentence."""
    text = _QUOTED.sub('"…"', text)
    text = _NUMBER.sub(" 0 ", text)
    return " ".join(_NAMES.sub("X", text).split())


def named(skill: Skill, goal: str) -> float:
    """How far a request names what a skill calls, 0 to 1: of each tool the share of its name's words that the request
    has too, by their first letters; of all tools the least, for one call that nobody asked for makes a skill wrong. Of
    "random_for_jokes" the name is "random"."""
    said = set(_stems(goal))
    shares = [
        sum(stem in said for stem in stems) / len(stems) if (stems := _stems(tool)) else 0.0
        for tool in dict.fromkeys(step.tool.partition("_for_")[0] for step in skill.steps)
    ]
    return min(shares, default=0.0)


def says_word(text: str, word: str) -> bool:
    """Whether a text has a word, by its first letters."""
    return set(_stems(word)) <= set(_stems(text))


def _stems(text: str) -> list[str]:
    return [word[:_STEM] for word in _WORD.findall(text.casefold())]


def read_values(slots: Sequence[Slot], requests: Sequence[Request], goal: str) -> dict[str, JsonValue]:
    """Values of a goal for slots, where one of the requests, its values aside, has the goal's very words. The first
    that has them and gives most is taken; what it does not tell is left out. No model is asked."""
    best: dict[str, JsonValue] = {}
    by_name = {s.name: s for s in slots}
    for request in requests:
        pattern, names = _pattern_of(request.text, json.dumps(request.values))
        found = pattern.fullmatch(" ".join(goal.split()))
        if found is None:
            continue
        values = {name: _typed(found[group], by_name[name], request.values[name]) for group, name in names.items()
                  if name in by_name}  # fmt: skip
        known: dict[str, JsonValue] = {name: value for name, value in values.items() if value is not None}
        if len(known) > len(best):
            best = known
    return best


@lru_cache(maxsize=1 << 12)
def _pattern_of(text: str, values: str) -> tuple[re.Pattern[str], dict[str, str]]:
    return _pattern(Request(text=text, values=json.loads(values)))


def _pattern(request: Request) -> tuple[re.Pattern[str], dict[str, str]]:
    """A pattern over the request's words with its values open, and the group of each slot."""
    text = " ".join(request.text.split())
    spans: list[tuple[int, int, str]] = []
    for name, value in sorted(request.values.items(), key=lambda pair: -len(str(pair[1]))):
        spans += [(start, end, name) for start, end in _places(text, value) if _free(start, end, spans)]
    for kind in (_QUOTED, _NUMBER, _NAMES):
        for match in kind.finditer(text):
            start, end = match.span()
            if kind is _QUOTED:
                start, end = start + 1, end - 1
            if start < end and _free(start, end, spans):
                spans.append((start, end, ""))
    names: dict[str, str] = {}
    parts: list[str] = []
    at = 0
    for start, end, name in sorted(spans):
        parts.append(re.escape(text[at:start]))
        parts.append(_hole(name, names))
        at = end
    return re.compile("".join([*parts, re.escape(text[at:])])), names


def _hole(name: str, names: dict[str, str]) -> str:
    if not name:
        return ".+?"
    group = next((g for g, n in names.items() if n == name), None)
    if group is not None:
        return f"(?P={group})"
    group = f"v{len(names)}"
    names[group] = name
    return f"(?P<{group}>.+?)"


def _free(start: int, end: int, spans: Sequence[tuple[int, int, str]]) -> bool:
    return all(end <= s or e <= start for s, e, _ in spans)


def _places(text: str, value: JsonValue) -> list[tuple[int, int]]:
    """Where a text spells a value, as whole words; the longest spelling that it uses. Spaces at its ends count."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return []
    for spelt in sorted({str(value), *spellings(value)}, key=lambda s: (-len(s), s)):
        if not spelt.strip():
            continue
        found = [m.span() for m in re.finditer(rf"(?<!\w){re.escape(spelt)}(?!\w)", text, re.IGNORECASE)]
        if found:
            return found
    return []


def _typed(said: str, slot: Slot, example: JsonValue) -> JsonValue:
    """What was said, as the slot takes it; None where it cannot be read so."""
    if isinstance(example, bool):
        return None
    if isinstance(example, int | float):
        return _number(said, example, slot)
    if slot.type == "date":
        return _day(said)
    return said


def _number(said: str, example: int | float, slot: Slot) -> JsonValue:
    """A whole number; with decimals, the hundredths that an API counts in."""
    plain = said.replace(",", "").strip("$€£ ")
    ordinal = re.fullmatch(r"(\d+)(?:st|nd|rd|th)", plain)
    if ordinal:
        return int(ordinal[1])
    if re.fullmatch(r"-?\d+", plain):
        return int(plain)
    if re.fullmatch(r"-?\d+\.\d{2}", plain) and isinstance(example, int):
        return round(float(plain) * 100)
    return float(plain) if re.fullmatch(r"-?\d+\.\d+", plain) and slot.type == "float" else None


def _day(said: str) -> JsonValue:
    try:
        return date.fromisoformat(said).isoformat()
    except ValueError:
        pass
    for form in _DAYS:
        try:
            return datetime.strptime(said, form).date().isoformat()  # a day has no zone
        except ValueError:
            continue
    return None
