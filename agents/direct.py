"""Servers of one's own that speak OpenAI's wire format are asked without a client library: litellm, through which all
others are asked, spends twenty times as much processor time on handing the same bytes over."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from rebind.agents.connection import Unanswered, encoded, post, reaches
from rebind.agents.endpoint import Endpoint
from rebind.agents.provider import as_it_is, litellm
from rebind.agents.tap import Exchange
from rebind.types import Completion

KEYS = {"openai": "OPENAI_API_KEY", "hosted_vllm": "HOSTED_VLLM_API_KEY"}
"""Prefixes of litellm's that mean nothing but OpenAI's wire format, and where litellm finds the key of each."""
_THOUGHTS = re.compile(r"\s*<(think|thinking)>.*?</\1>", re.DOTALL)
"""Reasoning that a server left at the head of an answer; no part of it, as litellm has it too."""
_PATH = "/chat/completions"
_OK, _REDIRECTS = 200, 300
_OF_THE_BODY = ("content-encoding", "content-length", "transfer-encoding")
"""Headers that hold for the bytes as they came, not for their text."""
_SHOWN = 200
"""Characters of a response that is shown in an error."""
_ALTERNATE = re.compile(r"roles (must alternate|should be alternating)", re.IGNORECASE)
"""How servers refuse two messages of one role in a row."""


def takes(endpoint: Endpoint) -> bool:
    """Whether an endpoint is asked without litellm, which must have nothing to say about its requests."""
    provider, _, name = endpoint.model.partition("/")
    if endpoint.api_base is None or endpoint.stream or provider not in KEYS or not reaches(endpoint.api_base):
        return False
    return as_it_is(provider, name)


def ask(endpoint: Endpoint, body: Mapping[str, Any], heard: list[Exchange]) -> Completion | None:
    """Sends a request as litellm takes it, and waits for the answer `body["timeout"]` seconds at most. The answer,
    without its usage; None where the response holds none. Every HTTP response is added to `heard` as it comes.

    Raises:
        openai.OpenAIError: what litellm makes of a failure. TimeoutError: it took longer.
    """
    from openai import OpenAIError

    began = time.monotonic()
    try:
        try:
            _send(endpoint, body, heard)
        except _Refused as error:
            if not _ALTERNATE.search(error.message):
                raise
            left = body["timeout"] - (time.monotonic() - began)
            _send(endpoint, {**body, "messages": alternating(body["messages"]), "timeout": left}, heard)
        return _read(heard[-1])
    except (OpenAIError, Unanswered, _Refused) as error:
        provider, _, name = endpoint.model.partition("/")
        # litellm knows how providers word an overflow or a policy; where it knows no better it raises another.
        raise litellm().exception_type(model=name, original_exception=error, custom_llm_provider=provider) from error


def _send(endpoint: Endpoint, body: Mapping[str, Any], heard: list[Exchange]) -> None:
    ours = ("model", "num_retries", "max_retries", "api_base", "api_key", "timeout", "extra_body")
    sent = {key: value for key, value in body.items() if key not in ours} | body.get("extra_body", {})
    provider, _, sent["model"] = endpoint.model.partition("/")
    base, key = endpoint.api_base or "", endpoint.api_key or os.environ.get(KEYS[provider])
    got = post(base, _PATH, encoded(sent), key, body["timeout"], heard.append)
    if not _OK <= got.status < _REDIRECTS:
        raise _Refused(got, base)


class _Refused(Exception):
    """A response that is no answer, with what litellm looks at in the errors of OpenAI's client."""

    def __init__(self, got: Exchange, base: str) -> None:
        import httpx

        error = next(iter(got.payloads()), {}).get("error")
        said = error.get("message") if isinstance(error, dict) else None
        text = str(said or got.text.strip()[:_SHOWN])
        self.message = f"Error code: {got.status} - {text}" if text else f"Error code: {got.status}"
        super().__init__(self.message)
        self.status_code, self.body = got.status, error
        self.code = error.get("code") if isinstance(error, dict) else None
        kept = {name: value for name, value in got.headers.items() if name not in _OF_THE_BODY}
        asked = httpx.Request("POST", base + _PATH)
        self.response = httpx.Response(got.status, headers=kept, content=got.text, request=asked)


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
