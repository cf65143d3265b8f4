"""Models that play a part in an environment, the customer of a service desk or a judge: what they are asked is told to
the ledger, and is no expense of the agent's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rebind.banks.worlds import world_of
from rebind.canon import digest
from rebind.errors import ContextOverflow, EnvironmentFailure, ProviderError
from rebind.eval.models import Models
from rebind.types import Completion, Model, Part, Played, Request, World

Tell = Callable[[dict[str, Any]], None]
"""Takes the data of a `note` event: `part`, `model`, `request` (digest), and what the completion spent."""


class Overheard:
    """A `Model` that plays a part, for one thread at a time. What it is asked goes to `tell`; nowhere in between
    episodes."""

    def __init__(self, model: Model, part: Part) -> None:
        self._model, self._part = model, part
        self.tell: Tell = _nobody

    def complete(self, request: Request) -> Completion:
        """Raises EnvironmentFailure where the talk outgrew the model's context: no doing of the agent's."""
        try:
            found = self._model.complete(request)
        except (ContextOverflow, ProviderError) as error:
            self._say(request, Completion(text="", finish="error", attempts=error.attempts))
            if isinstance(error, ContextOverflow):
                raise EnvironmentFailure(f"the {self._part}'s model {request.model}: {error}") from error
            raise
        self._say(request, found)
        return found

    def count(self, request: Request) -> int:
        return self._model.count(request)

    def _say(self, request: Request, found: Completion) -> None:
        asked = {"part": self._part, "model": request.model, "request": digest(request.model_dump(mode="json"))}
        self.tell({**asked, **found.model_dump(mode="json", exclude={"text", "tool_calls"})})


def _nobody(_row: dict[str, Any]) -> None: ...


@contextmanager
def overheard(part: Overheard | None, tell: Tell) -> Iterator[None]:
    """While a part's requests are told to `tell`."""
    if part is None:
        yield
        return
    part.tell = tell
    try:
        yield
    finally:
        part.tell = _nobody


def staffed(env_id: str, models: Models) -> tuple[World, Overheard | None]:
    """The world, with the study's model in its part where both have one; and that model as it is overheard."""
    plain = world_of(env_id)
    if not isinstance(plain, Played) or plain.part not in models.parts:
        return plain, None
    named = models.parts[plain.part]
    heard = Overheard(named.model, plain.part)
    return plain.played_by(heard, named.name), heard
