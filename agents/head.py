"""The part of an actor's prompt that stands from its first call to its last: system prompt, support, task."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from rebind.agents.settings import ActorSettings, Protocol
from rebind.agents.turns import tool_line, worked
from rebind.prompts import render
from rebind.types import Message, Support, ToolSpec


def head(
    settings: ActorSettings, goal: str, observation: str, tools: Sequence[ToolSpec], support: Support
) -> list[Message]:
    """The messages before the first answer. Without support the same, less what the support brings."""
    lines = "\n".join(map(tool_line, tools)) if settings.protocol != "native" else ""
    system = render("actor_system", form=form(settings), tools=lines).rstrip()
    text = render("actor_support", support=support.text).rstrip() if support.text else ""
    before: list[Message] = []
    if settings.placement == "turns" and support.turns:
        goal_then, saw_then = support.turns_goal, support.turns_first_observation
        before = worked(goal_then, saw_then, support.turns, settings.protocol)
    elif settings.placement == "system" and text:
        system = f"{system}\n\n{text}"
    elif text:
        taken = render("actor_support_taken").rstrip()
        before = [Message(role="user", content=text), Message(role="assistant", content=taken)]
    task = render("actor_task", goal=goal, observation=observation).rstrip()
    return [Message(role="system", content=system), *before, Message(role="user", content=task)]


def form(settings: ActorSettings) -> str:
    """How to answer, as the system prompt and a correction say it."""
    return _form(settings.protocol, settings.thought)


@cache
def _form(protocol: Protocol, thought: bool) -> str:
    variables = {"thought": thought} if protocol == "json" else {}
    return render(f"actor_form_{protocol}", **variables).rstrip()
