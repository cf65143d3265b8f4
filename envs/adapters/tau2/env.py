"""τ² as a Gymnasium environment: text in, text out, judged by the package's own checks."""

from __future__ import annotations

from typing import Any

import gymnasium

from rebind.envs.adapters.lines import Refused, Side
from rebind.envs.adapters.tau2.install import start
from rebind.envs.adapters.tau2.tasks import Tau2Task, task
from rebind.envs.adapters.tau2.user import Customer
from rebind.envs.answers import value_of
from rebind.envs.apps.actions import BadAction, parsed_call
from rebind.envs.options import needed_seal
from rebind.envs.spaces import UnicodeText
from rebind.errors import EnvironmentFailure, UserError
from rebind.types import Call, Milestone, ToolCall, ToolSpec, Verdict

ENV_ID = "rebind/Tau2-v0"
_DONE = ToolSpec(
    name="done",
    description="End the task. The message tells the customer what was done, with every figure asked for.",
    parameters={"type": "object", "properties": {"message": {"type": "string"}}, "required": ["message"]},
)
_RESPOND = ToolSpec(
    name="respond",
    description="Say something to the customer; what the customer answers comes back.",
    parameters={"type": "object", "properties": {"message": {"type": "string"}}, "required": ["message"]},
)
_ALONE = (
    "The request in your task is all that the customer will say: nobody answers questions, and what it asks for counts "
    "as confirmed. End with done."
)


class Tau2Env(gymnasium.Env[str, Any]):
    """One service desk of τ²; `rebind.types.Environment`. Runs the package in a process of its own, started at the
    first reset and killed by `close`. In a task that is a talk the agent speaks with the `customer`; others tell what
    the customer wants. For one thread at a time."""

    def __init__(self, customer: Customer | None = None) -> None:
        self.action_space = UnicodeText()
        self.observation_space = UnicodeText()
        self._customer = customer
        self._side: Side | None = None
        self._task: Tau2Task | None = None
        self._talking: Customer | None = None
        self._specs: tuple[ToolSpec, ...] = ()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Starts the task of `options={"seal": Seal}`; returns the desk's policy and, with a customer, its first words.

        Raises:
            UserError: no seal of this environment, a talk without a customer, or τ² is not installed.
            EnvironmentFailure: the process died or did not answer.
        """
        super().reset(seed=seed)
        world = needed_seal(options, "τ²").world
        self._task = task(str(world.get("domain")), str(world.get("task")))
        if world.get("talk") and self._customer is None:
            raise UserError("this task is a talk with a customer: name in model.customer of the study who plays it")
        talking = self._talking = self._customer if world.get("talk") else None
        opened = self._ask("start", domain=self._task.domain, task=self._task.id, solo=self._task.solo)
        own = tuple(
            ToolSpec(name=t["name"], description=t["description"], parameters=t["parameters"]) for t in opened["tools"]
        )
        self._specs = (*own, _RESPOND if talking else _DONE)
        if talking is None:
            return f"{opened['policy']}\n\n{_ALONE}", {}
        words = talking.begin(opened["guidelines"], self._task.scenario)
        return f"{opened['policy']}\n\nThe customer: {words}", {}

    def step(self, action: Any) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Does one tool call. The reward is always 0.0; `info` has `calls` and `error`. `terminated` by `done`, or once
        the customer ends the talk."""
        self._started()
        try:
            doing = parsed_call(action)
        except BadAction as bad:
            return self._refusal(str(bad))
        if doing.tool == self._specs[-1].name:
            return self._speak(doing)
        answer = self._ask("call", tool=doing.tool, args=doing.args)
        call = Call(tool=doing.tool, args=doing.args, status=answer["status"], result=value_of(answer["text"]))
        error = None if call.ok else f"{call.status}: {answer['text']}"
        return answer["text"], 0.0, False, False, {"calls": (call,), "error": error}

    def tools(self) -> tuple[ToolSpec, ...]:
        """The domain's tools, and `done` or `respond`."""
        self._started()
        return self._specs

    def verify(self) -> Verdict:
        """By τ²'s reward basis of the task: database state, what was told, assertions, actions. Milestones are the gold
        calls that write, and what must be told."""
        self._started()
        found = self._ask("verify")
        failures = [f"{name} does not hold" for name, holds in found["checks"].items() if not holds]
        failures += [f"the customer was not told {info}" for info in found["missing"]]
        milestones = (
            Milestone(id=f"{n}", text=text, reached=reached) for n, (text, reached) in enumerate(found["milestones"])
        )
        return Verdict(
            success=all(found["checks"].values()),
            milestones=tuple(milestones),
            failures=tuple(failures),
            collateral=tuple(found["collateral"]),
        )

    def close(self) -> None:
        """Kills the process; `reset` may follow."""
        if self._side is not None:
            self._side.close()
            self._side = None
        self._task = None

    def _speak(self, doing: ToolCall) -> tuple[str, float, bool, bool, dict[str, Any]]:
        message = doing.args.get("message")
        if not isinstance(message, str) or set(doing.args) != {"message"}:
            return self._refusal(f"{doing.tool} takes one argument, message, a text")
        self._ask("say", text=message)
        talking = self._talking
        words = talking.answer(message) if talking else ""
        call = Call(tool=doing.tool, args=doing.args, status=200, result=words or None)
        over = talking is None or talking.ends(words)
        return words, 0.0, over, False, {"calls": (call,), "error": None}

    def _refusal(self, why: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        return f"Error: {why}", 0.0, False, False, {"calls": (), "error": why}

    def _ask(self, do: str, **arguments: Any) -> Any:
        if self._side is None:
            self._side = start()
        try:
            return self._side.ask(do, **arguments)
        except Refused as error:
            raise EnvironmentFailure(f"τ² failed by itself: {error}") from error
        except EnvironmentFailure:
            self.close()
            raise

    def _started(self) -> None:
        if self._task is None:
            raise gymnasium.error.ResetNeeded("reset the environment before anything else")
