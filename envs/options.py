"""The options of an environment's `reset`."""

from __future__ import annotations

from typing import Any

from rebind.errors import UserError
from rebind.types import Seal


def needed_seal(options: dict[str, Any] | None, what: str) -> Seal:
    """As `seal_of`, where a reset cannot do without one. `what`: whose task it is of."""
    if not options:
        raise UserError(f"reset needs options={{'seal': Seal}}: a task of {what}")
    return seal_of(options)


def seal_of(options: dict[str, Any]) -> Seal:
    """The seal of `options={"seal": Seal}`. Raises UserError where there is another option, or no Seal."""
    unknown = set(options) - {"seal"}
    if unknown:
        raise UserError(f"reset has no option {min(unknown)!r}; known: 'seal'")
    if not isinstance(options["seal"], Seal):
        raise UserError(f"the option 'seal' must be a rebind.types.Seal, not {type(options['seal']).__name__}")
    return options["seal"]
