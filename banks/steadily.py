"""What a failing environment interrupts is done again: a browser that died says nothing about a task."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from tenacity import before_sleep_log, retry, retry_if_exception_type, stop_after_attempt

from rebind.errors import EnvironmentFailure

P = ParamSpec("P")
R = TypeVar("R")
ATTEMPTS = 3
_log = logging.getLogger(__name__)


def steadily(work: Callable[P, R]) -> Callable[P, R]:
    """The same work, done again where an environment failed, up to three times in all; then its failure is raised."""
    again = retry(
        retry=retry_if_exception_type(EnvironmentFailure),
        stop=stop_after_attempt(ATTEMPTS),
        before_sleep=before_sleep_log(_log, logging.WARNING),
        reraise=True,
    )
    return again(work)
