"""Conditions by name: those that come with Rebind, and those that installed packages offer as entry points."""

from __future__ import annotations

from importlib.metadata import entry_points

from rebind.errors import UserError, did_you_mean
from rebind.memory.conditions.evidence import ShardedEvidence
from rebind.memory.conditions.flat import FlatSteps
from rebind.memory.conditions.full import FullTrajectory
from rebind.memory.conditions.none import NoMemory
from rebind.memory.conditions.osu import OsuSteps
from rebind.memory.conditions.qcr import QueryConditionedReuse
from rebind.memory.conditions.skill import CallableSkill
from rebind.memory.conditions.summary import GenericSummary
from rebind.types import Condition

ENTRY_POINT_GROUP = "rebind.conditions"
_OWN: tuple[Condition, ...] = (
    NoMemory(),
    FullTrajectory(),
    GenericSummary(),
    QueryConditionedReuse(),
    CallableSkill(),
    OsuSteps(),
    FlatSteps(),
    ShardedEvidence(),
)


class ConditionError(UserError):
    """A condition that is not known, or an entry point that offers none."""


def condition_names() -> tuple[str, ...]:
    """All names that `get_condition` knows: Rebind's own first, then those of entry points, sorted."""
    own = [c.name for c in _OWN]
    return (*own, *sorted({e.name for e in entry_points(group=ENTRY_POINT_GROUP)} - set(own)))


def get_condition(name: str) -> Condition:
    """The condition of that name. An entry point names a class or function that makes one without arguments.

    Raises:
        ConditionError: there is none, or the entry point cannot be loaded or makes no Condition.
    """
    for one in _OWN:
        if one.name == name:
            return one
    for entry in entry_points(group=ENTRY_POINT_GROUP, name=name):
        try:
            made = entry.load()()
        except (ImportError, AttributeError, TypeError) as error:
            raise ConditionError(f"condition {name!r} from {entry.value} cannot be loaded: {error}") from error
        if not isinstance(made, Condition) or made.name != name:
            raise ConditionError(f"{entry.value} does not make a Condition called {name!r}")
        return made
    raise ConditionError(f"no condition {name!r}{did_you_mean(name, condition_names())}")
