"""Every failure, named after the boundary it happened at.

`UserError` is the reader's to mend (exit code 2); `InfraError` is nobody's fault in the experiment (retried, recorded,
never a 0); `AgentError` is the agent's own doing (the episode is `invalid-agent`).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rebind.types import Attempt


class RebindError(Exception):
    """Root of all errors Rebind raises on purpose."""


class UserError(RebindError):
    """Bad input: says what was wrong, where, and what to do."""


class StudyError(UserError):
    """A study file that cannot be read or does not validate."""


class BankError(UserError):
    """A bank that is missing, not frozen, or differs from its manifest."""


class TargetsError(UserError):
    """A targets folder that is missing or differs from its manifest."""


class LedgerError(UserError):
    """A ledger that cannot be read, or does not verify."""


class PromptError(UserError):
    """A prompt file with an unknown or missing variable."""


class ModelError(UserError):
    """A model that cannot be had: unknown name, weights nowhere to be found or not the right ones, missing extra."""


class LockMismatch(UserError):
    """A run folder whose study.lock differs from the study that asked to resume it."""


class LimitReached(RebindError):
    """A run stopped at a limit that its study sets; raising the limit and running it again goes on."""


class CannotShift(RebindError):
    """A target that cannot be made at a level; `reason` is a short countable word."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class AgentError(RebindError):
    """The agent broke its own run."""


class ContextOverflow(AgentError):
    """The prompt outgrew the model's context window. `attempts` are the HTTP attempts that found it out."""

    def __init__(self, message: str, attempts: tuple[Attempt, ...] = ()) -> None:
        super().__init__(message)
        self.attempts = attempts


class InfraError(RebindError):
    """Something outside the experiment failed: recorded, retried, never counted as a 0."""


class ProviderError(InfraError):
    """A model provider did not answer after all retries, or refused. `attempts` are all HTTP attempts made."""

    def __init__(self, message: str, attempts: tuple[Attempt, ...] = ()) -> None:
        super().__init__(message)
        self.attempts = attempts


class ProviderRefused(ProviderError):
    """A provider knows no such key, model or address: asking again changes nothing, and a run stops."""


class EnvironmentFailure(InfraError):
    """An environment crashed or timed out by itself."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A suffix that suggests the nearest known word, or lists what is known."""
    names = sorted(set(known))
    near = difflib.get_close_matches(word, names, n=1, cutoff=0.6)
    if near:
        return f"; did you mean {near[0]!r}?"
    shown = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
    return f"; known: {shown}" if names else ""
