"""WebArena as its authors run it, in a process of its own: BrowserGym's browser and actions, WebArena's evaluators."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rebind.envs.adapters.browsergym.runner import BrowserRunner, Scored
from rebind.envs.adapters.webarena.original.install import PACKAGED
from rebind.envs.adapters.webarena.sites import SITES, variable
from rebind.errors import EnvironmentFailure, UserError
from rebind.types import Decoding, Message, Model, Request

Judge = Callable[[str], str]
"""Answers a question of the evaluators, as the model that they ask would."""

_MANNER = Message(role="system", content="You are a helpful assistant")
_DECODING = Decoding(temperature=0.0, top_p=1.0, max_tokens=768)
"""Both as WebArena asks its judge."""
_QUESTIONS = 20


def judging(model: Model, name: str) -> Judge:
    """A model as judge."""

    def judge(question: str) -> str:
        asked = (_MANNER, Message(role="user", content=question))
        return model.complete(Request(model=name, purpose="judge", messages=asked, decoding=_DECODING)).text

    return judge


class WebArenaRunner(BrowserRunner):
    """Tasks by number: `start(task=132)`."""

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
        self._judge = judge
        super().__init__(PACKAGED, "WebArena", sites=dict(sites))

    def score(self) -> Scored:
        """See `BrowserRunner`. Raises UserError where the task needs a judge, and there is none."""
        verdicts: dict[str, str] = {}
        for _ in range(_QUESTIONS):
            found = self.ask("judge", verdicts=verdicts)
            if "question" not in found:
                return Scored(**found)
            if self._judge is None:
                raise UserError("this task's answer is compared by a model: name it in model.judge of the study")
            verdicts = {found["question"]: self._judge(found["question"])}
        raise EnvironmentFailure(f"WebArena's evaluators asked the judge more than {_QUESTIONS} questions")
