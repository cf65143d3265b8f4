"""The acting agent: builds the prompt, asks the model once a turn, and accounts for every call."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from rebind.agents.head import form, head
from rebind.agents.parse import parse
from rebind.agents.schema import Schema, action_schema, tools_found, values_seen
from rebind.agents.settings import ActorSettings
from rebind.agents.turns import answered, returned
from rebind.errors import ContextOverflow, ProviderError
from rebind.prompts import render
from rebind.types import Action, Attempt, Completion, Frozen, Message, Model, Request, Support, ToolSpec

CallRow = dict[str, Any]
"""The data of a ledger's `call` event, as JSON. A call that was not answered has a last attempt with an error."""


class Turn(Frozen):
    """What the model decided. `problem` is what it is told where its answer was no action."""

    action: Action | None
    thought: str
    problem: str
    tokens: int | None
    """Prompt and completion tokens of the call; None where the provider did not tell them."""
    cost: float | None = 0.0
    """US dollars of all its attempts; None where the price or the usage of the answer is not known."""
    lost: float = 0.0
    """Seconds that went to failed attempts, waits between them and waiting for a slot: the provider's, not the
    agent's."""


class Actor:
    """One agent in one episode. Its prompt only grows, so that a prefix cache keeps all of it."""

    def __init__(
        self,
        model: Model,
        settings: ActorSettings,
        *,
        goal: str,
        tools: Sequence[ToolSpec],
        support: Support,
        on_call: Callable[[CallRow], None],
    ) -> None:
        """`tools` are the environment's, those for the support's skills among them. `on_call` gets a row per call."""
        self._skills = {s.name for s in support.skills}
        if missing := self._skills - {t.name for t in tools}:
            raise ValueError(f"no tools for {sorted(missing)}: pass the tools of the environment that runs skills")
        self._model, self._settings = model, settings
        self._goal, self._tools, self._support = goal, tuple(tools), support
        self._on_call = on_call
        self._observations: list[str] = []
        self._messages: list[Message] = []
        self._last: Request | None = None
        self._calls = 0
        self._mem_tokens = 0

    def act(self, observation: str) -> Turn:
        """Decides on the next action, having seen an observation: the first one, or what the last action brought.

        Raises:
            ContextOverflow: the prompt outgrew the model's context.
            ProviderError: the model did not answer.
        """
        if self._messages:
            self._messages.append(returned(self._messages[-1], observation))
        else:
            self._messages = head(self._settings, self._goal, observation, self._tools, self._support)
            self._mem_tokens = self._count_support(observation)
        self._observations.append(observation)
        began = time.monotonic()
        completion = self._ask(self._request(self._messages, self._tools, self._schema()))
        lost = time.monotonic() - began - (completion.attempts[-1].ms / 1000 if completion.attempts else 0.0)
        named = [t.name for t in self._tools] if self._settings.strict_tools else None
        parsed = parse(completion, self._settings.protocol, named)
        self._messages.append(answered(completion, understood=parsed.action is not None))
        sent, written = completion.usage.prompt, completion.usage.completion
        return Turn(
            action=parsed.action,
            thought=parsed.thought,
            problem=self._correction(parsed.problem),
            tokens=None if sent is None or written is None else sent + written,
            cost=_dollars(completion.attempts),
            lost=max(0.0, lost),
        )

    def _count_support(self, observation: str) -> int:
        """M_j = tok(prompt with support) − tok(prompt without). The head never changes and templates join messages at
        special tokens, so that the first call's difference is every call's."""
        if not (self._support.text or self._support.turns or self._skills):
            return 0
        bare_tools = tuple(t for t in self._tools if t.name not in self._skills)
        bare = head(self._settings, self._goal, observation, bare_tools, Support(condition=self._support.condition))
        if bare == self._messages and bare_tools == self._tools:
            return 0
        with_support = self._model.count(self._request(self._messages, self._tools, None))
        return with_support - self._model.count(self._request(bare, bare_tools, None))

    def _schema(self) -> Schema | None:
        """What the next answer must follow, in JSON mode."""
        how = self._settings
        if how.protocol != "json":
            return None
        found = () if how.strict_tools else tools_found(self._observations, [t.name for t in self._tools])
        values = values_seen(self._goal, self._observations) if how.grounded else None
        return action_schema(self._tools, thought=how.thought, found=found, grounded=values)

    def _request(self, messages: Sequence[Message], tools: tuple[ToolSpec, ...], schema: Schema | None) -> Request:
        how = self._settings
        return Request(
            model=how.model,
            purpose="actor",
            messages=tuple(messages),
            decoding=how.decoding,
            schema_=schema,
            tools=tools if how.protocol == "native" else (),
        )

    def _ask(self, request: Request) -> Completion:
        try:
            completion = self._model.complete(request)
        except (ContextOverflow, ProviderError) as error:
            self._record(request, Completion(text="", finish="error", attempts=error.attempts))
            raise
        self._record(request, completion)
        return completion

    def _record(self, request: Request, completion: Completion) -> None:
        """One row: only what is new since the last call; `tools` and `schema` are None where they are as they were."""
        last, self._last = self._last, request
        kept = len(last.messages) if last else 0
        tools = [t.model_dump(mode="json") for t in request.tools]
        row = {
            "index": self._calls,
            "model": request.model,
            "decoding": request.decoding.model_dump(mode="json"),
            "kept": kept,
            "messages": [m.model_dump(mode="json") for m in request.messages[kept:]],
            "tools": None if last and last.tools == request.tools else tools,
            "schema": None if last and last.schema_ == request.schema_ else request.schema_,
            "mem_tokens": self._mem_tokens,
            **completion.model_dump(mode="json"),
        }
        self._calls += 1
        self._on_call(row)

    def _correction(self, problem: str) -> str:
        if not problem:
            return ""
        return render("actor_correction", problem=problem, form=form(self._settings)).rstrip()


def _dollars(attempts: Sequence[Attempt]) -> float | None:
    """What the attempts of a call cost; None where nobody knows what the answer did."""
    return None if attempts and attempts[-1].cost is None else sum(a.cost or 0.0 for a in attempts)
