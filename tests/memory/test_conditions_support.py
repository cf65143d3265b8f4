"""The five conditions: what each delivers, what the writer is asked, and how others are found by entry point."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rebind.memory.conditions import ConditionError, condition_names, get_condition
from rebind.memory.skill.induce import induce
from rebind.types import Decoding, SupportAsk

NOTE = {"workflow": "Search, then forward.", "rebind": "The address.", "applies": "Always.", "verify": "Look again."}


@pytest.fixture
def source(source_of: Callable[[str, int], Any]) -> Any:
    return source_of("apps/forward-latest-invoice", 0)


def ask(source: Any, writer: Any, **changes: Any) -> SupportAsk:
    skill = induce(source.record)
    fields: dict[str, Any] = {
        "record": source.record,
        "summary": "Search, forward, label.",
        "skills": (skill,) if skill else (),
        "goal": "Forward the latest bill to Bob",
        "first_observation": "You are Ada.",
        "writer": writer,
        "writer_name": "simulated",
        "decoding": Decoding(temperature=0.2, seed=0),
        "cap_tokens": 200,
        **changes,
    }
    return SupportAsk(**fields)


def test_no_memory_delivers_nothing(source: Any, simulated: Any) -> None:
    support = get_condition("none").support(ask(source, simulated()))
    assert (support.text, support.turns, support.skills, support.flags) == ("", (), (), ())


def test_the_full_trajectory_has_every_action_argument_and_observation(source: Any, simulated: Any) -> None:
    support = get_condition("full").support(ask(source, simulated()))
    assert support.turns == source.record.steps
    assert support.turns_goal == source.record.instruction
    for step in source.record.steps:
        assert step.observation in support.text
        assert all(json.dumps(v, ensure_ascii=False) in support.text for v in step.action.args.values())


def test_the_summary_is_the_one_written_offline(source: Any, simulated: Any) -> None:
    assert get_condition("summary").support(ask(source, simulated())).text == "Search, forward, label."
    assert get_condition("summary").support(ask(source, simulated(), summary="")).flags == ("no-summary",)


def test_a_skill_is_delivered_as_it_was_stored(source: Any, simulated: Any) -> None:
    asked = ask(source, simulated())
    assert get_condition("skill").support(asked).skills == asked.skills
    missed = get_condition("skill").support(ask(source, simulated(), skills=()))
    assert missed.flags[:2] == ("no-skill", "fallback:evidence")


@pytest.mark.parametrize("name", ["full", "summary", "qcr", "skill"])
def test_a_condition_without_a_record_says_so_and_asks_nobody(source: Any, simulated: Any, name: str) -> None:
    writer = simulated()
    support = get_condition(name).support(ask(source, writer, record=None, summary="", skills=()))
    assert (support.flags, support.text, writer.asked) == (("no-record",), "", [])


def test_the_note_is_delivered_with_its_fields_request_and_answer(source: Any, simulated: Any) -> None:
    writer = simulated(json.dumps(NOTE))
    support = get_condition("qcr").support(ask(source, writer))
    assert support.note is not None
    assert support.note.model_dump() == NOTE
    assert support.flags == ()
    assert support.requests == tuple(writer.asked)
    assert support.completions[0].text == json.dumps(NOTE)
    assert writer.asked[0].decoding == Decoding(temperature=0, top_p=1, max_tokens=1024, seed=0)
    assert writer.asked[0].tools == ()


def test_a_source_value_in_the_note_is_flagged_by_its_key(source: Any, simulated: Any) -> None:
    forward = next(s.action for s in source.record.steps if s.action.tool == "mail_forward")
    address = forward.args["to"][0]
    writer = simulated(json.dumps({**NOTE, "rebind": f"Send it to {address}."}))
    assert get_condition("qcr").support(ask(source, writer)).flags == ("source-value:email",)
    shown = simulated(json.dumps({**NOTE, "rebind": f"Send it to {address}."}))
    assert get_condition("qcr").support(ask(source, shown, goal=f"Forward it to {address}")).flags == ()


def test_the_writer_reads_the_record_the_goal_and_the_first_observation_and_nothing_sealed(
    source: Any, simulated: Any
) -> None:
    writer = simulated(json.dumps(NOTE))
    get_condition("qcr").support(ask(source, writer))
    text = "\n".join(m.content for m in writer.asked[0].messages)
    assert source.record.instruction in text
    assert "Forward the latest bill to Bob" in text
    assert "You are Ada." in text
    milestones = [m.text for m in source.seal.verdict.milestones]
    for sealed in (
        source.record.id,
        source.seal.canary,
        source.seal.family,
        source.seal.task_key,
        source.seal.env,
        *milestones,
    ):
        assert sealed not in text


def test_an_unknown_condition_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(ConditionError, match=r"no condition 'summry'; did you mean 'summary'\?"):
        get_condition("summry")


def test_another_package_offers_a_condition_by_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "echo_condition.py").write_text(
        "from rebind.types import Support\n"
        "class Echo:\n"
        "    name = 'echo'\n"
        "    def support(self, ask):\n"
        "        return Support(condition='echo', text=ask.goal)\n"
    )
    info = tmp_path / "echo_condition-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: echo-condition\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[rebind.conditions]\necho = echo_condition:Echo\nbroken = nowhere:No\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert get_condition("echo").name == "echo"
    assert "echo" in condition_names()
    with pytest.raises(ConditionError, match="cannot be loaded"):
        get_condition("broken")
