"""An episode as a sample of an Inspect log: messages, events, scores, usage. Needs inspect-ai."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from inspect_ai.dataset import Sample
from inspect_ai.event import ErrorEvent, Event, InfoEvent, ModelEvent, SampleInitEvent, ScoreEvent, ToolEvent
from inspect_ai.log import EvalError, EvalRetryError, EvalSample, EvalSampleLimit
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.scorer import Score
from inspect_ai.tool import ToolCall, ToolCallError, ToolInfo, ToolParams

from rebind.eval.attempts import EndedAttempt, Json, Turn
from rebind.eval.export.about import action_name, began, cost, facts, moment
from rebind.eval.tokens import answered
from rebind.types import Event as LedgerEvent

StopReason = Literal["stop", "max_tokens", "tool_calls", "content_filter", "unknown"]
_STOPS: dict[str, StopReason] = {
    "stop": "stop",
    "length": "max_tokens",
    "tool_calls": "tool_calls",
    "content_filter": "content_filter",
}
LimitType = Literal["turn", "custom", "token", "time", "cost", "context"]
_LIMITS: dict[str, tuple[LimitType, str]] = {
    "over-steps": ("turn", "steps"),
    "over-calls": ("custom", "calls"),
    "over-tokens": ("token", "tokens"),
    "over-time": ("time", "seconds"),
    "over-cost": ("cost", "cost"),
}
"""Endings that are a limit of the budget: Inspect's word for it, and the budget's."""


class Transcript:
    """Messages and events of one episode. Messages are kept: two prompts share what they have in common, which an
    Inspect log then stores once."""

    def __init__(self, attempt: EndedAttempt, model: str) -> None:
        self._attempt, self._model = attempt, model
        self.messages: list[ChatMessage] = []
        self.events: list[Event] = []
        self.usage = ModelUsage()
        self.output = ModelOutput(model=model)
        self._made = 0
        self._init()
        self._support()
        for turn in attempt.turns():
            self._turn(turn)
        self._end()

    def _init(self) -> None:
        goal = str(self._attempt.target["task"]["goal"])
        sample = Sample(input=goal, id=self._attempt.cell.target[:16])
        self.events.append(SampleInitEvent(sample=sample, state=None, **self._at(self._attempt.start.at)))

    def _support(self) -> None:
        """What the condition delivered, and the calls that wrote it."""
        for event in self._attempt.of("support"):
            data: Json = event.data
            for request, row in zip(data["requests"], data["completions"], strict=False):
                prompt = [self._message(m) for m in request["messages"]]
                self._call({**request, **row}, prompt, (), event.at, "writer")
            told = {name: data[name] for name in ("condition", "text", "note", "flags")}
            self.events.append(InfoEvent(source="rebind support", data=told, **self._at(event.at)))

    def _turn(self, turn: Turn) -> None:
        row: Json = turn.call.data
        fresh = [self._message(m) for m in row["messages"]]
        self.messages = [*self.messages[: row["kept"]], *fresh]
        output = self._call(row, list(self.messages), turn.tools, turn.call.at, "actor")
        if not output.choices:
            return
        self.output = output
        self.messages.append(output.message)
        if turn.step is not None:
            self._step(turn.step, output.message, turn.call.at)

    def _call(self, row: Json, prompt: list[ChatMessage], tools: tuple[Json, ...], at: float, role: str) -> ModelOutput:
        start, end = began(row, at)
        model, decoding = str(row.get("model", self._model)), row.get("decoding") or {}
        output = ModelOutput(model=model, time=end - start, usage=None)
        failed = None if answered(row) else str(row["attempts"][-1]["error"] if row["attempts"] else row["finish"])
        if failed is None:
            choice = ChatCompletionChoice(message=self._answer(row), stop_reason=_STOPS.get(row["finish"], "unknown"))
            output = ModelOutput(model=model, choices=[choice], usage=usage(row), time=end - start)
            self.usage += output.usage or ModelUsage()
        self.events.append(
            ModelEvent(
                model=model,
                role=role,
                input=prompt,
                tools=[_tool(tool) for tool in tools],
                tool_choice="auto" if tools else "none",
                config=GenerateConfig(**{k: decoding.get(k) for k in ("temperature", "top_p", "max_tokens", "seed")}),
                output=output,
                error=failed,
                retries=max(0, len(row["attempts"]) - 1),
                cache="read" if row["replayed"] else None,
                completed=moment(end),
                working_time=end - start,
                metadata={"support_tokens": row.get("mem_tokens"), "attempts": list(row["attempts"])},
                **self._at(start),
            )
        )
        return output

    def _step(self, step: LedgerEvent, said: ChatMessageAssistant, asked: float) -> None:
        """What came back, as the event of a tool and as the message the actor reads next."""
        data: Json = step.data
        action, text = data["action"], str(data["observation"])
        if said.tool_calls and action is not None:
            call = said.tool_calls[0]
            self.messages.append(
                ChatMessageTool(content=text, tool_call_id=call.id, function=call.function, id=self._id())
            )
        else:
            self.messages.append(ChatMessageUser(content=text, id=self._id()))
        if action is None:
            return
        name, args = action_name(action)
        inner = [c["tool"] for c in data["calls"]] != [action.get("tool")]
        self.events.append(
            ToolEvent(
                id=f"call_{data['index']}",
                function=name,
                arguments=args,
                result=text,
                error=ToolCallError("unknown", str(data["error"])) if data["error"] else None,
                completed=moment(step.at),
                working_time=step.at - asked,
                metadata={"calls": list(data["calls"])} if inner else None,
                **self._at(asked),
            )
        )

    def _end(self) -> None:
        at = self._at(self._attempt.end.at)
        for name, score in scores(self._attempt).items():
            self.events.append(ScoreEvent(score=score, scorer=name, **at))
        if failure := error(self._attempt):
            self.events.append(ErrorEvent(error=failure, **at))

    def _at(self, at: float) -> dict[str, Any]:
        """Time and a name that is the same in every export."""
        return {
            "timestamp": moment(at),
            "working_start": max(0.0, at - self._attempt.start.at),
            "uuid": f"{self._attempt.end.hash[:16]}-{len(self.events)}",
        }

    def _id(self) -> str:
        self._made += 1
        return f"{self._attempt.end.hash[:16]}-m{self._made}"

    def _answer(self, row: Json) -> ChatMessageAssistant:
        said = {"role": "assistant", "content": row["text"], "tool_calls": row["tool_calls"]}
        made = self._message(said)
        assert isinstance(made, ChatMessageAssistant)  # by its role
        return made.model_copy(update={"source": "generate", "model": str(row.get("model", self._model))})

    def _message(self, message: Json) -> ChatMessage:
        text, name = str(message["content"]), self._id()
        match message["role"]:
            case "system":
                return ChatMessageSystem(content=text, id=name)
            case "assistant":
                calls = [_tool_call(call) for call in message.get("tool_calls") or ()]
                return ChatMessageAssistant(content=text, id=name, tool_calls=calls or None)
            case "tool":
                return ChatMessageTool(content=text, id=name, tool_call_id=message.get("tool_call_id"))
            case _:
                return ChatMessageUser(content=text, id=name)


def sample(attempt: EndedAttempt, plan: Json) -> EvalSample:
    """One episode. An episode that infrastructure ended has an error and no score; earlier attempts at its cell are its
    retries. The verifier's words are left out."""
    model = str(plan["model"]["actor"])
    told = Transcript(attempt, model)
    return EvalSample(
        id=attempt.cell.target[:16],
        epoch=list(plan["seeds"]).index(attempt.cell.seed) + 1,
        input=str(attempt.target["task"]["goal"]),
        target="",
        messages=told.messages,
        output=told.output,
        scores=scores(attempt),
        metadata=facts(attempt),
        events=told.events,
        model_usage={model: told.usage},
        started_at=moment(attempt.start.at).isoformat(),
        completed_at=moment(attempt.end.at).isoformat(),
        total_time=max(0.0, attempt.end.at - attempt.start.at),
        working_time=attempt.episode.seconds,
        uuid=attempt.end.hash[:22],
        error=error(attempt),
        error_retries=[_retried(why) for _, why in attempt.before] or None,
        limit=_limit(attempt, plan["budget"]),
        turn_count=attempt.episode.steps,
    )


