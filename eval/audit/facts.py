"""What a ledger says before any episode: the plan, targets, records, retrievals and selections, with their seals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from rebind.eval.ledger import explained
from rebind.types import Cell, Event, Redacted, Seal

Json = dict[str, Any]


@dataclass
class Facts:
    """The events that describe a study, by target key or record id; several where one was written again."""

    plan: Json = field(default_factory=dict)
    seals: list[Seal] = field(default_factory=list)
    """Every seal in the ledger."""
    targets: dict[str, Json] = field(default_factory=dict)
    target_seals: dict[str, Seal] = field(default_factory=dict)
    records: dict[str, Json] = field(default_factory=dict)
    retrievals: dict[str, list[Event]] = field(default_factory=lambda: defaultdict(list))
    selections: dict[str, list[Event]] = field(default_factory=lambda: defaultdict(list))
    verdicts: set[str] = field(default_factory=set)
    """What verifiers said, in words."""

    @classmethod
    def gather(cls, events: Iterable[Event]) -> Facts:
        facts = cls()
        for event in events:
            with explained(event, "the audit"):
                facts._take(event)
        return facts

    def _take(self, event: Event) -> None:
        data: Json = event.data
        match event.kind:
            case "plan":
                if not whole(*(data[name] for name in ("targets", "conditions", "seeds", "decoding"))):
                    raise TypeError("no check can do without the plan")
                self.plan = data
            case "target":
                seal = Seal.model_validate(data["seal"])
                self.targets[data["target"]] = data
                self.target_seals[data["target"]] = seal
                self.seals.append(seal)
                if data["source"]:
                    self.seals.append(Seal.model_validate(data["source"]))
            case "record":
                self.records[data["record"]] = data
                self.seals.append(Seal.model_validate(data["seal"]))
            case "retrieval":
                self.retrievals[data["target"]].append(event)
            case "selection":
                self.selections[data["target_key"]].append(event)
            case "verdict" if not gone(event):
                self.verdicts.update(verdict_words(data))
            case _:
                pass

    def chosen(self, target: str) -> str | None:
        """The record that was selected for a target; the last word where there were several."""
        made = self.selections.get(target)
        return str(made[-1].data["chosen"]) if made and made[-1].data["chosen"] else None

    def cells(self) -> Iterator[Cell]:
        """The cells the plan promises."""
        for target in self.plan["targets"]:
            for condition in self.plan["conditions"]:
                for seed in self.plan["seeds"]:
                    yield Cell(target=target, condition=condition, seed=seed)


def gone(event: Event, *fields: str) -> bool:
    """Whether one of these fields of an event, or a member of one, is redacted; without fields, whether any is."""
    return any(not fields or place.split("/")[1] in fields for place in event.redacted)


def whole(*values: Any) -> bool:
    """Whether nothing in these values is redacted."""
    for value in values:
        if isinstance(value, Redacted):
            return False
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        if any(isinstance(one, Redacted) for one in inner):
            return False
    return True


def verdict_words(verdict: Json) -> Iterator[str]:
    """The sentences of a verdict: failures, collateral damage, milestones."""
    yield from verdict["failures"]
    yield from verdict["collateral"]
    yield from (milestone["text"] for milestone in verdict["milestones"])
