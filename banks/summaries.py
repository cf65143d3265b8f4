"""Generic summaries: written from a record alone, before any target exists, no longer than a reuse note may be."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import JsonValue

from rebind.memory.note import cut_sentences
from rebind.memory.render import render as render_record
from rebind.memory.tokens import CAP_TOKENS, count_text, note_cap
from rebind.prompts import render
from rebind.types import Decoding, Message, Model, Record, Request

SUMMARY_DECODING = Decoding(temperature=0.0, top_p=1.0, max_tokens=CAP_TOKENS)
"""QCR's supplement: temperature 0, at most 1,024 tokens."""
_WORDS_PER_TOKEN = 0.7


@dataclass(frozen=True)
class Writer:
    """A model that writes summaries, under the name its requests give it."""

    model: Model
    name: str


def summarise(record: Record, writer: Writer) -> dict[str, JsonValue]:
    """A line of `summaries.jsonl`: id, text, cap_tokens, cut (whether the cap took sentences away), usage.

    Raises:
        ProviderError: the model did not answer.
    """
    cap = note_cap(writer.model, writer.name, record)
    system = render("summary_system", words=int(cap * _WORDS_PER_TOKEN))
    user = render("summary_user", trajectory=render_record(record))
    completion = writer.model.complete(
        Request(
            model=writer.name,
            purpose="summary",
            messages=(Message(role="system", content=system), Message(role="user", content=user)),
            decoding=SUMMARY_DECODING,
        )
    )
    text, cut = cut_sentences(completion.text.strip(), cap, lambda t: count_text(writer.model, writer.name, t))
    usage = completion.usage.model_dump(mode="json")
    return {"id": record.id, "text": text, "cap_tokens": cap, "cut": cut, "usage": usage}