def scores(attempt: EndedAttempt) -> dict[str, Score]:
    """`success` (1 or 0) and `milestone` (the share reached), each only where the ledger has it."""
    found = {"success": attempt.episode.success, "milestone": attempt.episode.milestone}
    if attempt.episode.outcome == "invalid-infra":
        return {}
    return {name: Score(value=float(value)) for name, value in found.items() if value is not None}


def error(attempt: EndedAttempt) -> EvalError | None:
    """What failed, where infrastructure did."""
    if attempt.episode.outcome != "invalid-infra":
        return None
    return EvalError(message=attempt.error, traceback=attempt.error, traceback_ansi=attempt.error)


def _retried(why: str) -> EvalRetryError:
    return EvalRetryError(message=why, traceback=why, traceback_ansi=why)


def usage(row: Json) -> ModelUsage | None:
    """Inspect's account of a call: its input tokens leave out those read from a cache. None where the provider gave no
    counts."""
    counts = row["usage"]
    if counts["prompt"] is None or counts["completion"] is None:
        return None
    return ModelUsage(
        input_tokens=counts["prompt"] - (counts["cached"] or 0),
        input_tokens_cache_read=counts["cached"],
        output_tokens=counts["completion"],
        total_tokens=counts["prompt"] + counts["completion"],
        reasoning_tokens=counts["reasoning"],
        total_cost=cost(row),
    )


def summed(usages: Iterable[Mapping[str, ModelUsage]]) -> dict[str, ModelUsage]:
    """Usage by model, over samples."""
    total: dict[str, ModelUsage] = {}
    for by_model in usages:
        for model, one in by_model.items():
            total[model] = total.get(model, ModelUsage()) + one
    return total


def _limit(attempt: EndedAttempt, budget: Json) -> EvalSampleLimit | None:
    """The limit of the budget that ended an episode."""
    kind, name = _LIMITS.get(attempt.episode.ending, ("custom", ""))
    if not name:
        return None
    return EvalSampleLimit(type=kind, limit=float(budget.get(name) or 0), reason=attempt.episode.ending)


def _tool(tool: Json) -> ToolInfo:
    parameters: Any = tool["parameters"]
    return ToolInfo(
        name=tool["name"], description=tool["description"], parameters=ToolParams.model_validate(parameters)
    )


def _tool_call(call: Json) -> ToolCall:
    """A native call in OpenAI's wire form. Arguments that are no JSON object are kept as text beside the problem."""
    given = call["function"].get("arguments") or "{}"
    try:
        args = json.loads(given) if isinstance(given, str) else given
    except ValueError:
        args = None
    if isinstance(args, dict):
        return ToolCall(id=str(call["id"]), function=call["function"]["name"], arguments=args)
    problem = "the arguments are no JSON object"
    return ToolCall(str(call["id"]), call["function"]["name"], {"text": given}, parse_error=problem)
