"""Skills of records that were made on pages."""

from __future__ import annotations

from support.originals import runnable

from rebind.banks.rollers import oracle_roller
from rebind.banks.rollout import roll
from rebind.banks.skills import verified_skills
from rebind.envs import world
from rebind.types import ToolCall


def test_a_record_of_pages_gives_a_skill_that_keeps_its_calls_in_order() -> None:
    """Filling and pressing take turns, each on the page that the one before it left: nothing is folded."""
    desk = runnable(world("desk"))
    family = "desk/comment-on-ticket"
    target = desk.sample(family, 0)
    environment = desk.make()
    try:
        rollout = roll(environment, target, family, 0, oracle_roller(desk, 0.0))
        assert rollout.record is not None
        (skill,) = verified_skills(rollout.record, rollout.seal, environment)
    finally:
        environment.close()
    made = [step.action.tool for step in rollout.record.steps if isinstance(step.action, ToolCall)]
    assert [step.tool for step in skill.steps] == [tool for tool in made if tool != "send_msg_to_user"]
    assert any(slot.provenance == "query" for slot in skill.slots)
