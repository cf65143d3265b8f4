"""WebArena as its authors run it, in a process of its own: BrowserGym's browser and actions, WebArena's evaluators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rebind.envs.adapters.lines import Refused
from rebind.envs.adapters.webarena.original.install import start
from rebind.envs.adapters.webarena.sites import SITES, variable
from rebind.envs.browser.chromium import arguments, find
from rebind.errors import EnvironmentFailure, UserError
from rebind.types import Decoding, Message, Model, Request

Judge = Callable[[str], str]
"""Answers a question of the evaluators, as the model that they ask would."""

_MANNER = Message(role="system", content="You are a helpful assistant")
_DECODING = Decoding(temperature=0.0, top_p=1.0, max_tokens=768)
"""Both as WebArena asks its judge."""
_SECONDS = 120.0
_QUESTIONS = 20


def judging(model: Model, name: str) -> Judge:
    """A model as judge."""

    def judge(question: str) -> str:
        asked = (_MANNER, Message(role="user", content=question))
        return model.complete(Request(model=name, purpose="judge", messages=asked, decoding=_DECODING)).text

    return judge


@dataclass(frozen=True)
class Seen:
    """What an action led to."""

    view: str
    """Tabs and the active one's accessibility tree, as BrowserGym writes it."""
    error: str
    """Empty where the action was done."""
    ended: bool


class WebArenaRunner:
    """One task at a time. For one thread at a time."""

    def __init__(self, sites: Mapping[str, str], judge: Judge | None = None) -> None:
        """`sites`: the address of each. `judge` is asked by the 118 tasks whose answers are compared by a model; the
        one that WebArena's authors chose is no longer served, so that results depend on this one.

        Raises:
            UserError: the package is not installed, there is no Chromium, or a site has no address.
            EnvironmentFailure: the process failed.
        """
        unset = [variable(site) for site in SITES if site not in sites]
        if unset:
            raise UserError(f"WebArena needs the addresses of all its sites; not set: {', '.join(unset)}")
        self._judge, chromium = judge, find()
        self._side = start()
        try:
            self._ask("open", sites=dict(sites), chromium=str(chromium.path), flags=arguments())
        except EnvironmentFailure:
            self.close()
            raise

    def actions(self) -> list[dict[str, Any]]:
        """What an agent can do: names, descriptions and JSON schemas of arguments."""
        found: list[dict[str, Any]] = self._ask("actions")
        return found

    def start(self, task: int, seed: int = 0) -> tuple[str, str]:
        """Signs in and opens the task's first page; its goal, and what is seen.

        Raises:
            EnvironmentFailure: a site does not answer, or the login fails.
        """
        found = self._ask("start", task=task, seed=seed)
        return found["goal"], found["view"]

    def act(self, action: str) -> Seen:
        """Does one action in BrowserGym's form: `click('12')`, `send_msg_to_user('1')`."""
        return Seen(**self._ask("act", action=action))

    def score(self) -> float:
        """The evaluators' score of the task as it stands; asked once, when the agent has stopped.

        Raises:
            UserError: the task needs a judge, and there is none.
            EnvironmentFailure: the process failed.
        """
        verdicts: dict[str, str] = {}
        for _ in range(_QUESTIONS):
            found = self._ask("judge", verdicts=verdicts)
            if "question" not in found:
                return float(found["score"])
            if self._judge is None:
                raise UserError("this task's answer is compared by a model: name it in model.judge of the study")
            verdicts = {found["question"]: self._judge(found["question"])}
        raise EnvironmentFailure(f"WebArena's evaluators asked the judge more than {_QUESTIONS} questions")

    def close(self) -> None:
        """Ends the process and its browser."""
        self._side.close()

    def _ask(self, do: str, **arguments: Any) -> Any:
        try:
            return self._side.ask(do, seconds=_SECONDS, **arguments)
        except Refused as refused:
            raise EnvironmentFailure(f"WebArena could not {do}: {str(refused)[:500]}") from None
