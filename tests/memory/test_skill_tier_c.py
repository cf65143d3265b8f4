"""Tier C: versions that are never overwritten, reliability that outlives a process, the read path and its fallback."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies
from support.shards import embed

from rebind.memory.conditions.evidence import ShardedEvidence
from rebind.memory.conditions.skill import CallableSkill
from rebind.memory.shard.log import StoreError
from rebind.memory.shard.scope import (
    FIELDS,
    ItemMeta,
    MayRead,
    NamespaceIs,
    Scope,
    SessionIs,
    SpeakerIs,
    TimeWithin,
    UserIs,
    Vocabulary,
    compile_scope,
    seconds,
)
from rebind.memory.skill.choose import chosen
from rebind.memory.skill.environment import FROM_MEMORY, SkillEnvironment
from rebind.memory.skill.identity import generalised, identity
from rebind.memory.skill.induce import induce
from rebind.memory.skill.library import Library, Source, Version
from rebind.memory.skill.odds import fit_odds, left_out
from rebind.memory.skill.preconditions import otherwise_flagged
from rebind.memory.skill.rehearse import rehearsed
from rebind.memory.skill.request import masked, named, read_values, request_of
from rebind.memory.skill.scoping import admits
from rebind.memory.skill.select import matching
from rebind.memory.skill.tier_c import Asked, Settings, TierC, observed
from rebind.memory.skill.traits import clauses
from rebind.memory.skill.tuning import Tuning, fit_least, mean_precision
from rebind.memory.skill.validation import fails_on_source
from rebind.types import Call, Decoding, Record, Skill, Slot, Step, SupportAsk, ToolCall

GOAL = 'Write "{text}" to {name} by mail'
PEOPLE = [{"id": "con_11111", "name": "Anna Smith"}, {"id": "con_22222", "name": "Bob Jones"}]
MAIL = (ItemMeta(namespace="mail"), ItemMeta(namespace="contacts"))
BOTH = Scope(predicates=(NamespaceIs(names=("mail", "contacts")),))


class World:
    """An address book and a mail box; `lame` makes sending return something else."""

    def __init__(self, lame: bool = False) -> None:
        self.sent: list[dict[str, Any]] = []
        self.lame = lame

    def call(self, made: ToolCall) -> Call:
        result: Any = {}
        if made.tool == "contacts_search":
            result = {"items": [p for p in PEOPLE if p["name"] == made.args["query"]]}
        elif made.tool == "mail_send":
            self.sent.append(dict(made.args))
            result = "queued" if self.lame else {"id": f"mail_{len(self.sent)}"}
        return Call(tool=made.tool, args=made.args, status=200, result=result)


def record(text: str = "See you soon", name: str = "Bob Jones", **more: Any) -> Record:
    world = World()
    person = next(p["id"] for p in PEOPLE if p["name"] == name)
    calls = [
        world.call(ToolCall(tool="contacts_search", args={"query": name})),
        world.call(ToolCall(tool="mail_send", args={"to": person, "body": text, **more})),
    ]
    steps = tuple(Step(action=ToolCall(tool=c.tool, args=c.args), observation="…", calls=(c,)) for c in calls)
    return Record(instruction=GOAL.format(text=text, name=name), descriptor="d", first_observation="o", steps=steps)


def skill(*args: Any, **more: Any) -> Skill:
    made = induce(record(*args, **more))
    assert made is not None
    return made


def stored(library: Library, metas: Sequence[ItemMeta] = MAIL, **more: Any) -> Version:
    version = library.next_version(skill(**more), record(**more).instruction, metas)
    library.append(version)
    return version


def test_identity_is_tools_arguments_and_dataflow_and_not_values() -> None:
    assert identity(skill("a b c")) == identity(skill("Quite another text", "Anna Smith"))
    assert identity(skill()) != identity(skill(urgent=True))
    assert identity(skill(urgent=True)) == identity(skill(urgent=False))


def test_a_constant_that_differs_between_two_traces_becomes_a_slot() -> None:
    earlier, later = skill(urgent=True), skill(urgent=False)
    made = generalised(earlier, later)
    (lifted,) = [s for s in made.slots if s.name == "urgent"]
    assert (lifted.type, lifted.example) == ("bool", False)
    assert made.steps[-1].args["urgent"] == {"slot": "urgent"}
    assert generalised(made, skill(urgent=False)).steps == made.steps
    assert generalised(earlier, skill(urgent=True)).steps == earlier.steps


def test_a_later_trace_appends_a_version_and_overwrites_none(tmp_path: Path) -> None:
    library = Library(tmp_path)
    first = stored(library)
    second = stored(library, name="Anna Smith")
    assert [v.number for v in library.versions(first.identity)] == [1, 2]
    assert library.versions(first.identity)[0] == first
    assert [r.text for r in second.requests] == [
        GOAL.format(text="See you soon", name=n) for n in ("Bob Jones", "Anna Smith")
    ]
    with pytest.raises(StoreError, match="the next one is 3"):
        library.append(second)


def test_versions_and_reliability_are_there_after_a_restart_and_a_torn_line_is_not(tmp_path: Path) -> None:
    library = Library(tmp_path)
    version = stored(library)
    for ok in (True, True, False):
        library.record(version, ok=ok, request="Write to Bob")
    with (tmp_path / "skills.log").open("ab") as file:
        file.write(b"0123 torn")
    again = Library(tmp_path)
    assert again.all() == library.all()
    assert again.reliability(version) == 3 / 5
    assert again.requests(version) == (record().instruction, "Write to Bob")
    again.record(version, ok=True, request="Write to Bob")
    assert Library(tmp_path).uses(version) == (3, 1)


def test_a_reader_sees_what_another_process_wrote_before_its_request(tmp_path: Path) -> None:
    reader, writer = Library(tmp_path), Library(tmp_path)
    version = stored(writer)
    assert reader.current(Scope()) == [version]


def test_an_edited_log_is_refused(tmp_path: Path) -> None:
    library = Library(tmp_path)
    stored(library)
    stored(library)
    path = tmp_path / "skills.log"
    path.write_bytes(path.read_bytes().replace(b"See you soon", b"See you late", 1))
    with pytest.raises(StoreError, match="edited"):
        Library(tmp_path)


def test_scope_admits_a_skill_only_with_all_its_namespaces_and_an_older_version_where_the_newest_is_out(
    tmp_path: Path,
) -> None:
    library = Library(tmp_path)
    first = stored(library)
    secret = tuple(m.model_copy(update={"label": "staff"}) for m in MAIL)
    second = stored(library, metas=secret)
    reader = Scope(predicates=(MayRead(principal="ada"),))
    assert library.current(Scope()) == [second]
    assert library.current(reader) == [first]
    assert library.current(reader, {"ada": frozenset({"staff"})}) == [second]
    assert library.current(Scope(predicates=(NamespaceIs(names=("mail",)),))) == []


def test_a_skill_that_does_something_else_than_its_source_fails_its_tests() -> None:
    source = record()
    made = skill()
    assert fails_on_source(made, source, World().call) is None
    other = made.model_copy(update={"steps": (*made.steps, made.steps[-1].model_copy(update={"args": {"to": "x"}}))})
    assert fails_on_source(other, source, World().call) == "mail_send was called as the source never did"
    assert "is str, not dict" in (fails_on_source(made, source, World(lame=True).call) or "")


def test_slots_are_read_from_the_words_of_a_request_and_left_open_where_it_is_worded_otherwise() -> None:
    made = skill()
    requests = [request_of(record().instruction, made)]
    assert read_values(made.slots, requests, GOAL.format(text="Bye now", name="Anna Smith")) == {
        "query": "Anna Smith",
        "body": "Bye now",
    }
    assert read_values(made.slots, requests, "Tell Anna Smith by mail: Bye now") == {}


def test_amounts_and_dates_are_read_in_the_form_that_the_slot_takes() -> None:
    slots = (
        Slot(name="amount", type="int", provenance="query", example=4550),
        Slot(name="day", type="date", provenance="query", example="2026-03-14"),
    )
    made = skill().model_copy(update={"slots": slots})
    requests = [request_of("Pay $45.50 on 14 March 2026 please", made)]
    assert read_values(slots, requests, "Pay $7.00 on 2 May 2027 please") == {"amount": 700, "day": "2027-05-02"}


def test_a_mask_takes_out_values_and_leaves_the_words() -> None:
    assert masked('Send "a, b" to Bob Jones by 2026-01-02') == masked('Send "c" to Anna Lee by 2025-11-30')
    assert masked("Send it to Bob") != masked("Take it from Bob")


def test_a_value_to_be_looked_up_is_taken_from_results_only_if_there_is_one() -> None:
    slot = Slot(name="mail_id", type="id", provenance="observation")
    one = Call(tool="mail_search", args={}, status=200, result={"items": [{"mail_id": "mail_1"}]})
    two = Call(tool="mail_search", args={}, status=200, result={"items": [{"mail_id": "mail_2"}]})
    assert observed(slot, [one, one]) == "mail_1"
    assert observed(slot, [one, two]) is None


def test_a_read_fills_runs_and_validates_and_tells_of_each(tmp_path: Path) -> None:
    library, world = Library(tmp_path), World()
    version = stored(library)
    rows: list[dict[str, Any]] = []
    tier = TierC(library, embed)
    reading = tier.read(Asked(GOAL.format(text="Bye", name="Anna Smith"), BOTH), world.call, on_row=rows.append)
    assert reading.ok
    assert world.sent == [{"to": "con_11111", "body": "Bye"}]
    assert [row["what"] for row in rows] == ["ranked", "slots", "validation"]
    assert rows[1]["from"] == {"query": "query", "body": "query"}
    assert library.uses(version) == (1, 0)


def test_a_result_of_another_form_is_a_failure_and_ends_the_walk_once_something_was_written(tmp_path: Path) -> None:
    library, world = Library(tmp_path), World(lame=True)
    stored(library)
    stored(library, urgent=True)
    rows: list[dict[str, Any]] = []
    reading = TierC(library, embed).read(Asked(record().instruction, BOTH), world.call, on_row=rows.append)
    assert not reading.ok
    assert len(world.sent) == 1
    assert rows[-1] == {"what": "fallback", "to": "evidence"}
    assert sorted(map(library.uses, library.all())) == [(0, 0), (0, 1)]


def test_where_nothing_was_written_the_next_skill_is_tried(tmp_path: Path) -> None:
    library, world = Library(tmp_path), World()
    good = stored(library)
    bad = skill().model_copy(
        update={
            "name": "skill_look",
            "steps": (
                skill().steps[0],
                skill().steps[0].model_copy(update={"args": {"query": {"from": 0, "path": ["nothing"]}}}),
                skill().steps[0],
            ),
        }
    )
    broken = library.next_version(bad.model_copy(update={"expects": ()}), record().instruction, MAIL)
    library.append(broken)
    library.record(broken, ok=True, request=record().instruction)
    library.record(good, ok=True, request=record().instruction)
    tier = TierC(library, embed)
    assert [v for v, _ in tier.ranked(record().instruction, BOTH)] == [broken, good]
    reading = tier.read(Asked(record().instruction, BOTH), world.call)
    assert reading.version == good
    assert library.uses(broken) == (1, 1)


def test_a_skill_whose_look_ups_find_nothing_writes_nothing_and_the_next_is_tried(tmp_path: Path) -> None:
    library, world, rows = Library(tmp_path), World(), list[dict[str, Any]]()
    good = stored(library)
    search, send = skill().steps
    twice = skill().model_copy(update={"steps": (search, send, search.model_copy(update={"args": {"query": "Zoe"}}),
        send.model_copy(update={"args": {"to": {"from": 2, "path": ["items", "*", "id"]}, "body": "Bye"}})),
        "expects": ()})  # fmt: skip
    late = library.next_version(twice, record().instruction, MAIL)
    library.append(late)
    library.record(late, ok=True, request=record().instruction)
    library.record(good, ok=True, request=record().instruction)
    reading = TierC(library, embed).read(Asked(record().instruction, BOTH), world.call, on_row=rows.append)
    assert reading.version == good
    assert len(world.sent) == 1
    told = next(row for row in rows if row["what"] == "rehearsal")
    assert told["problem"] == "would stop before step 4, mail_send: nothing was found"
    assert library.uses(late) == (1, 1)


def test_a_look_up_of_what_the_skill_itself_writes_waits_for_the_run() -> None:
    world = World()
    search, send = skill().steps
    again = search.model_copy(update={"tool": "mail_search"})
    reply = send.model_copy(update={"args": {"to": {"from": 2, "path": ["items", "*", "id"]}, "body": "Bye"}})
    made = skill().model_copy(update={"steps": (search, send, again, reply)})
    assert rehearsed(made, {"query": "Bob Jones", "body": "x"}, world.call) is None
    assert world.sent == []


def test_preconditions_stop_a_skill_before_its_first_call(tmp_path: Path) -> None:
    library, world = Library(tmp_path), World()
    stored(library)
    tier = TierC(library, embed)
    asked = Asked(record().instruction, BOTH, tools=frozenset({"contacts_search"}))
    assert not tier.read(asked, world.call).ok
    assert not tier.read(Asked("Write something to somebody", BOTH), world.call).ok
    assert world.sent == []
    assert library.uses(library.all()[0]) == (0, 0)


def test_the_gate_hands_on_nothing_below_tau_and_frozen_reliability_stays(tmp_path: Path) -> None:
    library, world = Library(tmp_path), World()
    version = stored(library)
    assert TierC(library, embed, Settings(least=1.01)).ranked(record().instruction, BOTH) == []
    assert TierC(library, embed, Settings(learn=False)).read(Asked(record().instruction, BOTH), world.call).ok
    assert library.uses(version) == (0, 0)


def test_a_threshold_is_the_middle_of_the_gap_that_leaves_the_highest_mean_precision() -> None:
    assert fit_least([[(0.9, True), (0.8, True)], [(0.7, True), (0.6, False)]]) == pytest.approx(0.65)
    assert fit_least([[(0.9, True)], [(0.5, True)], [(0.7, False)]]) == float("-inf")
    assert fit_least([[(0.9, True)], [(0.5, False)], [(0.7, None)]]) == pytest.approx(0.7)
    assert fit_least([[(0.9, None)], []]) == float("inf")


def test_where_nothing_is_likely_enough_nothing_is_handed_on() -> None:
    assert chosen([0.4, 0.3], [1, 1], 0.5, 0.5, 3) == []
    assert chosen([], [], 0.0, 0.5, 3) == []


def test_without_worth_the_likeliest_skill_is_handed_on_alone() -> None:
    assert chosen([0.5, 0.9, 0.8], [9, 1, 5], 0.0, 0.0, 3) == [1]


def test_of_skills_about_equally_likely_the_one_that_saves_most_comes_first() -> None:
    assert chosen([0.9, 0.85, 0.05], [1, 4, 2], 0.0, 1.0, 3)[0] == 1


def test_at_most_r_skills_are_handed_on_and_of_equal_choices_the_larger() -> None:
    assert chosen([1.0] * 5, [1] * 5, 0.0, 0.5, 3) == [0, 1, 2]


def test_odds_follow_the_trait_that_tells_valid_skills_from_others_and_the_request_itself_has_no_say() -> None:
    traits = [np.array([[float(n % 2), 0.3], [float(n % 3 == 0), 0.3]]) for n in range(60)]
    valid: list[list[bool | None]] = [[n % 2 == 1, None] for n in range(60)]
    low, high = fit_odds(np.array([t[0] for t in traits]), np.arange(60) % 2 == 1).of(np.array([[0, 0.3], [1, 0.3]]))
    assert low < 0.3
    assert high > 0.7
    turned = [[not valid[0][0], None], *valid[1:]]
    assert left_out(traits, valid)[0] == pytest.approx(left_out(traits, turned)[0])
    assert left_out(traits, valid)[1] != pytest.approx(left_out(traits, turned)[1])


def test_of_elements_that_are_alike_those_that_are_equal_are_meant() -> None:
    items: list[Any] = [{"name": "Work: garden"}, {"name": "work"}, {"name": "Work: house"}]
    assert matching(items, {"name": "Work"}) == [1]
    assert matching(items, {"name": "Work: house"}) == [2]
    assert matching(items[::2], {"name": "Work"}) == [0, 1]


def test_a_skill_with_another_flag_than_the_request_names_is_not_for_it() -> None:
    loud = skill(urgent=True)
    told = ("Send an urgent mail to Bob",)
    assert otherwise_flagged(loud, told, "Send a mail to Anna")
    assert not otherwise_flagged(loud, told, "Send Anna a mail, urgently")
    assert not otherwise_flagged(loud, ("Send a mail to Bob", *told), "Send a mail to Anna")
    assert otherwise_flagged(skill(urgent=False), ("Send a mail to Bob",), "Send an urgent mail to Anna")


def test_a_request_falls_into_what_it_asks_for() -> None:
    assert clauses("Fetch a joke and send it to Bob. Also, star the mail!") == [
        "Fetch a joke",
        "send it to Bob.",
        "star the mail!",
    ]
    assert clauses("Go") == ["Go"]


def test_silence_costs_where_something_was_valid_and_nothing_else() -> None:
    requests = [[(0.9, True), (0.8, False)], [(0.5, True)], [(0.4, False)]]
    assert mean_precision(requests, 0.6) == 0.25
    assert mean_precision(requests, 0.85) == 0.5
    assert mean_precision(requests, 0.45) == 0.75
    assert mean_precision([[(0.9, True)], [(0.9, None), (0.5, True)]], 0.8) == 1.0


def test_tuning_leaves_out_what_no_induction_request_could_use_and_keeps_what_each_could(tmp_path: Path) -> None:
    library = Library(tmp_path)
    right = stored(library)
    look = skill().steps[0].model_copy(update={"tool": "contacts_delete"})
    wrong = library.next_version(skill().model_copy(update={"steps": (look,)}), record().instruction, MAIL)
    library.append(wrong)
    for n in range(12):
        library.record(right, ok=True, request=f"Search and send, the {n}th")
        library.record(wrong, ok=False, request=f"Search and send, the {n}th")
    tuning = Tuning(library, embed)
    for n in range(12):
        tuning.ask(Source(f"Search the contacts and send a mail, the {n}th"), BOTH, lambda version: version == right)
    tier = TierC(library, embed, tuning.settings())
    assert [v for v, _ in tier.ranked("Send a mail after a search of the contacts", BOTH)] == [right]


def test_tau_is_where_a_skill_and_silence_are_worth_the_same(tmp_path: Path) -> None:
    library = Library(tmp_path)
    right = stored(library)
    wrong = library.next_version(skill(urgent=True), record().instruction, (ItemMeta(namespace="fax"),))
    library.append(wrong)
    fax = Scope(predicates=(NamespaceIs(names=("fax",)),))
    tuning = Tuning(library, embed)
    for n in range(40):
        tuning.ask(Source(f"Search the contacts and send a mail, the {n}th"), BOTH, lambda version: version == right)
        tuning.ask(Source(f"Water the plants, the {n}th"), fax, lambda version: version == right)
    settings = tuning.settings()
    (good,) = TierC(library, embed, settings).ranked("Search the contacts and send a mail, the 41th", BOTH)
    assert good[0] == right
    assert settings.least == pytest.approx(1 / (2 + settings.worth))  # all that can be valid is found
    assert settings.least < good[1]
    assert TierC(library, embed, settings).ranked("Water the plants, the 41th", fax) == []


def test_where_nothing_is_known_of_an_induction_split_nothing_is_handed_on(tmp_path: Path) -> None:
    library = Library(tmp_path)
    stored(library)
    tuning = Tuning(library, embed)
    tuning.ask(Source("Send a mail"), BOTH, lambda _: None)
    assert TierC(library, embed, tuning.settings()).ranked(record().instruction, BOTH) == []


@settings(deadline=None, max_examples=30)
@given(order=strategies.permutations(range(5)))
def test_the_order_in_which_traces_were_learnt_changes_no_score(
    order: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    traces: list[dict[str, Any]] = [
        {}, {"name": "Anna Smith"}, {"text": "Bye", "urgent": True}, {"text": "Bye now", "urgent": False}, {"cc": "x"},
    ]  # fmt: skip

    def found(numbers: Sequence[int]) -> dict[str, list[float]]:
        library = Library(tmp_path_factory.mktemp("library"))
        for n in numbers:
            stored(library, **traces[n])
        current = {v.identity: v for v in library.current(BOTH)}
        for n in numbers:
            one = current[identity(skill(**traces[n]))]
            library.record(one, ok=n % 2 == 0, request=f"Request number {n}")
        tier = TierC(library, embed)
        versions, known = tier.known("Write to Anna", BOTH)
        scores = zip(versions, tier.odds("Write to Anna", known), tier.traits("Write to Anna", known), strict=True)
        return {v.identity: [odds, *row] for v, odds, row in scores}

    assert found(order) == {one: pytest.approx(row, abs=1e-6) for one, row in found(range(5)).items()}


def test_what_one_trace_taught_is_left_out_and_nothing_else(tmp_path: Path) -> None:
    library = Library(tmp_path)
    first, second = stored(library), stored(library, name="Anna Smith", text="Bye")
    library.record(second, ok=False, request="Drop Anna a line")
    library.record(second, ok=True, request="Write to Bob")
    own = Source("Drop Anna a line", frozenset({second.key}))
    assert library.current(BOTH, without=own) == [first]
    assert library.requests(second, Source("Write to Bob", frozenset({first.key}))) == (second.requests[-1].text,)
    assert (library.uses(second), library.uses(second, own)) == ((1, 1), (1, 0))
    assert library.reliability(second, own) > library.reliability(second)
    tier = TierC(library, embed)
    goal = first.requests[-1].text
    assert [v for v, _ in tier.ranked(goal, BOTH)] == [second]
    assert [v for v, _ in tier.ranked(goal, BOTH, own)] == [first]
    assert tier.ranked(goal, BOTH, Source(goal, frozenset({first.key, second.key}))) == []


def test_what_a_library_learns_by_is_what_is_nearest_whatever_came_of_it_before(tmp_path: Path) -> None:
    library = Library(tmp_path)
    version = stored(library)
    library.record(version, ok=False, request=record().instruction)
    assert TierC(library, embed).nearest(record().instruction, BOTH) == [version]


def test_a_request_names_a_skill_no_more_than_the_call_it_names_least() -> None:
    assert named(skill(), "Search my contacts and send a mail") == 1.0
    assert named(skill(), "Send a mail") == 0.0
    assert named(skill(), "Searching contacts") == 0.0


def test_a_skill_is_found_by_what_it_held_for_and_a_later_version_starts_from_what_is_known(tmp_path: Path) -> None:
    library = Library(tmp_path)
    first = stored(library)
    library.record(first, ok=True, request="Drop Anna a line")
    second = stored(library, name="Anna Smith")
    assert library.reliability(second) == library.reliability(first) == 2 / 3
    tier = TierC(library, embed)
    _, known = tier.known("Drop Anna a line", BOTH)
    assert tier.traits("Drop Anna a line", known)[0, 0] == pytest.approx(1.0, abs=1e-6)


def test_uses_and_open_slots_are_traits_of_a_skill(tmp_path: Path) -> None:
    library = Library(tmp_path)
    version = stored(library)
    tier = TierC(library, embed)
    for _ in range(2):
        library.record(version, ok=True, request="Write to Bob")
    _, (known,) = tier.known("Do something else", BOTH)
    bare = replace(known, skill=known.skill.model_copy(update={"slots": ()}), failed=2)
    found = tier.traits("Do something else", [known, bare])
    assert found[:, 3].tolist() == [0.0, 1.0]
    assert found[:, 4].tolist() == [pytest.approx(math.log(3)), pytest.approx(0.0)]


def test_a_skill_that_never_held_is_not_handed_on_beside_one_that_did(tmp_path: Path) -> None:
    library = Library(tmp_path)
    good = stored(library)
    untried = stored(library, urgent=True)
    found = [v.key for v, _ in TierC(library, embed).ranked(record().instruction, BOTH)]
    assert sorted(found) == sorted([good.key, untried.key])
    for _ in range(3):
        library.record(good, ok=True, request=record().instruction)
        library.record(untried, ok=False, request=record().instruction)
    assert [v for v, _ in TierC(library, embed).ranked(record().instruction, BOTH)] == [good]


class Box:
    """`World` as an environment of tool calls."""

    def __init__(self, world: World) -> None:
        self.world = world

    def step(self, action: Any) -> tuple[str, float, bool, bool, dict[str, Any]]:
        return "…", 0.0, False, False, {"calls": (self.world.call(action),), "error": None}


def test_a_skill_that_fails_in_an_episode_is_followed_by_evidence_once_and_all_is_told() -> None:
    made, rows = skill(), list[dict[str, Any]]()
    env = SkillEnvironment(Box(World(lame=True)), [made], lambda: "step one, step two", rows.append)  # type: ignore[arg-type]
    call = ToolCall(tool=made.name, args={"query": "Bob Jones", "body": "x"})
    observation, *_, info = env.step(call)
    assert observation.endswith(FROM_MEMORY + "step one, step two")
    assert info["error"] == rows[1]["problem"]
    assert FROM_MEMORY not in env.step(call)[0]
    assert [row["what"] for row in rows] == ["slots", "validation", "fallback", "slots", "validation"]
    assert {row["record"] for row in rows} == {made.record_id}


def test_a_slot_of_the_wrong_type_makes_no_call_and_is_told() -> None:
    made, rows, world = skill(), list[dict[str, Any]](), World()
    env = SkillEnvironment(Box(world), [made], on_row=rows.append)  # type: ignore[arg-type]
    observation, *_, info = env.step(ToolCall(tool=made.name, args={"query": 7, "body": "x"}))
    assert (observation, info["calls"], world.sent) == ("query must be of type str", (), [])
    assert rows[-1]["what"] == "precondition"


class Words:
    """A writer that is never asked; a token is a word."""

    def count(self, request: Any) -> int:
        return sum(len(m.content.split()) for m in request.messages)


@pytest.mark.parametrize("budget", [5, 20, 200])
def test_a_miss_is_tier_b_to_the_word_and_within_the_same_budget(budget: int) -> None:
    evidence = ShardedEvidence(encode=embed)
    ask = SupportAsk(
        record=record(), summary="It wrote to Bob. It was short.", skills=(), goal="Write to Anna",
        first_observation="o", writer=Words(), writer_name="words", decoding=Decoding(), cap_tokens=budget,
    )  # fmt: skip
    tier_b = evidence.support(ask)
    missed = CallableSkill(evidence).support(ask)
    apart = {"condition", "flags"}
    assert missed.model_dump(exclude=apart) == tier_b.model_dump(exclude=apart)
    assert missed.flags == ("no-skill", "fallback:evidence", *tier_b.flags)


def test_scope_of_skills_decides_as_scope_of_evidence_does() -> None:
    now = datetime(2026, 3, 1, tzinfo=UTC)
    metas = [
        ItemMeta(),
        ItemMeta(user="u1", namespace="bank.cards", label="staff", time=now),
        ItemMeta(user="u2", namespace="bankers", session="s", speaker="a", time=now - timedelta(days=9)),
    ]
    one_each: list[Any] = [
        UserIs(names=("u1",)), SessionIs(names=("s", "")), SpeakerIs(names=("a",)), NamespaceIs(names=("bank",)),
        TimeWithin(start=now), TimeWithin(end=now - timedelta(days=1)), TimeWithin(), MayRead(principal="ada"),
    ]  # fmt: skip
    for one in one_each:
        for held in ({}, {"ada": frozenset({"staff"})}):
            for meta in metas:
                names = [Vocabulary([getattr(meta, field)]) for field in FIELDS]
                admission = compile_scope(Scope(predicates=(one,)), names, held)
                at = seconds(meta.time)
                timed = not admission.timed or (
                    at is not None
                    and (admission.low is None or admission.low <= at)
                    and (admission.high is None or at <= admission.high)
                )
                expected = timed and all(flags[0] for flags in admission.allowed.values())
                assert admits(Scope(predicates=(one,)), [meta], held) == expected, (one, meta)
