"""What an episode did, cut to what a page can show: steps, support, verdict. Credentials are masked."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring as quoted
from pathlib import Path
from typing import Any, NamedTuple

from rebind.eval.ledger import LEDGER_FILE
from rebind.eval.lines import ShownStep, StepRow, shown_step
from rebind.eval.rebinding import Evidence, Use, Watch
from rebind.types import ReuseNote, Verdict

ACTION_CHARACTERS = 500
OBSERVATION_CHARACTERS = 240
SUPPORT_CHARACTERS = 2_000
MASK = "•••"
_KEPT = 2
"""Texts are kept this many times longer than they are shown, so that a masked credential is found whole."""
_SECRET = re.compile(
    r"""((?:token|password|passwd|secret|api_?key|authorization)\w*["']?\s*[:=]\s*)(["'])[^"']*(?:\2|$)""",
    re.IGNORECASE,
)


_encode = json.JSONEncoder(ensure_ascii=False).encode


class StepView(NamedTuple):
    """One step, a little longer than it is shown; pass its texts through `shown_action` and `shown_observation`."""

    action: str
    observation: str
    error: str | None
    statuses: tuple[int, ...]
    """Of its API calls, in order."""


@dataclass(frozen=True)
class Story:
    """One final attempt, for reading; `Steps` has what it did."""

    steps: tuple[int, ...]
    """The byte of the ledger file at which each step's line begins."""
    support: str
    """A little longer than it is shown; see `shown_support`."""
    note: ReuseNote | None
    flags: tuple[str, ...]
    verdict: Verdict | None
    stale: tuple[Use, ...]
    bound_steps: tuple[int, ...]
    """Steps that first used a changed target value."""
    evidence: tuple[Evidence, ...]


class Steps:
    """Reads the steps of stories from the ledger of their run. Use as a context manager."""

    def __init__(self, folder: Path) -> None:
        self._file = (folder / LEDGER_FILE).open("rb")

    def of(self, story: Story) -> list[StepView]:
        """The steps of a story, in order."""
        return [self._view(at) for at in story.steps]

    def _view(self, at: int) -> StepView:
        self._file.seek(at)
        return step_view(shown_step(self._file.readline()))

    def __enter__(self) -> Steps:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def masked(text: str) -> str:
    """A text with the values of credential-like keys replaced."""
    low = text.casefold()
    if "token" in low or "passw" in low or "secret" in low or "key" in low or "authorization" in low:
        return _SECRET.sub(_mask, text)  # one of these stands in all that it matches; looking for them is quicker
    return text


def _mask(found: re.Match[str]) -> str:
    name, quote = found.groups()
    return f"{name}{quote}{MASK}{quote}"


def cut(text: str, limit: int) -> str:
    """At most `limit` characters, with a mark where something was left out."""
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"


def shown_support(story: Story) -> str:
    """The note's four fields, or the text that was delivered."""
    note = story.note
    if note is None:
        return cut(masked(story.support), SUPPORT_CHARACTERS)
    return masked(
        f"Workflow: {note.workflow}\nRe-obtain: {note.rebind}\nApplies if: {note.applies}\nVerify: {note.verify}"
    )


def shown_error(step: StepView) -> str | None:
    return cut(masked(step.error), OBSERVATION_CHARACTERS) if step.error else None


def shown_action(step: StepView) -> str:
    return cut(masked(step.action), ACTION_CHARACTERS)


def shown_observation(step: StepView) -> str:
    return cut(masked(step.observation), OBSERVATION_CHARACTERS)


def step_view(step: ShownStep | StepRow) -> StepView:
    """A step, cut to a little more than what is shown of it."""
    return StepView(
        action=action_text(step.action)[: _KEPT * ACTION_CHARACTERS],
        observation=step.observation[: _KEPT * OBSERVATION_CHARACTERS],
        error=step.error,
        statuses=tuple([call.status for call in step.calls]),
    )


def action_text(action: Mapping[str, Any] | None) -> str:
    """An action as one would write it: `tool(name="value")`, or its code."""
    if action is None:
        return "(no action could be read from the answer)"
    if "code" in action:
        return str(action["code"])
    args = ", ".join([f"{name}={_in_json(value)}" for name, value in action["args"].items()])
    return f"{action['tool']}({args})"


def _in_json(value: Any) -> str:
    return quoted(value) if type(value) is str else _encode(value)


def story(support: Mapping[str, Any], steps: Sequence[int], verdict: Verdict | None, watch: Watch) -> Story:
    """One attempt for reading: its support as the ledger has it, where its steps stand, its verdict and what its watch
    noticed."""
    note = support.get("note")
    return Story(
        steps=tuple(steps),
        support=support.get("text", "")[: _KEPT * SUPPORT_CHARACTERS],
        note=ReuseNote.model_validate(note) if isinstance(note, dict) else None,
        flags=tuple(support.get("flags", ())),
        verdict=verdict,
        stale=tuple(watch.stale),
        bound_steps=tuple(sorted(set(watch.bound.values()))),
        evidence=tuple(watch.found.values()),
    )


def failure_kinds(story: Story) -> tuple[str, ...]:
    """Why an episode was no success, in categories that give no evaluator detail away."""
    verdict = story.verdict
    if verdict is None or verdict.success:
        return ()
    kinds = (
        ("a stale value was used", bool(story.stale)),
        ("records changed that should not have", bool(verdict.collateral)),
        ("an effect or answer is missing or wrong", bool(verdict.failures)),
    )
    return tuple(name for name, holds in kinds if holds)
