"""A target beside its source: what `rebind targets show` prints."""

from __future__ import annotations

from dataclasses import dataclass

from rebind.banks.accept import Change, changes
from rebind.banks.seals import open_seals
from rebind.banks.store import Bank
from rebind.banks.targets import TargetSet
from rebind.errors import TargetsError
from rebind.types import Binding, ShiftLevel


@dataclass(frozen=True)
class SideBySide:
    """Source and target of one binding shift."""

    key: str
    """Task key of the target."""
    record_id: str
    family: str
    level: ShiftLevel | None
    source_goal: str
    target_goal: str
    workflow: str
    """The source record's descriptor."""
    changed: tuple[Change, ...]
    same: tuple[Binding, ...]
    """Bindings whose values the two share."""
    world_changed: bool
    """Whether the initial state is another."""


def side_by_side(targets: TargetSet, key: str) -> SideBySide:
    """The target whose key begins so, beside the record it was made from.

    Raises:
        TargetsError: no such target. BankError: the bank beside the targets is missing or was edited.
    """
    target = targets.target(key)
    bank = Bank.open(targets.bank)
    seals = open_seals(bank.path)
    source = target.seal.source
    if source is None or source not in seals:
        raise TargetsError(f"target {target.task.key} has no source in bank {bank.path}")
    differing = changes(seals[source], target.seal)
    names = {change.name for change in differing}
    return SideBySide(
        key=target.task.key,
        record_id=source,
        family=target.seal.family,
        level=target.seal.level,
        source_goal=bank.record(source).instruction,
        target_goal=target.task.goal,
        workflow=bank.record(source).descriptor,
        changed=differing,
        same=tuple(b for b in target.seal.bindings if b.name not in names),
        world_changed=seals[source].world != target.seal.world,
    )
