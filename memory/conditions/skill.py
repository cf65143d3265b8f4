"""Skill: what the selected record became as a callable procedure; the actor gets it as a tool."""

from __future__ import annotations

from rebind.prompts import render
from rebind.types import Support, SupportAsk


class CallableSkill:
    name = "skill"

    def support(self, ask: SupportAsk) -> Support:
        """The record's skills, and a line on them for the actor; flagged where none could be induced and verified."""
        if ask.record is None:
            return Support(condition=self.name, flags=("no-record",))
        if not ask.skills:
            return Support(condition=self.name, flags=("no-skill",))
        text = render("skill_support", names=[s.name for s in ask.skills]).rstrip()
        return Support(condition=self.name, text=text, skills=ask.skills)
