"""What becomes of a skill in an episode is in the ledger, and what it fell back on is no observation of the task."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.recorded import EVIDENCE, Recording

from rebind.banks.rollers import oracle_roller
from rebind.banks.rollout import roll
from rebind.banks.skills import verified_skills
from rebind.envs import world
from rebind.eval.ledger import read_events
from rebind.eval.replay import replay
from rebind.memory.skill.environment import FROM_MEMORY
from rebind.types import Skill, ToolCall


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One attempt: a skill called without what it needs, with a person nobody knows, and well."""
    apps = world("apps")
    target = apps.sample("apps/forward-latest-invoice", 0)
    env = apps.make()
    rolled = roll(env, target, target.seal.family, 0, oracle_roller(apps, 0.0))
    assert rolled.record
    (skill,) = verified_skills(rolled.record, target.seal, env)
    env.close()
    recording = Recording(tmp_path_factory.mktemp("skill-events") / "run", apps, target, ("skill",))
    recording.attempt("skill", [_call(skill), _call(skill, query="Nobody"), _call(skill, all_=True)], skills=[skill])
    return recording.close()


def _call(skill: Skill, *, all_: bool = False, query: str = "") -> ToolCall:
    own = {s.name: s.example for s in skill.slots} if all_ or query else {}
    return ToolCall(tool=skill.name, args={**own, "query": query} if query else own)


def test_each_use_of_a_skill_tells_its_slots_preconditions_validation_and_fallback(run: Path) -> None:
    rows = [e.data for e in read_events(run) if e.kind == "skill"]
    assert [row["what"] for row in rows] == [
        "slots", "precondition", "fallback", "slots", "validation", "slots", "validation",
    ]  # fmt: skip
    assert set(rows[0]["from"].values()) == {"missing"}
    assert set(rows[3]["from"].values()) == {"caller"}
    assert rows[2]["text"] == EVIDENCE
    assert rows[4]["problem"].startswith("stopped before step")
    assert (rows[6]["problem"], rows[6]["calls"]) == (None, len(_steps(run)[2]["calls"]))


def test_evidence_stands_once_below_what_was_observed_and_replays_the_same(run: Path) -> None:
    observations = [step["observation"] for step in _steps(run)]
    assert [FROM_MEMORY in text for text in observations] == [True, False, False]
    assert replay(run).same == 1


def _steps(run: Path) -> list[dict[str, Any]]:
    return [e.data for e in read_events(run) if e.kind == "step"]
