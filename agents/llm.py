"""THE door to a model: every request of every part goes through `LLM`, and every HTTP attempt leaves a row."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from pydantic import JsonValue
from tenacity import RetryCallState, Retrying, retry_if_exception_type, wait_random_exponential

from rebind.agents import local
from rebind.agents.cache import ResponseCache, answer_key
from rebind.agents.counting import count_prompt
from rebind.agents.endpoint import Endpoint
from rebind.agents.limiter import Limiter, Slots, Told
from rebind.agents.provider import near_names, price, supports_tools, unsupported
from rebind.agents.wire import Outcome, attempt
from rebind.errors import ContextOverflow, ModelError, ProviderError, ProviderRefused
from rebind.types import Attempt, Completion, Request

__all__ = ["LLM", "price", "supports_tools"]

SIMULATED = "simulated/"
_ADVICE = {
    401: "set the key that litellm reads for this provider",
    403: "this key may not use this model",
    404: "check the model's name as litellm writes it, and api_base",
}
"""What to do about a refusal that no other request would escape, by HTTP status."""
_EMPTY_TRIES = 3
"""Attempts after which an empty answer is taken as the model's own."""
_LONGEST_WAIT = 300.0
"""Seconds waited at most between two attempts, whatever Retry-After says."""


class _Again(Exception):
    """An attempt worth repeating."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.attempt.error)
        self.outcome = outcome


@dataclass
class _Asked:
    """One request on its way to an answer."""

    request: Request
    endpoint: Endpoint
    seconds: float
    """Wall time of one attempt."""
    made: list[Attempt] = field(default_factory=list)

    def lost(self, state: RetryCallState) -> float:
        """Seconds that failed attempts and the waits between them took so far; waiting for a slot is none of it."""
        return float(state.idle_for) + sum(a.ms for a in self.made) / 1000


class LLM:
    """A `rebind.types.Model` over all models: hosted ones by their litellm names, `local/<name>` (started on first
    use), and any server given in `endpoints`. Thread-safe."""

    def __init__(
        self,
        endpoints: Mapping[str, Endpoint] | None = None,
        *,
        cache_folder: Path | None = None,
        attempts: int = 6,
        concurrency: int = 16,
        timeout: float | None = None,
        patience: float | None = None,
        backoff: float = 1.0,
        local_settings: local.LocalSettings | None = None,
    ) -> None:
        """`endpoints` by model name. `cache_folder`: where answers are kept for replay; None for no cache. `attempts`,
        `concurrency`: per request, and per provider at once. `timeout`: wall seconds of one attempt; None for the
        endpoint's own. `patience`: seconds lost to failed attempts and waits after which a request is given up, and the
        most that one attempt gets; None for no such limit. `backoff`: seconds, doubled with each attempt, of which a
        random part is waited."""
        self._endpoints = dict(endpoints or {})
        self._cache = ResponseCache(cache_folder) if cache_folder else None
        self._attempts = attempts
        self._concurrency = concurrency
        self._timeout = timeout
        self._patience = patience
        self._backoff = wait_random_exponential(multiplier=backoff, max=60)
        self._local_settings = local_settings
        self._limiters: dict[str, Slots] = {}
        self._lock = threading.Lock()
        self._spent = 0.0
        self._unpriced = 0
        self.on_limit: Callable[[str, int, str], None] | None = None
        """Told of each change of how many requests a provider may have under way: provider, limit, why."""
        self.limiter: Callable[[str, int, Told], Slots] = lambda _provider, most, told: Limiter(most, told)
        """Makes what limits a provider's requests, of its name and the most that may be under way, on the first
        request to it: for several processes that share a limit."""

    @property
    def spent(self) -> float:
        """US dollars of all attempts so far, as far as prices and usage are known."""
        return self._spent

    @property
    def unpriced(self) -> int:
        """Answers that came without what they cost: no usage counts, or a model without a price."""
        return self._unpriced

    @property
    def limited(self) -> dict[str, int]:
        """Requests that may be under way at once, by provider, where that is less than was allowed."""
        with self._lock:
            return {name: one.limit for name, one in self._limiters.items() if one.limit < one.most}

    def charge(self, dollars: float, unpriced: int) -> None:
        """Adds to `spent` and `unpriced`: this door's own attempts, and those that another process made for it."""
        with self._lock:
            self._spent += dollars
            self._unpriced += unpriced

    def complete(self, request: Request, *, timeout: float | None = None) -> Completion:
        """Answers a request, from the cache where it was answered before.

        Raises:
            ProviderRefused: the provider knows no such key, model or address.
            ProviderError: the request was refused, or not answered after all attempts.
            ContextOverflow: the prompt does not fit into the model's context window.
            ModelError: a model name that leads nowhere, or a local model that cannot be had.
        """
        endpoint = self.endpoint(request.model)
        key = answer_key(request, endpoint) if self._cache else None
        if key and self._cache and (stored := self._cache.get(key)):
            return stored
        asked = _Asked(request, endpoint, self._seconds(timeout, endpoint))
        try:
            answer = self._try(asked)
        except _Again as first:
            answer = self._retried(asked, first)
        completion = answer.model_copy(update={"attempts": tuple(asked.made)})
        if key and self._cache:
            self._cache.put(key, completion)
        return completion

    def count(self, request: Request) -> int:
        """Prompt tokens of a request: by the model's own tokenizer and template where its server offers them, else by
        litellm's table of tokenizers. Raises `ProviderError` where a server that should count does not."""
        return count_prompt(self.endpoint(request.model), request)

    def endpoint(self, model: str) -> Endpoint:
        """Where a model answers; starts the server of a local one. Raises `ModelError`, `InfraError`."""
        if model in self._endpoints:
            return self._endpoints[model]
        if model.startswith(local.PREFIX):
            return local.serve(model.removeprefix(local.PREFIX), self._local_settings).endpoint
        if model.startswith(SIMULATED):
            raise ModelError(f"{model}: a simulated model is a server of this process; pass its endpoint to LLM")
        return Endpoint(model=model)

    def identity(self, model: str) -> dict[str, JsonValue]:
        """What decides a model's answers besides the request, and what of the decoding it does not take: for a lock."""
        endpoint = self.endpoint(model)
        return {"model": model, **endpoint.known_by, "not_sent": list(unsupported(endpoint.model))}

    def _seconds(self, asked_for: float | None, endpoint: Endpoint) -> float:
        """Wall time of one attempt."""
        return min(asked_for or self._timeout or endpoint.timeout, self._patience or math.inf)

    def _try(self, asked: _Asked) -> Completion:
        """One attempt, within the provider's limit; raises what says how to go on."""
        request, made = asked.request, asked.made
        limiter = self._limiter(asked.endpoint)
        with limiter.slot() as epoch:
            outcome = attempt(asked.endpoint, request, asked.seconds)
        made += [*outcome.earlier, outcome.attempt]
        spent = sum(a.cost or 0.0 for a in (*outcome.earlier, outcome.attempt))
        self.charge(spent, outcome.completion is not None and outcome.attempt.cost is None)
        if outcome.retry_after:
            limiter.pause(min(_LONGEST_WAIT, outcome.retry_after))
        if outcome.crowded:
            limiter.cut(epoch, str(outcome.attempt.status or "timeout"))
        match outcome.verdict:
            case "overflow":
                said = f"the prompt outgrew the context of {request.model}: {outcome.attempt.error}"
                raise ContextOverflow(said, tuple(made))
            case "refused":
                kind = ProviderRefused if outcome.attempt.status in _ADVICE else ProviderError
                raise kind(_refusal(asked.endpoint.model, outcome.attempt), tuple(made))
            case "retry":
                raise _Again(outcome)
            case "empty" if sum(a.error == outcome.attempt.error for a in made) < _EMPTY_TRIES:
                raise _Again(outcome)
            case _:
                assert outcome.completion is not None  # there for "answered" and "empty"
                if outcome.verdict == "empty":  # asked often enough: it is the model's answer, not a fault
                    made[-1] = outcome.attempt.model_copy(update={"error": None})
                limiter.grow()
                return outcome.completion

    def _retried(self, asked: _Asked, first: _Again) -> Completion:
        """The answer to a request whose first attempt did not bring it. Raises as `complete`."""
        failed = [first]

        def again() -> Completion:
            if failed:  # counts as tenacity's first attempt, of which most requests need no other
                raise failed.pop()
            return self._try(asked)

        retrying = Retrying(
            stop=lambda state: len(asked.made) >= self._attempts or asked.lost(state) >= (self._patience or math.inf),
            wait=self._wait,
            retry=retry_if_exception_type(_Again),
            reraise=True,
        )
        try:
            return retrying(again)
        except _Again as last:
            said = f"{asked.request.model} did not answer in {len(asked.made)} attempts: {last}"
            raise ProviderError(said, tuple(asked.made)) from None

    def _wait(self, state: RetryCallState) -> float:
        """Seconds before the next attempt: what the provider asked for, and never less than the backoff."""
        error = state.outcome.exception() if state.outcome else None
        asked = error.outcome.retry_after if isinstance(error, _Again) else None
        return min(_LONGEST_WAIT, max(asked or 0.0, self._backoff(state)))

    def _limiter(self, endpoint: Endpoint) -> Slots:
        provider, most = endpoint.provider, min(self._concurrency, endpoint.concurrency or self._concurrency)
        with self._lock:
            if provider not in self._limiters:
                self._limiters[provider] = self.limiter(provider, most, partial(self._limited, provider))
            return self._limiters[provider]

    def _limited(self, provider: str, limit: int, why: str) -> None:
        if self.on_limit is not None:
            self.on_limit(provider, limit, why)


def _refusal(model: str, row: Attempt) -> str:
    """Why a provider would not answer, and what to do."""
    advice = _ADVICE.get(row.status or 0, "the request itself is not accepted")
    if row.status == 404:
        advice += near_names(model)
    return f"{model} refused the request ({row.status or 'no response'}): {advice}; it said: {row.error}"
