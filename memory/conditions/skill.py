"""Skill: what the selected record became as a callable procedure; the actor gets it as a tool (ShardMemo, Tier C)."""

from __future__ import annotations

from rebind.memory.conditions.evidence import ShardedEvidence
from rebind.prompts import render
from rebind.types import Condition, Support, SupportAsk


class CallableSkill:
    """The gate between Tier C and Tier B: the record's verified skill where it has one, or else what the condition
    `evidence` would deliver, to the word and within the same budget."""

    name = "skill"

    def __init__(self, evidence: Condition | None = None) -> None:
        """`evidence`: Tier B; the condition `evidence` where not given."""
        self._evidence = evidence or ShardedEvidence()

    def support(self, ask: SupportAsk) -> Support:
        """The record's skills, and a line on them for the actor; flagged where none could be induced and verified."""
        if ask.record is None:
            return Support(condition=self.name, flags=("no-record",))
        if ask.skills:
            text = render("skill_support", names=[s.name for s in ask.skills]).rstrip()
            return Support(condition=self.name, text=text, skills=ask.skills)
        found = self._evidence.support(ask)
        flags = ("no-skill", "fallback:evidence", *found.flags)
        return found.model_copy(update={"condition": self.name, "flags": flags})
