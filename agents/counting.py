"""Prompt tokens of a request, before it is sent."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from http import HTTPStatus
from typing import Any

from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from rebind.agents.connection import Unanswered, encoded, post
from rebind.agents.endpoint import Endpoint
from rebind.agents.provider import litellm
from rebind.agents.wire import wire_message, wire_tool
from rebind.errors import ProviderError
from rebind.secrets import redact
from rebind.types import Request

_TIMEOUT = 60.0
_ATTEMPTS = 4
_SHOWN = 200
"""Characters of a response that is shown in an error."""
_REMEMBERED = 4096
"""Prompts whose count is known: the heads of a target's episodes are the same for every seed."""
_known: OrderedDict[bytes, int] = OrderedDict()
_lock = threading.Lock()


def count_prompt(endpoint: Endpoint, request: Request) -> int:
    """Tokens of the prompt, tools included. Exact where the server offers its template and tokenizer; by litellm's
    tokenizers elsewhere (for a provider that publishes none, an estimate).

    Raises:
        ProviderError: the server did not count.
    """
    messages = [wire_message(m) for m in request.messages]
    tools = [wire_tool(t) for t in request.tools]
    asked = json.dumps([endpoint.model, endpoint.api_base, endpoint.known_by, messages, tools], sort_keys=True)
    key = hashlib.sha256(asked.encode("utf-8", "surrogatepass")).digest()
    with _lock:
        if (known := _known.get(key)) is not None:
            _known.move_to_end(key)
            return known
    count = _counted(endpoint, messages, tools)
    with _lock:
        _known[key] = count
        while len(_known) > _REMEMBERED:
            _known.popitem(last=False)
    return count


def _counted(endpoint: Endpoint, messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> int:
    if not endpoint.tokenizes:
        return int(litellm().token_counter(model=endpoint.model, messages=messages, tools=tools or None))
    body: dict[str, Any] = {"messages": messages}
    if tools:
        body["tools"] = tools
    prompt = _post(endpoint, "/apply-template", body)["prompt"]
    return len(_post(endpoint, "/tokenize", {"content": prompt, "add_special": True, "parse_special": True})["tokens"])


def _post(endpoint: Endpoint, path: str, body: dict[str, Any]) -> Any:
    """Asks a llama.cpp server; its own paths lie beside /v1, not below it."""
    base = (endpoint.api_base or "").removesuffix("/v1")
    retrying = Retrying(
        stop=stop_after_attempt(_ATTEMPTS),
        wait=wait_random_exponential(multiplier=0.2, max=5),
        retry=retry_if_exception_type((Unanswered, TimeoutError)),
        reraise=True,
    )
    try:
        got = retrying(post, base, path, encoded(body), endpoint.api_key, _TIMEOUT)
    except (Unanswered, TimeoutError) as error:
        why = str(error)
    else:
        if got.status == HTTPStatus.OK and got.payloads():
            return got.payloads()[0]
        why = f"it answered {got.status}: {got.text[:_SHOWN]}"
    raise ProviderError(redact(f"{endpoint.model} could not count tokens: {why}", endpoint.api_key))
