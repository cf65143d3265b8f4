"""How an actor acts: what a study fixes once, for every condition alike."""

from __future__ import annotations

from typing import Literal

from rebind.types import Decoding, Frozen

Protocol = Literal["json", "native", "code"]
"""JSON by schema, native tool calls, or blocks of Python."""
Placement = Literal["system", "user", "turns"]
"""Where support stands: at the end of the system prompt, as a message of the user before the task, or as the turns of
an earlier task (support that is text only becomes a message of the user there too)."""


class ActorSettings(Frozen):
    """All of it goes into the study's lock."""

    model: str
    decoding: Decoding = Decoding()
    protocol: Protocol = "json"
    placement: Placement = "turns"
    thought: bool = True
    """JSON answers begin with a thought of one short sentence."""
    grounded: bool = False
    """Text arguments of JSON answers are limited to values seen in goal and observations."""
    strict_tools: bool = False
    """Only the tools of the prompt may be named; otherwise also others, such as an agent finds in documentation."""
