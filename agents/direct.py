"""Servers of one's own that speak OpenAI's wire format are asked through OpenAI's client: litellm, through which all
others are asked, spends ten times as much processor time on handing the same bytes over."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from pydantic import ValidationError

from rebind.agents.endpoint import Endpoint
from rebind.agents.provider import as_it_is, litellm
from rebind.agents.tap import Exchange, keep, listening
from rebind.types import Completion

KEYS = {"openai": "OPENAI_API_KEY", "hosted_vllm": "HOSTED_VLLM_API_KEY"}
"""Prefixes of litellm's that mean nothing but OpenAI's wire format, and where litellm finds the key of each."""
_THOUGHTS = re.compile(r"\s*<(think|thinking)>.*?</\1>", re.DOTALL)
"""Reasoning that a server left at the head of an answer; no part of it, as litellm has it too."""
_SHOWN = 200
"""Characters of a response that is shown in an error."""
_ALTERNATE = re.compile(r"roles (must alternate|should be alternating)", re.IGNORECASE)
"""How servers refuse two messages of one role in a row."""


def takes(endpoint: Endpoint) -> bool:
    """Whether an endpoint is asked without litellm, which must have nothing to say about its requests."""
    provider, _, name = endpoint.model.partition("/")
    if endpoint.api_base is None or endpoint.stream or provider not in KEYS:
        return False
    return as_it_is(provider, name)


def ask(endpoint: Endpoint, body: Mapping[str, Any], heard: list[Exchange]) -> Completion | None:
    """Sends a request as litellm takes it. The answer, without its usage; None where the response holds none. Every
    HTTP response is added to `heard` as it comes.

    Raises:
        openai.OpenAIError: what litellm makes of a failure.
    """
    from openai import APIStatusError, OpenAIError

    try:
        try:
            _send(endpoint, body, heard)
        except APIStatusError as error:
            if not _ALTERNATE.search(str(error)):
                raise
            _send(endpoint, {**body, "messages": alternating(body["messages"])}, heard)
        return _read(heard[-1])
    except OpenAIError as error:
        provider, _, name = endpoint.model.partition("/")
        # litellm knows how providers word an overflow or a policy; where it knows no better it raises another.
        raise litellm().exception_type(model=name, original_exception=error, custom_llm_provider=provider) from error


def _send(endpoint: Endpoint, body: Mapping[str, Any], heard: list[Exchange]) -> None:
    import httpx

    ours = ("model", "num_retries", "max_retries", "api_base", "api_key", "timeout", "extra_body")
    sent = {key: value for key, value in body.items() if key not in ours} | body.get("extra_body", {})
    provider, _, sent["model"] = endpoint.model.partition("/")
    # A server of one's own may ask for no key; OpenAI's client insists on having one.
    server = endpoint.api_base or "", endpoint.api_key or os.environ.get(KEYS[provider]) or "none"
    idle = _idle(*server)
    try:
        client = idle.pop()
    except IndexError:
        client = _client(*server)
    with listening(heard):
        try:
            client.post("/chat/completions", cast_to=httpx.Response, body=sent, options={"timeout": body["timeout"]})
        finally:
            idle.append(client)


@cache
def _idle(api_base: str, api_key: str) -> list[Any]:
    """Clients of a server that nobody uses, each with a connection that is kept: a pool for all would look after every
    connection at every request. (`pop` and `append` of a list are one act each.)"""
    return []


def _client(api_base: str, api_key: str) -> Any:
    import httpx
    from openai import OpenAI

    # The client takes httpx's too, though its types know httpx's successor alone.
    connection: Any = httpx.Client(verify=_certificates(), timeout=None, event_hooks={"response": [keep]})
    return OpenAI(base_url=api_base, api_key=api_key, max_retries=0, timeout=None, http_client=connection)


@cache
def _certificates() -> Any:
    """Read once: it takes tens of milliseconds."""
    import httpx

    return httpx.create_ssl_context()


def _read(heard: Exchange) -> Completion | None:
    """The answer in a response; None where its choices are not in OpenAI's form. Raises OpenAIError where it is no
    JSON, or another object."""
    from openai import OpenAIError

    payloads = heard.payloads()
    if not payloads:
        try:
            json.loads(bytes(heard.body))
        except ValueError as error:
            raise OpenAIError("the response is no JSON") from error
    elif "choices" not in payloads[0]:
        raise OpenAIError(f"the response has no 'choices': {str(payloads[0])[:_SHOWN]}")
    try:
        return _answer(payloads[0]["choices"][0])
    except (LookupError, AttributeError, TypeError, ValidationError):
        return None


def _answer(choice: Mapping[str, Any]) -> Completion:
    message = choice.get("message") or {}
    text = message.get("content") or message.get("refusal") or ""
    return Completion(
        text=_THOUGHTS.sub("", text, count=1) if text.lstrip()[:6] == "<think" else text,
        tool_calls=tuple(_call(call, n) for n, call in enumerate(message.get("tool_calls") or ())),
        finish=choice.get("finish_reason") or "stop",
    )


def _call(call: Mapping[str, Any], number: int) -> dict[str, Any]:
    """A native call in OpenAI's form, also where a server leaves the id out or gives arguments as an object."""
    function = call.get("function") or {}
    given = function.get("arguments") or ""
    arguments = given if isinstance(given, str) else json.dumps(given)
    named = {"name": function.get("name") or "", "arguments": arguments}
    return {"id": call.get("id") or f"call_{number}", "type": "function", "function": named}


def alternating(messages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Messages with an empty one of the other side between any two of one role."""
    other = {"user": "assistant", "assistant": "user"}
    spaced: list[Mapping[str, Any]] = []
    for message in messages:
        if spaced and spaced[-1]["role"] == message["role"] and message["role"] in other:
            spaced.append({"role": other[message["role"]], "content": ""})
        spaced.append(message)
    return spaced
