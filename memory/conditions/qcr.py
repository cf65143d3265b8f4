"""Query-Conditioned Reuse: a four-field note written from one record, the query and the first observation (QCR,
section 4; the prompt states what its supplement D.1 asks)."""

from __future__ import annotations

from rebind.memory.note import NOTE_SCHEMA, read_note
from rebind.memory.render import render as render_record
from rebind.memory.tokens import CAP_TOKENS, count_text
from rebind.memory.values import leaked
from rebind.prompts import render
from rebind.types import Message, Model, Record, Request, Support, SupportAsk

_WORDS_PER_TOKEN = 0.6
"""Of the cap, as the writer is told it; English has about .75, JSON and tool names take the rest."""


class QueryConditionedReuse:
    name = "qcr"

    def support(self, ask: SupportAsk) -> Support:
        """Has the note written, reads it, keeps it within its cap, and flags source values in it.

        Raises:
            ProviderError: the writer's model did not answer.
        """
        if ask.record is None:
            return Support(condition=self.name, flags=("no-record",))
        writer: Model = ask.writer
        request = note_request(ask, ask.record)
        completion = writer.complete(request)
        note = read_note(completion.text, ask.cap_tokens, lambda text: count_text(writer, ask.writer_name, text))
        sources = leaked(note.text, ask.record, (ask.goal, ask.first_observation))
        return Support(
            condition=self.name,
            text=note.text,
            note=note.note,
            completions=(completion,),
            requests=(request,),
            flags=(*note.flags, *(f"source-value:{key}" for key in sources)),
        )


def note_request(ask: SupportAsk, record: Record) -> Request:
    """What the writer is asked: temperature 0, at most 1,024 tokens (QCR's supplement), no tools."""
    user = render(
        "qcr_writer_user",
        trajectory=render_record(record),
        goal=ask.goal,
        first_observation=ask.first_observation,
    )
    system = render("qcr_writer_system", words=int(ask.cap_tokens * _WORDS_PER_TOKEN))
    return Request(
        model=ask.writer_name,
        purpose="writer",
        messages=(Message(role="system", content=system), Message(role="user", content=user)),
        decoding=ask.decoding.model_copy(update={"temperature": 0.0, "top_p": 1.0, "max_tokens": CAP_TOKENS}),
        schema_=NOTE_SCHEMA,
    )
