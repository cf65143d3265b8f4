"""Skill: what the selected record became as a callable procedure; the actor gets it as a tool."""

from __future__ import annotations

from rebind.types import Support, SupportAsk


class CallableSkill:
    name = "skill"

    def support(self, ask: SupportAsk) -> Support:
        """The record's skills; flagged where none could be induced and verified."""
        if ask.record is None:
            return Support(condition=self.name, flags=("no-record",))
        return Support(condition=self.name, skills=ask.skills, flags=() if ask.skills else ("no-skill",))
