"""The reuse note of QCR: read from a model's answer, laid out for the actor, cut to its cap."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from pydantic import JsonValue

from rebind.memory.parse import json_object
from rebind.types import ReuseNote

FIELDS = ("workflow", "rebind", "applies", "verify")
_LABELS = {
    "workflow": "Workflow",
    "rebind": "Find again before use",
    "applies": "Applies when",
    "verify": "Check before finishing",
}
_DECLINED = re.compile(r"\s*blocked\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+")

_ENTRY: dict[str, JsonValue] = {"type": "string", "minLength": 8, "maxLength": 200}
_ENTRIES: dict[str, JsonValue] = {"type": "array", "items": _ENTRY, "minItems": 1, "maxItems": 20}
_SENTENCES: dict[str, JsonValue] = {"type": "string", "minLength": 20, "maxLength": 300}
NOTE_SCHEMA: dict[str, JsonValue] = {
    "type": "object",
    "properties": {"workflow": _ENTRIES, "rebind": _ENTRIES, "applies": _SENTENCES, "verify": _SENTENCES},
    "required": list(FIELDS),
    "additionalProperties": False,
}
"""JSON schema of the writer's answer. The least lengths are for small models, which else leave fields empty; the most
keep them from repeating themselves."""


@dataclass(frozen=True)
class Note:
    """A note as it is delivered; `note` is None where the answer had no fields and is delivered as it came."""

    text: str
    note: ReuseNote | None
    flags: tuple[str, ...]


def read_note(answer: str, cap_tokens: int, count: Callable[[str], int]) -> Note:
    """The note in a writer's answer.

    Flags: "unparseable" (delivered as text), "cut-at-field" (whole fields were dropped from the end to keep the cap, or
    the answer broke off inside one), "cut-in-field" (the first field alone was over the cap and lost its last
    sentences), "declined" (the writer says that the source does not apply).
    """
    try:
        fields = _fields(answer)
    except ValueError:
        text, cut = cut_sentences(answer.strip(), cap_tokens, count)
        return Note(text, None, ("unparseable", "cut-in-field") if cut else ("unparseable",))
    flags: list[str] = []
    kept = {name: fields[name] for name in FIELDS if name in fields}
    if len(kept) < len(FIELDS):
        flags.append("cut-at-field")
    while len(kept) > 1 and count(layout(kept)) > cap_tokens:
        kept.popitem()
        flags.append("cut-at-field")
    if count(layout(kept)) > cap_tokens:
        name, text = next(iter(kept.items()))
        kept[name] = cut_sentences(text, cap_tokens, lambda shorter: count(layout({name: shorter})))[0]
        flags.append("cut-in-field")
    if _DECLINED.match(kept.get("applies", "")):
        flags.append("declined")
    note = ReuseNote(**{name: kept.get(name, "") for name in FIELDS})
    return Note(layout(kept), note, tuple(dict.fromkeys(flags)))


def layout(fields: dict[str, str]) -> str:
    """Labelled fields as the actor reads them, one a line."""
    return "\n".join(f"{_LABELS[name]}: {text}" for name, text in fields.items())


def _fields(answer: str) -> dict[str, str]:
    """The note's fields that the answer holds; lists and objects inside a field are joined to text.

    Raises:
        ValueError: the answer holds no field at all.
    """
    found = json_object(answer, partial=True)
    fields = {name: _text(found[name]) for name in FIELDS if name in found}
    if not any(fields.values()):
        raise ValueError("no field of a reuse note in the answer")
    return fields


def _text(value: object) -> str:
    if isinstance(value, list):
        return "; ".join(_text(v) for v in value)
    if isinstance(value, dict):
        return "; ".join(f"{k}: {_text(v)}" for k, v in value.items())
    return " ".join(str(value).split())


def cut_sentences(text: str, cap_tokens: int, count: Callable[[str], int]) -> tuple[str, bool]:
    """The longest run of whole sentences (or, of one long sentence, words) from the start that keeps the cap."""
    if count(text) <= cap_tokens:
        return text, False
    parts = _SENTENCE_END.split(text)
    if len(parts) == 1 or count(parts[0]) > cap_tokens:
        parts = parts[0].split()
    low, high = 0, len(parts) - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(" ".join(parts[:middle])) <= cap_tokens else (low, middle - 1)
    return " ".join(parts[:low]), True
