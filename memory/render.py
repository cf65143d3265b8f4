"""A record as text: the one rendering that full trajectories, summary writers and note writers all read."""

from __future__ import annotations

import json

from rebind.types import Code, Record, Step


def render(record: Record) -> str:
    """The whole record: instruction, first observation, then each action with its arguments and what came back."""
    turns = "\n".join(f"{number}. {render_step(step)}" for number, step in enumerate(record.steps, 1))
    return f"Task: {record.instruction}\nFirst observation: {record.first_observation}\n{turns}"


def render_step(step: Step) -> str:
    """One turn; an answer that could not be parsed is named as such."""
    if step.action is None:
        action = "(an answer that was no action)"
    elif isinstance(step.action, Code):
        action = f"code:\n{step.action.code}"
    else:
        action = f"{step.action.tool}({json.dumps(step.action.args, ensure_ascii=False)})"
    thought = f"{step.thought}\n   " if step.thought else ""
    return f"{thought}{action}\n   → {step.observation}"
