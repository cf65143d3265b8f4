"""litellm, set up the one way Rebind uses it, and the prices it knows."""

from __future__ import annotations

import os
from functools import cache
from typing import Any


@cache
def litellm() -> Any:
    """The module, imported on first use (it takes seconds): no price table or tokenizers from the network, no advice
    printed."""
    # Read at import; without it the price table comes from the network.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm as module

    module.suppress_debug_info = True
    module.disable_hf_tokenizer_download = True
    return module


def price(model: str, prompt: int, completion: int) -> float | None:
    """US dollars of a call by litellm's local table; None where the price is unknown (local models have none)."""
    return _dollars(model, prompt_tokens=prompt, completion_tokens=completion)


def cost(model: str, usage: Any) -> float | None:
    """US dollars of an answered call, cached tokens at their own price; `usage` is litellm's. None where unknown."""
    return _dollars(model, usage_object=usage)


def _dollars(model: str, **counts: Any) -> float | None:
    module = litellm()
    if model not in module.model_cost and model.partition("/")[2] not in module.model_cost:
        return None  # litellm would take an unknown model of a known family for free
    try:
        return float(sum(module.cost_per_token(model=model, **counts)))
    except module.ModelNotMappedError:
        return None


@cache
def unsupported(model: str) -> tuple[str, ...]:
    """Decoding parameters that a model does not take, and that are therefore not sent to it."""
    taken = litellm().get_supported_openai_params(model=model) or ("temperature", "top_p", "seed")
    return tuple(p for p in ("temperature", "top_p", "seed") if p not in taken)


def supports_tools(model: str) -> bool:
    """Whether a model is known to do native tool calling. Local ones do not obey tools, so they are not."""
    return bool(litellm().supports_function_calling(model=model))
