"""What a failing environment interrupts is done again: a browser that died says nothing about a task."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from tenacity import retry, retry_if_exception_type, stop_after_attempt

from rebind.errors import EnvironmentFailure

P = ParamSpec("P")
R = TypeVar("R")
ATTEMPTS = 3


def steadily(work: Callable[P, R]) -> Callable[P, R]:
    """The same work, done again where an environment failed, up to three times in all; then its failure is raised."""
    again = retry(retry=retry_if_exception_type(EnvironmentFailure), stop=stop_after_attempt(ATTEMPTS), reraise=True)
    return again(work)
