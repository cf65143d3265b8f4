"""Token counts as providers spell them, brought to one form: `prompt` is all of the input, `cached` a part of it;
`completion` is all of the output, `reasoning` a part of it. What was not said is None."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from rebind.types import Usage

Raw = Mapping[str, Any]

_PLACES = (("usage",), ("usageMetadata",), ("message", "usage"), ("response", "usage"), ("error", "usage"))
"""Where a payload holds its usage: OpenAI and most; Gemini; Anthropic's first event; OpenAI's Responses; an error."""
_OLLAMA = ("prompt_eval_count", "eval_count")
"""At the top of Ollama's payloads."""


class Counts(NamedTuple):
    """What one response used."""

    usage: Usage
    written: int | None = None
    """Prompt tokens written to the provider's cache, a part of `usage.prompt` with a price of its own."""


def raw_usage(payloads: Iterable[Raw]) -> dict[str, Any] | None:
    """The usage object of a response; of a stream the last word on each count. None where none was sent."""
    merged: dict[str, Any] = {}
    for payload in payloads:
        for found in _usages(payload):
            merged |= {key: value for key, value in found.items() if value is not None or key not in merged}
    return merged or None


def _usages(payload: Raw) -> Iterator[Raw]:
    for place in _PLACES:
        found: Any = payload.get(place[0])
        if found is None:
            continue
        for key in place[1:]:
            found = found.get(key) if isinstance(found, dict) else None
        if isinstance(found, dict):
            # The output count of Anthropic's first event is provisional; the counts of the last one are totals.
            first = place[0] == "message" and payload.get("type") == "message_start"
            yield {k: v for k, v in found.items() if not (first and k == "output_tokens")}
    if ollama := {key: payload[key] for key in _OLLAMA if key in payload}:
        yield ollama


def normalised(raw: Raw | None) -> Counts:
    """The counts of a usage object in any of the dialects that litellm reaches; all None where it is none of them."""
    if not raw:
        return Counts(Usage())
    if isinstance(tokens := raw.get("tokens"), dict):  # Cohere
        raw = tokens
    for keys, read in _DIALECTS:
        if any(key in raw for key in keys):
            return read(raw)
    return Counts(Usage())


def _plain(raw: Raw, prompt: str, completion: str) -> Counts:
    """Cached tokens within the prompt, reasoning within the completion, each named in details."""
    return Counts(
        Usage(
            prompt=_count(raw, prompt),
            completion=_count(raw, completion),
            cached=_count(_details(raw, prompt), "cached_tokens"),
            reasoning=_count(_details(raw, completion), "reasoning_tokens"),
        ),
        _count(_details(raw, prompt), "cache_write_tokens"),
    )


def _openai(raw: Raw) -> Counts:
    usage, written = _plain(raw, "prompt_tokens", "completion_tokens")
    changed: dict[str, int] = {}
    if usage.cached is None and (hit := _count(raw, "prompt_cache_hit_tokens")) is not None:  # DeepSeek
        changed["cached"] = hit
    total, prompt, completion = _count(raw, "total_tokens"), usage.prompt, usage.completion
    if total is not None and prompt is not None and completion is not None:
        # xAI, and Gemini in OpenAI's dress, count reasoning beside the completion; only the total says so.
        beside = total - prompt - completion
        if beside > 0 and usage.reasoning in (None, beside):
            changed["completion"] = completion + beside
    return Counts(usage.model_copy(update=changed) if changed else usage, written)


def _apart(raw: Raw, prompt: str, completion: str, read: str, write: str) -> Counts:
    """Tokens read from the cache, and those written to it, stand beside the prompt's."""
    fresh, cached, written = _count(raw, prompt), _count(raw, read), _count(raw, write)
    whole = None if fresh is None else fresh + (cached or 0) + (written or 0)
    reasoning = _count(_details(raw, completion), "thinking_tokens")
    usage = Usage(prompt=whole, completion=_count(raw, completion), cached=cached, reasoning=reasoning)
    return Counts(usage, written)


def _gemini(raw: Raw) -> Counts:
    """Thoughts stand beside the answer's tokens. A count of 0 is left out of the JSON, so that the total decides."""
    prompt, total = _count(raw, "promptTokenCount"), _count(raw, "totalTokenCount")
    prompt = None if prompt is None else prompt + (_count(raw, "toolUsePromptTokenCount") or 0)
    answer, thoughts = _count(raw, "candidatesTokenCount"), _count(raw, "thoughtsTokenCount")
    completion = None if answer is None else answer + (thoughts or 0)
    if completion is None and prompt is not None and total is not None and total >= prompt:
        completion = total - prompt
    cached = _count(raw, "cachedContentTokenCount")
    return Counts(Usage(prompt=prompt, completion=completion, cached=cached, reasoning=thoughts))


def _details(raw: Raw, name: str) -> Raw:
    found = raw.get(f"{name}_details")
    return found if isinstance(found, dict) else {}


def _count(raw: Raw, key: str) -> int | None:
    """A count is a whole number from 0 on, also one written as 12.0."""
    value = raw.get(key)
    if type(value) is int and value >= 0:
        return value
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0 or value != value // 1:
        return None
    return int(value)


def _input_output(raw: Raw) -> Counts:
    """OpenAI's Responses have details of the input, with cached tokens as a part; Anthropic's messages have none."""
    if isinstance(raw.get("input_tokens_details"), dict):
        return _plain(raw, "input_tokens", "output_tokens")
    return _apart(raw, "input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def _bedrock(raw: Raw) -> Counts:
    return _apart(raw, "inputTokens", "outputTokens", "cacheReadInputTokens", "cacheWriteInputTokens")


def _ollama(raw: Raw) -> Counts:
    return _plain(raw, *_OLLAMA)


_DIALECTS: tuple[tuple[tuple[str, ...], Callable[[Raw], Counts]], ...] = (
    (("promptTokenCount",), _gemini),
    (("prompt_tokens", "completion_tokens"), _openai),
    (("inputTokens", "outputTokens"), _bedrock),
    (("input_tokens", "output_tokens"), _input_output),
    (_OLLAMA, _ollama),
)
"""By the keys that a usage object has any of."""
