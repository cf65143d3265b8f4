"""One selection for all conditions of a target, made before any of them ran."""

from __future__ import annotations

from typing import Any

from rebind.eval.audit.facts import Facts, gone
from rebind.eval.audit.findings import Findings
from rebind.eval.audit.texts import words
from rebind.types import Event, Redacted


class Selections:
    """Compares selections with each other, with what was retrieved, and with the record each support was made from."""

    def __init__(self, facts: Facts, findings: Findings) -> None:
        self._facts, self._findings = facts, findings
        self._targets: dict[str | None, str] = {}
        for target in facts.plan["targets"]:
            self._one(target)

    def take(self, event: Event) -> None:
        data: dict[str, Any] = event.data
        if event.kind == "start":
            target = data["cell"]["target"]
            self._targets[event.cell] = target
            made = self._facts.selections.get(target)
            if made and made[0].n > event.n:
                self._add("the attempt began before its target's record was selected", event)
        elif event.kind == "support" and event.cell in self._targets:
            if gone(event, "skills", "turns_goal", "requests"):
                self._findings.skipped["origins"] += 1
                return
            self._support(event, data, self._targets[event.cell])

    def _one(self, target: str) -> None:
        """The selection of a target is there once, and is one of what was retrieved."""
        made, retrieved = self._facts.selections.get(target, []), self._facts.retrievals.get(target, [])
        self._findings.checked["selections"] += len(made)
        if not made or not retrieved:
            missing = "selection" if retrieved else "retrieval"
            self._findings.add("selections", f"target {target[:16]} has no {missing}")
            return
        if any(gone(event, "candidates", "chosen") for event in (*made, *retrieved)):
            self._findings.skipped["selections"] += 1
            return
        first: dict[str, Any] = made[0].data
        for again in made[1:]:
            if (again.data["candidates"], again.data["chosen"]) != (first["candidates"], first["chosen"]):
                self._add(f"target {target[:16]} has a second selection, unlike its first", again)
        if first["candidates"] != retrieved[-1].data["candidates"]:
            self._add(f"the candidates of target {target[:16]} are not those that were retrieved", made[0])
        if first["candidates"] and first["chosen"] not in first["candidates"]:
            self._add(f"the record chosen for target {target[:16]} is not one of its candidates", made[0])

    def _support(self, event: Event, data: dict[str, Any], target: str) -> None:
        """What a support shows of its origin is the chosen record: the source of its skills, the instruction its turns
        answered, and the instruction in what a writer read."""
        chosen = self._facts.chosen(target)
        others = {skill["record_id"] for skill in data["skills"]} - {chosen}
        if others:
            self._add(f"a skill comes from record {min(others)}, chosen was {chosen}", event)
        instruction = self._facts.records[chosen]["instruction"] if chosen in self._facts.records else ""
        if isinstance(instruction, Redacted):
            self._findings.skipped["origins"] += 1
            return
        if data["turns_goal"] and data["turns_goal"] != instruction:
            self._add(f"the turns are not of the chosen record, {chosen}", event)
        for request in data["requests"]:
            if not instruction or instruction not in words(request["messages"]):
                self._add(f"a writer read something else than the chosen record, {chosen}", event)

    def _add(self, what: str, event: Event) -> None:
        self._findings.add("selections", what, event.n, event.kind)
