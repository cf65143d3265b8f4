"""Token counts of texts by a model's own tokenizer, and the length cap of written support."""

from __future__ import annotations

from rebind.memory.render import render
from rebind.types import Decoding, Message, Model, Record, Request

CAP_TOKENS = 1024
CAP_SHARE = 0.25
"""Ours (design, Formulas): a note or summary is at most a quarter of its record, and never above `CAP_TOKENS`."""


def count_text(model: Model, name: str, text: str) -> int:
    """Tokens of a text as a message to the model, without what its template adds to an empty message."""
    return model.count(_request(name, text)) - model.count(_request(name, ""))


def record_tokens(model: Model, name: str, record: Record) -> int:
    """Tokens of a record's full rendering."""
    return count_text(model, name, render(record))


def note_cap(model: Model, name: str, record: Record) -> int:
    """min(1,024, 25 % of the record's tokens): the cap of a reuse note and of a generic summary."""
    return min(CAP_TOKENS, int(CAP_SHARE * record_tokens(model, name, record)))


def _request(name: str, text: str) -> Request:
    return Request(
        model=name, purpose="writer", messages=(Message(role="user", content=text),), decoding=Decoding(temperature=0.0)
    )
