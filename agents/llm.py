"""THE door to a model: every request of every part goes through `LLM`, and every HTTP attempt leaves a row."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path

from pydantic import JsonValue
from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from rebind.agents import local
from rebind.agents.cache import ResponseCache
from rebind.agents.counting import count_prompt
from rebind.agents.endpoint import Endpoint
from rebind.agents.limiter import Limiter
from rebind.agents.provider import price, supports_tools, unsupported
from rebind.agents.wire import Outcome, attempt
from rebind.canon import digest
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
        backoff: float = 1.0,
        local_settings: local.LocalSettings | None = None,
    ) -> None:
        """`endpoints` by model name. `cache_folder`: where answers are kept for replay; None for no cache. `attempts`,
        `concurrency`: per request, and per model at once. `timeout`: wall seconds of one attempt; None for the
        endpoint's own. `backoff`: seconds, doubled with each attempt, of which a random part is waited."""
        self._endpoints = dict(endpoints or {})
        self._cache = ResponseCache(cache_folder) if cache_folder else None
        self._attempts = attempts
        self._concurrency = concurrency
        self._timeout = timeout
        self._backoff = wait_random_exponential(multiplier=backoff, max=60)
        self._local_settings = local_settings
        self._limiters: dict[str, Limiter] = {}
        self._lock = threading.Lock()

    def complete(self, request: Request, *, timeout: float | None = None) -> Completion:
        """Answers a request, from the cache where it was answered before.

        Raises:
            ProviderRefused: the provider knows no such key, model or address.
            ProviderError: the request was refused, or not answered after all attempts.
            ContextOverflow: the prompt does not fit into the model's context window.
            ModelError: a model name that leads nowhere, or a local model that cannot be had.
        """
        endpoint = self.endpoint(request.model)
        key = self._key(request, endpoint)
        if key and self._cache and (stored := self._cache.get(key)):
            return stored
        made: list[Attempt] = []
        again = retry_if_exception_type(_Again)
        retrying = Retrying(stop=stop_after_attempt(self._attempts), wait=self._wait, retry=again, reraise=True)
        try:
            answer = retrying(self._try, request, endpoint, timeout or self._timeout or endpoint.timeout, made)
        except _Again as last:
            said = f"{request.model} did not answer in {len(made)} attempts: {last}"
            raise ProviderError(said, tuple(made)) from None
        completion = answer.model_copy(update={"attempts": tuple(made)})
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

    def _key(self, request: Request, endpoint: Endpoint) -> str | None:
        """Where the answer is kept; None for a request that asks for a fresh sample (no seed, no zero temperature)."""
        decoding = request.decoding
        if decoding.seed is None and decoding.temperature > 0:
            return None
        return digest({"request": request.model_dump(mode="json"), "endpoint": endpoint.known_by})

    def _try(self, request: Request, endpoint: Endpoint, seconds: float, made: list[Attempt]) -> Completion:
        """One attempt, within the model's limit; raises what says how to go on."""
        limiter = self._limiter(request.model, endpoint)
        with limiter.slot():
            outcome = attempt(endpoint, request, seconds)
        made.append(outcome.attempt)
        if outcome.too_many:
            limiter.cut()
        match outcome.verdict:
            case "overflow":
                said = f"the prompt outgrew the context of {request.model}: {outcome.attempt.error}"
                raise ContextOverflow(said, tuple(made))
            case "refused":
                kind = ProviderRefused if outcome.attempt.status in _ADVICE else ProviderError
                raise kind(_refusal(request.model, outcome.attempt), tuple(made))
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

    def _wait(self, state: RetryCallState) -> float:
        """Seconds before the next attempt: what the provider asked for, and never less than the backoff."""
        error = state.outcome.exception() if state.outcome else None
        asked = error.outcome.retry_after if isinstance(error, _Again) else None
        return min(_LONGEST_WAIT, max(asked or 0.0, self._backoff(state)))

    def _limiter(self, model: str, endpoint: Endpoint) -> Limiter:
        with self._lock:
            if model not in self._limiters:
                self._limiters[model] = Limiter(min(self._concurrency, endpoint.concurrency or self._concurrency))
            return self._limiters[model]


def _refusal(model: str, row: Attempt) -> str:
    """Why a provider would not answer, and what to do."""
    advice = _ADVICE.get(row.status or 0, "the request itself is not accepted")
    return f"{model} refused the request ({row.status or 'no response'}): {advice}; it said: {row.error}"
