"""The ServiceNow instance that WorkArena's tasks run on."""

from __future__ import annotations

import os

from rebind.envs.adapters.reach import SNOW, instance
from rebind.errors import EnvironmentFailure


def named() -> dict[str, str]:
    """The variables that name it, with their values. Raises EnvironmentFailure where one is not set."""
    unset = [name for name in SNOW if not os.environ.get(name, "").strip()]
    if unset:
        raise EnvironmentFailure(f"not set: {', '.join(unset)}; WorkArena needs a ServiceNow instance: {_ADVICE}")
    return {name: os.environ[name].strip() for name in SNOW}


def answering() -> dict[str, str]:
    """As `named`, once it has answered. Raises EnvironmentFailure where it does not, or refuses the user."""
    found = named()
    seen = instance(*found.values())
    if seen.state != "ok":
        raise EnvironmentFailure(f"WorkArena's instance ({SNOW[0]}): {seen.detail}; {seen.advice}")
    return found


def trouble() -> str | None:
    """Why there is no instance to run on, and what to do; None where there is."""
    try:
        answering()
    except EnvironmentFailure as error:
        return str(error)
    return None


_ADVICE = f"set {', '.join(SNOW)} and ask `rebind doctor`"
