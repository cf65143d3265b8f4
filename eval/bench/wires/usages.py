"""Usage of one response, drawn at random: what the provider means by it, and the object it sends."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from rebind.eval.bench.wires.forms import Format
from rebind.types import Usage

_CACHED, _WRITTEN, _REASONED, _MISSING, _HALF = 0.5, 0.3, 0.4, 0.08, 0.04
"""Shares of responses that read from the cache, write to it (Anthropic), reason, report no usage, or half of one."""


@dataclass(frozen=True)
class Spent:
    """One response's tokens: what was told (None where it was not), and the object that told it."""

    told: Usage
    written: int
    """Prompt tokens written to the provider's cache."""
    sent: dict[str, Any] | None
    kinds: tuple[str, ...]
    """What is special about it: "cached", "written", "reasoning", "missing", "half"."""


def draw(form: Format, prompt: int, visible: int, rng: random.Random) -> Spent:
    """Usage of a response to a prompt of so many tokens, with an answer of so many."""
    cached = rng.randrange(prompt + 1) if rng.random() < _CACHED else 0
    written = rng.randrange(prompt - cached + 1) if form == "anthropic" and rng.random() < _WRITTEN else 0
    reasoning = rng.randrange(1, 200) if rng.random() < _REASONED else 0
    named = {"cached": cached, "written": written, "reasoning": reasoning}
    kinds = tuple(name for name, count in named.items() if count)
    completion = visible + reasoning
    if form == "openai":
        sent = _openai(prompt, completion, cached, reasoning)
        told = Usage(prompt=prompt, completion=completion, cached=cached, reasoning=reasoning)
    else:
        sent = _anthropic(prompt, completion, cached, written, reasoning)
        told = Usage(prompt=prompt, completion=completion, cached=cached, reasoning=reasoning or None)
    chance = rng.random()
    if chance < _MISSING:
        return Spent(Usage(), 0, None, ("missing",))
    if chance < _MISSING + _HALF:  # the output's half was lost on the way
        half = {key: value for key, value in sent.items() if not key.startswith(("completion", "output", "total"))}
        return Spent(told.model_copy(update={"completion": None, "reasoning": None}), written, half, ("half",))
    return Spent(told, written, sent, kinds or ("plain",))


def _openai(prompt: int, completion: int, cached: int, reasoning: int) -> dict[str, Any]:
    """Cached tokens are among the prompt's, reasoning among the completion's."""
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": cached, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": reasoning, "audio_tokens": 0},
    }


def _anthropic(prompt: int, completion: int, cached: int, written: int, reasoning: int) -> dict[str, Any]:
    """`input_tokens` is what was neither read from the cache nor written to it; thinking is within the output, and told
    apart only where there was some."""
    thinking = {"output_tokens_details": {"thinking_tokens": reasoning}} if reasoning else {}
    return {
        "input_tokens": prompt - cached - written,
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": cached,
        "cache_creation": {"ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0},
        "output_tokens": completion,
        "service_tier": "standard",
        **thinking,
    }
