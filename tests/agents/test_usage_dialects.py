"""Token counts in the words of each provider: all of the prompt, all of the output, and parts within their wholes."""

from __future__ import annotations

from typing import Any

import pytest

from rebind.agents.usage import normalised, raw_usage
from rebind.types import Usage

Json = dict[str, Any]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        # OpenAI: a part of each count is named in its details.
        (
            {
                "prompt_tokens": 2006, "completion_tokens": 300, "total_tokens": 2306,
                "prompt_tokens_details": {"cached_tokens": 1920},
                "completion_tokens_details": {"reasoning_tokens": 192},
            },
            Usage(prompt=2006, completion=300, cached=1920, reasoning=192),
        ),
        # Anthropic: what was read from the cache, and what was written to it, stand beside the input.
        (
            {
                "input_tokens": 21, "cache_creation_input_tokens": 188086, "cache_read_input_tokens": 50,
                "output_tokens": 393,
            },
            Usage(prompt=188157, completion=393, cached=50),
        ),
        (
            {"input_tokens": 12, "output_tokens": 90, "output_tokens_details": {"thinking_tokens": 70}},
            Usage(prompt=12, completion=90, reasoning=70),
        ),
        ({"input_tokens": 12, "cache_read_input_tokens": None, "output_tokens": 6}, Usage(prompt=12, completion=6)),
        # OpenAI's Responses: Anthropic's names, OpenAI's meaning.
        (
            {
                "input_tokens": 36, "input_tokens_details": {"cached_tokens": 30}, "output_tokens": 87,
                "output_tokens_details": {"reasoning_tokens": 64}, "total_tokens": 123,
            },
            Usage(prompt=36, completion=87, cached=30, reasoning=64),
        ),
        # DeepSeek: hits and misses of its cache sum to the prompt.
        (
            {
                "prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107, "prompt_cache_hit_tokens": 64,
                "prompt_cache_miss_tokens": 36,
            },
            Usage(prompt=100, completion=7, cached=64),
        ),
        # xAI: reasoning stands beside the completion; the total says so.
        (
            {
                "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 115,
                "completion_tokens_details": {"reasoning_tokens": 100},
            },
            Usage(prompt=10, completion=105, reasoning=100),
        ),
        # Gemini through OpenAI's format: thoughts are in the total alone.
        ({"prompt_tokens": 758, "completion_tokens": 102, "total_tokens": 1725}, Usage(prompt=758, completion=967)),
        # Gemini: thoughts beside the candidates, cached content within the prompt, tool results beside it.
        (
            {
                "promptTokenCount": 50, "cachedContentTokenCount": 40, "candidatesTokenCount": 8,
                "thoughtsTokenCount": 30, "toolUsePromptTokenCount": 5, "totalTokenCount": 93,
            },
            Usage(prompt=55, completion=38, cached=40, reasoning=30),
        ),
        (
            {"promptTokenCount": 50, "thoughtsTokenCount": 30, "totalTokenCount": 80},
            Usage(prompt=50, completion=30, reasoning=30),
        ),
        # Bedrock: beside the input, as with Anthropic.
        (
            {
                "inputTokens": 5, "cacheReadInputTokens": 100, "cacheWriteInputTokens": 20, "outputTokens": 9,
                "totalTokens": 134,
            },
            Usage(prompt=125, completion=9, cached=100),
        ),
        # Cohere and Ollama.
        ({"billed_units": {"input_tokens": 5}, "tokens": {"input_tokens": 71, "output_tokens": 4}},
         Usage(prompt=71, completion=4)),
        ({"prompt_eval_count": 26, "eval_count": 290}, Usage(prompt=26, completion=290)),
        ({"eval_count": 290}, Usage(completion=290)),
    ],
)  # fmt: skip
def test_each_providers_words_come_to_the_same_counts(raw: Json, expected: Usage) -> None:
    """A usage object as the provider documents it has its whole prompt, its whole output, and parts within them."""
    assert normalised(raw).usage == expected


@pytest.mark.parametrize("raw", [None, {}, {"cost": 0.1}, {"prompt_tokens": None, "completion_tokens": None}])
def test_what_was_not_said_is_none(raw: Json | None) -> None:
    """No usage, an empty one, one in unknown words, and one of nulls leave every count None."""
    assert normalised(raw).usage == Usage()


@pytest.mark.parametrize("wrong", [-1, True, "12", 1.5, float("nan"), [3]])
def test_what_is_no_count_is_none(wrong: Any) -> None:
    """A count that is negative, a truth value, a text, a fraction or a list is not one; the other stays."""
    assert normalised({"prompt_tokens": wrong, "completion_tokens": 4.0}).usage == Usage(completion=4)


def test_tokens_written_to_the_cache_are_told_apart_for_their_price() -> None:
    """Anthropic's cache writes are a part of the prompt that has a price of its own."""
    assert normalised({"input_tokens": 1, "cache_creation_input_tokens": 7, "output_tokens": 2}).written == 7


def test_the_last_word_of_a_stream_stands() -> None:
    """Of counts that come more than once, as running totals do, the last one that is no null counts."""
    payloads = [
        {"usage": {"prompt_tokens": 9, "completion_tokens": 1}},
        {"usage": None},
        {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4}},
    ]
    assert raw_usage(payloads) == {"prompt_tokens": 9, "completion_tokens": 4}
    assert raw_usage([{"choices": []}]) is None
