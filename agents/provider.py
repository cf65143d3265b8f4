"""litellm, set up the one way Rebind uses it, and the prices it knows."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import cache
from typing import Any

from rebind.agents.tap import install
from rebind.errors import ModelError, did_you_mean
from rebind.types import Usage

_RATES = (
    "input_cost_per_token", "cache_read_input_token_cost", "cache_creation_input_token_cost", "output_cost_per_token",
)  # fmt: skip
_SPECIAL = re.compile(r"above_\d+k|tiered|reasoning_token|per_second|per_character|per_query_token|off_peak|regional")
"""Keys of prices that depend on more than four counts."""


@cache
def litellm() -> Any:
    """The module, imported on first use (it takes seconds): no price table or tokenizers from the network, no advice
    printed."""
    # Read at import and on use; without them price table and header names come from the network.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS", "True")
    import litellm as module

    module.suppress_debug_info = True
    module.disable_hf_tokenizer_download = True
    install(module)
    return module


def price(model: str, prompt: int, completion: int) -> float | None:
    """US dollars of a call by litellm's local table; None where the price is unknown (local models have none)."""
    return _dollars(model, prompt_tokens=prompt, completion_tokens=completion)


def cost(model: str, usage: Usage, written: int | None = None) -> float | None:
    """US dollars of an answered call, tokens read from a cache, and the `written` ones, at their own price. None where
    the price is unknown, or a count that it needs."""
    if usage.prompt is None or usage.completion is None:
        return None
    read, made = usage.cached or 0, written or 0
    counts = (usage.prompt - read - made, read, made, usage.completion)
    rates = flat_rates(model)
    if rates and all(rate is not None for count, rate in zip(counts, rates, strict=True) if count):
        return sum(count * (rate or 0.0) for count, rate in zip(counts, rates, strict=True))
    if not _known(model):
        return None
    details = {"cached_tokens": read, "cache_creation_tokens": made}
    said = litellm().Usage(
        prompt_tokens=usage.prompt,
        completion_tokens=usage.completion,
        total_tokens=usage.prompt + usage.completion,
        reasoning_tokens=usage.reasoning,
        prompt_tokens_details=details,
        cache_read_input_tokens=read,
        cache_creation_input_tokens=made,
    )
    return _dollars(model, usage_object=said)


@cache
def flat_rates(model: str) -> tuple[float | None, ...] | None:
    """Dollars of a fresh, a cache-read, a cache-written and an output token, where that is all of a model's price in
    litellm's table; None for a rate that is not there. None for all where a price depends on more (length, reasoning
    apart), or is unknown: litellm computes those, which takes a hundred times as long."""
    table = litellm().model_cost
    row = table.get(model) or table.get(model.partition("/")[2])
    if not row or row.get("mode") != "chat" or any(_SPECIAL.search(key) for key in row):
        return None
    rates = tuple(row.get(key) for key in _RATES)
    return rates if all(isinstance(rate, float) for rate in (rates[0], rates[-1])) else None


def _dollars(model: str, **counts: Any) -> float | None:
    module = litellm()
    if not _known(model):
        return None
    try:
        return float(sum(module.cost_per_token(model=model, **counts)))
    except module.ModelNotMappedError:
        return None


def _known(model: str) -> bool:
    """Whether litellm's table has the model; it would take an unknown one of a known family for free."""
    table = litellm().model_cost
    return model in table or model.partition("/")[2] in table


@cache
def unsupported(model: str) -> tuple[str, ...]:
    """Decoding parameters that a model does not take, and that are therefore not sent to it."""
    taken = litellm().get_supported_openai_params(model=model) or ("temperature", "top_p", "seed")
    return tuple(p for p in ("temperature", "top_p", "seed") if p not in taken)


@cache
def as_it_is(provider: str, model: str) -> bool:
    """Whether litellm would hand a request for the model on unchanged: no parameter renamed, moved or refused."""
    asked: dict[str, Any] = {
        "max_tokens": 1,
        "temperature": 0.5,
        "top_p": 0.5,
        "seed": 1,
        "tools": [{"type": "function", "function": {"name": "f", "description": "", "parameters": {"type": "object"}}}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {}, "strict": False}},
    }
    module = litellm()
    try:
        sent = module.utils.get_optional_params(model=model, custom_llm_provider=provider, **asked)
    except module.UnsupportedParamsError:
        return False
    return {key: value for key, value in sent.items() if value} == asked


def supports_tools(model: str) -> bool:
    """Whether a model is known to do native tool calling. Local ones do not obey tools, so they are not."""
    return bool(litellm().supports_function_calling(model=model))


def check_model(model: str, api_base: str | None) -> None:
    """Refuses what no request could mend, before any is made.

    Raises:
        ModelError: litellm knows no provider for the name, or the key of its provider is not set.
    """
    module = litellm()
    try:
        provider = module.get_llm_provider(model=model, api_base=api_base)[1]
    except module.BadRequestError:
        raise ModelError(
            f"no provider is known for the model {model!r}: write it as litellm does, PROVIDER/NAME{near_names(model)}"
        ) from None
    if api_base is not None:
        return
    missing = module.validate_environment(model=model)["missing_keys"]
    # Providers that want more than one variable, or another kind, have ways to sign in that litellm does not list.
    if len(missing) == 1 and missing[0].endswith("_API_KEY"):
        raise ModelError(f"{model}: {provider} needs a key; set the environment variable {missing[0]}")


def near_names(model: str) -> str:
    """A suffix that suggests how a model's name was meant, from litellm's table; empty where nothing is near."""
    module = litellm()
    provider, slash, name = model.partition("/")
    known = module.models_by_provider
    if not slash:
        return near(model, module.model_cost)
    if provider not in known:
        return near(f"{provider}/", (f"{p}/" for p in known)) or near(model, module.model_cost)
    return near(name, (n.removeprefix(f"{provider}/") for n in known[provider]))


def near(word: str, known: Iterable[str]) -> str:
    """`did_you_mean`, but nothing where nothing is near: litellm's lists are too long to be shown."""
    names = set(known)
    said = "" if word in names else did_you_mean(word, names)
    return said if "did you mean" in said else ""
