"""The audit of a run: a clean one is clean, and every planted violation is caught by its check and by no other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.audited import (
    ENV,
    FAILURE,
    OTHER,
    RECORD,
    SOURCE_CANARY,
    TARGET_CANARY,
    TASK,
    Entry,
    clean_run,
    dump,
    seal_of,
    write,
)

from rebind.errors import LedgerError
from rebind.eval.audit import COUNTS, audit, holds
from rebind.eval.ledger import LEDGER_FILE

Plant = Callable[[list[Entry]], object]


def first(entries: list[Entry], kind: str, condition: str | None = None, seed: int = 0) -> Entry:
    """The first event of a kind (in a cell of that condition)."""
    for entry in entries:
        inside = condition is None or (entry.cell and (entry.cell.condition, entry.cell.seed) == (condition, seed))
        if entry.kind == kind and inside:
            return entry
    raise AssertionError(f"no {kind} event")


def position(entries: list[Entry], kind: str, condition: str, seed: int = 0) -> int:
    found = first(entries, kind, condition, seed)
    return next(n for n, entry in enumerate(entries) if entry is found)


def say(kind: str, text: str, condition: str | None = None) -> Plant:
    """Adds a text where the given kind of event shows one."""

    def plant(entries: list[Entry]) -> None:
        data: Any = first(entries, kind, condition).data
        field = {"retrieval": "query", "record": "index_text", "support": "text"}.get(kind)
        if field:
            data[field] += f" {text}"
        else:
            request = data["request"] if kind == "selection" else data
            request["messages"][-1]["content"] += f" {text}"

    return plant


def audited(folder: Path, plant: Plant) -> dict[str, Any]:
    entries = clean_run()
    plant(entries)
    return audit(write(entries, folder))


def test_a_clean_run_is_clean_and_says_how_much_was_checked(tmp_path: Path) -> None:
    found = audit(write(clean_run(), tmp_path))
    assert found["findings"] == []
    assert holds(found)
    assert found["selections_shared"]
    assert {name: found[name] for name in COUNTS} == dict.fromkeys(COUNTS, 0)
    assert found["checked"] | {"texts": 0} == {"texts": 0, "supports": 10, "selections": 1, "calls": 20, "episodes": 10}
    assert found["checked"]["texts"] > 100
    assert found["skipped"]["target_values"] == 20  # a truth value and a single digit, ten supports
    assert found["manifest"] == "matches"


SEALED = {
    "the environment id": ENV,
    "the environment id without its namespace": "apps-V0",
    "the family": "apps/forward-latest-invoice",
    "the family without its namespace": "Forward-latest-invoice",
    "the task key": TASK.key,
    "the start of the task key": TASK.key[:16],
    "the source's task key": seal_of(RECORD, "").task_key,
    "the source record's id": RECORD.id,
    "the level": "a Large  binding shift",
    "a rollout setting in JSON": '{"re-check": 3}',
    "a rollout setting in words": "re-check=3",
    "a telling rollout value": "oracle-with-detours",
    "a telling rollout number": "412345",
    "a milestone's text": "the newest invoice\nwas found first.",
    "a verifier's failure": FAILURE.upper(),
}
PLACES = {
    "the retriever's query": ("retrieval", None),
    "the index text": ("record", None),
    "the ranker's prompt": ("selection", None),
    "a support": ("support", "summary"),
    "the actor's prompt": ("call", "full"),
}


@pytest.mark.parametrize("value", SEALED)
def test_a_sealed_value_in_the_actors_prompt_is_found(tmp_path: Path, value: str) -> None:
    found = audited(tmp_path, say("call", f"note: {SEALED[value]}.", "none"))
    assert (found["sealed_fields"], found["canaries"], found["clean"]) == (1, 0, False)
    assert found["findings"][0]["kind"] == "call"
    assert "shown to the actor" in found["findings"][0]["what"]


@pytest.mark.parametrize("place", PLACES)
def test_a_sealed_value_is_found_in_every_place_that_is_read(tmp_path: Path, place: str) -> None:
    kind, condition = PLACES[place]
    found = audited(tmp_path, say(kind, SEALED["the family"], condition))
    assert found["sealed_fields"] == 1
    assert found["findings"][0]["kind"] == kind


def in_writer_prompt(text: str) -> Plant:
    def plant(entries: list[Entry]) -> None:
        first(entries, "support", "qcr").data["requests"][0]["messages"][0]["content"] += text

    return plant


def in_tools(text: str) -> Plant:
    def plant(entries: list[Entry]) -> None:
        first(entries, "call", "skill").data["tools"][0]["parameters"]["properties"] = {"to": {"enum": [text]}}

    return plant


def in_turns(text: str) -> Plant:
    def plant(entries: list[Entry]) -> None:
        first(entries, "support", "full").data["turns"][0]["action"]["args"]["comment"] = text

    return plant


@pytest.mark.parametrize("hide", [in_writer_prompt, in_tools, in_turns])
def test_sealed_values_and_canaries_are_found_in_structures_too(tmp_path: Path, hide: Callable[[str], Plant]) -> None:
    assert audited(tmp_path / "a", hide(" apps/forward-latest-invoice "))["sealed_fields"] == 1
    assert audited(tmp_path / "b", hide(f"x{TARGET_CANARY}x"))["canaries"] == 1


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("canary", [SOURCE_CANARY, TARGET_CANARY])
def test_a_canary_is_found_in_every_place(tmp_path: Path, place: str, canary: str) -> None:
    kind, condition = PLACES[place]
    found = audited(tmp_path, say(kind, f"({canary.upper()})", condition))
    assert (found["canaries"], found["sealed_fields"]) == (1, 0)


def test_canaries_are_counted_as_often_as_they_stand_there_and_in_answers(tmp_path: Path) -> None:
    def plant(entries: list[Entry]) -> None:
        first(entries, "call", "none").data["text"] = f"{TARGET_CANARY} {TARGET_CANARY}"
        first(entries, "selection").data["completion"]["text"] = SOURCE_CANARY

    assert audited(tmp_path, plant)["canaries"] == 3


def test_a_sealed_word_that_the_model_coined_and_hears_back_is_no_leak(tmp_path: Path) -> None:
    def plant(entries: list[Entry]) -> None:
        calls = [e.data for e in entries if e.kind == "call" and e.cell and e.cell.condition == "none"]
        calls[0]["text"] = '{"tool": "forward-latest-invoice"}'
        calls[1]["messages"][0]["content"] = calls[0]["text"]
        calls[1]["messages"][1]["content"] = "no tool forward-latest-invoice"

    assert audited(tmp_path, plant)["clean"]


def test_parts_of_longer_words_are_no_sealed_values(tmp_path: Path) -> None:
    longer = f"forward-latest-invoices {RECORD.id}ff 9412345 re-check 30 the binding shifts large"
    assert audited(tmp_path, say("call", longer, "none"))["clean"]


LEAKS = {
    "a record id": "use mail_8321 now",
    "an element of a list, in capitals": "write to CM@X.example",
    "an amount as text spells it": "pay 1,842.50",
    "an amount in cents": "pay 184250",
}


@pytest.mark.parametrize("leak", LEAKS)
def test_a_target_value_that_nothing_shows_is_a_leak_in_a_support(tmp_path: Path, leak: str) -> None:
    found = audited(tmp_path, say("support", LEAKS[leak], "qcr"))
    assert (found["target_leaks"], found["sealed_fields"]) == (1, 0)
    assert found["findings"][0]["kind"] == "support"


def test_a_target_value_that_the_first_observation_shows_is_no_leak(tmp_path: Path) -> None:
    def plant(entries: list[Entry]) -> None:
        say("support", "use mail_8321", "qcr")(entries)
        first(entries, "retrieval").data["query"] += "\nOpen mail: mail_8321."

    assert audited(tmp_path, plant)["clean"]


def test_a_target_value_that_the_query_shows_is_no_leak(tmp_path: Path) -> None:
    assert audited(tmp_path, say("support", "Cleo Marsh, Hazel Freight", "summary"))["clean"]


def test_a_target_value_that_stands_in_the_record_too_is_no_leak(tmp_path: Path) -> None:
    def plant(entries: list[Entry]) -> None:
        say("support", "a mail to ben.moss@mail.example", "qcr")(entries)
        bindings = first(entries, "target").data["seal"]["bindings"]
        bindings.append({"name": "cc", "kind": "user", "value": "ben.moss@mail.example", "central": False})

    assert audited(tmp_path, plant)["clean"]


def test_a_record_whose_content_is_not_the_one_its_id_names_clears_nothing(tmp_path: Path) -> None:
    def plant(entries: list[Entry]) -> None:
        say("support", "use mail_8321", "qcr")(entries)
        first(entries, "record").data["content"]["steps"][0]["observation"] += " mail_8321"

    assert audited(tmp_path, plant)["target_leaks"] == 1


def test_two_selections_of_one_target_are_not_shared(tmp_path: Path) -> None:
    def plant(entries: list[Entry]) -> None:
        again = clean_run()
        second = first(again, "selection")
        second.data["chosen"] = OTHER.id
        entries.insert(position(entries, "start", "qcr"), second)

    found = audited(tmp_path, plant)
    assert not found["selections_shared"]
    assert any("second selection" in f["what"] for f in found["findings"])


def test_a_selection_written_twice_alike_is_shared(tmp_path: Path) -> None:
    def plant(entries: list[Entry]) -> None:
        entries.insert(position(entries, "start", "none"), first(entries, "selection"))

    assert audited(tmp_path, plant)["clean"]


def move_selection(entries: list[Entry]) -> None:
    late = first(entries, "selection")
    entries.remove(late)
    entries.insert(position(entries, "support", "full"), late)


def drop_selection(entries: list[Entry]) -> None:
    entries.remove(first(entries, "selection"))
    for entry in entries:
        if entry.kind == "support":
            entry.data.update(requests=[], skills=[], turns=[], turns_goal="", text="")


def choose_outside(entries: list[Entry]) -> None:
    first(entries, "selection").data["candidates"] = [OTHER.id]
    first(entries, "retrieval").data["candidates"] = [OTHER.id]


def other_candidates(entries: list[Entry]) -> None:
    first(entries, "retrieval").data["candidates"] = [RECORD.id]


def other_turns(entries: list[Entry]) -> None:
    first(entries, "support", "full").data["turns_goal"] = OTHER.instruction


def other_skill(entries: list[Entry]) -> None:
    first(entries, "support", "skill").data["skills"][0]["record_id"] = OTHER.id


def other_writer_input(entries: list[Entry]) -> None:
    first(entries, "support", "qcr").data["requests"][0]["messages"][1]["content"] = OTHER.instruction


@pytest.mark.parametrize(
    ("plant", "said"),
    [
        (move_selection, "before its target's record was selected"),
        (drop_selection, "has no selection"),
        (choose_outside, "is not one of its candidates"),
        (other_candidates, "not those that were retrieved"),
        (other_turns, "the turns are not of the chosen record"),
        (other_skill, "a skill comes from record"),
        (other_writer_input, "a writer read something else"),
    ],
)
def test_a_condition_that_did_not_use_the_one_selection_is_found(tmp_path: Path, plant: Plant, said: str) -> None:
    found = audited(tmp_path, plant)
    assert not found["selections_shared"]
    assert any(said in f["what"] for f in found["findings"])
    assert {f["check"] for f in found["findings"]} == {"selections"}


def wrong_account(entries: list[Entry]) -> None:
    first(entries, "episode", "qcr").data["tokens"]["i_syn"] += 1


def wrong_usage(entries: list[Entry]) -> None:
    first(entries, "call", "full").data["usage"]["prompt"] += 1


def no_episode(entries: list[Entry]) -> None:
    begin, end = position(entries, "start", "skill"), position(entries, "episode", "skill")
    del entries[begin : end + 1]


def second_episode(entries: list[Entry]) -> None:
    begin, end = position(entries, "start", "skill"), position(entries, "episode", "skill")
    for entry in entries[begin : end + 1]:
        data = {**entry.data, "attempt": 1} if "attempt" in entry.data else entry.data
        entries.append(Entry(entry.kind, data, entry.cell, 1))


def deleted_first_attempt(entries: list[Entry]) -> None:
    for n, entry in enumerate(entries):
        if entry.cell and entry.cell.condition == "none" and entry.cell.seed == 1:
            entries[n] = entry._replace(attempt=1)


def no_end(entries: list[Entry]) -> None:
    cut = [e for e in entries if e.cell and e.cell.condition == "none" and e.cell.seed == 0][:3]
    begin = position(entries, "start", "none")
    entries[begin:begin] = cut
    for n in range(begin + len(cut), len(entries)):
        if entries[n].cell == cut[0].cell:
            entries[n] = entries[n]._replace(attempt=1)


def no_start(entries: list[Entry]) -> None:
    entries.remove(first(entries, "start", "summary"))


def no_step(entries: list[Entry]) -> None:
    entries.remove(first(entries, "step", "full"))


def no_verdict(entries: list[Entry]) -> None:
    entries.remove(first(entries, "verdict", "full"))


def hotter(entries: list[Entry]) -> None:
    first(entries, "call", "full").data["decoding"]["temperature"] = 0.9


def other_model(entries: list[Entry]) -> None:
    first(entries, "call", "full", seed=1).data["model"] = "n"


def no_decoding(entries: list[Entry]) -> None:
    del first(entries, "call", "full").data["decoding"]


def small_budget(entries: list[Entry]) -> None:
    entries[0].data["budget"] = {"steps": 1, "calls": 120}


def ended_early(entries: list[Entry]) -> None:
    entries[0].data["budget"] = {"steps": 40, "calls": 120}
    first(entries, "episode", "full").data["ending"] = "over-steps"


def no_such_limit(entries: list[Entry]) -> None:
    entries[0].data["budget"] = {"steps": 40, "calls": 120, "seconds": None}
    first(entries, "episode", "full").data["ending"] = "over-time"


def kept_too_many(entries: list[Entry]) -> None:
    [e for e in entries if e.kind == "call"][1].data["kept"] = 3


def no_first_call(entries: list[Entry]) -> None:
    entries.remove(first(entries, "call", "none"))


@pytest.mark.parametrize(
    ("plant", "counts"),
    [
        (wrong_account, {"token_identity_violations": 2}),
        (wrong_usage, {"token_identity_violations": 3}),
        (no_episode, {"missing_cells": 1}),
        (second_episode, {"doubled_cells": 1}),
        (deleted_first_attempt, {"deleted_attempts": 1}),
        (no_end, {"deleted_attempts": 1}),
        (no_start, {"deleted_attempts": 6, "missing_cells": 1}),
        (no_step, {"deleted_attempts": 1}),
        (no_verdict, {"deleted_attempts": 1}),
        (hotter, {"decoding_differs": 1}),
        (other_model, {"decoding_differs": 1}),
        (no_decoding, {"decoding_differs": 1}),
        (small_budget, {"budget_differs": 10}),
        (ended_early, {"budget_differs": 1}),
        (no_such_limit, {"budget_differs": 1}),
        (kept_too_many, {"broken_prompts": 1}),
        (no_first_call, {"broken_prompts": 1, "token_identity_violations": 5}),
    ],
)
def test_a_violation_in_an_attempt_is_found_by_its_check(tmp_path: Path, plant: Plant, counts: dict[str, int]) -> None:
    found = audited(tmp_path, plant)
    assert {name: found[name] for name in COUNTS if found[name]} == counts, found["findings"]
    assert not holds(found)
    assert all(isinstance(f["what"], str) and f["what"] for f in found["findings"])


def test_an_attempt_that_a_note_says_was_abandoned_is_no_deletion(tmp_path: Path) -> None:
    def plant(entries: list[Entry]) -> None:
        no_end(entries)
        begin = position(entries, "start", "none")
        cell = entries[begin].cell
        entries.insert(begin + 3, Entry("note", {"abandoned": 0, "why": "killed"}, cell, 0))

    assert audited(tmp_path, plant)["clean"]


def test_an_attempt_under_way_is_no_deletion_while_the_run_is_not_finished(tmp_path: Path) -> None:
    entries = clean_run()
    found = audit(write(entries[: position(entries, "step", "full", seed=1)], tmp_path, seal=False))
    assert (found["manifest"], found["deleted_attempts"], found["missing_cells"]) == ("absent", 0, 4)


def test_a_torn_end_is_left_out_and_an_edited_ledger_is_refused(tmp_path: Path) -> None:
    write(clean_run(), tmp_path, seal=False)
    path = tmp_path / LEDGER_FILE
    good = path.read_bytes()
    path.write_bytes(good[:-5])
    assert audit(tmp_path)["missing_cells"] == 1
    path.write_bytes(good.replace(b"Hazel", b"Pazel", 1))
    with pytest.raises(LedgerError, match="would prove nothing"):
        audit(tmp_path)


def test_a_ledger_without_a_plan_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="no plan"):
        audit(write([Entry("note", {})], tmp_path))


def test_the_records_of_the_made_run_are_what_their_ids_say() -> None:
    content = dump(RECORD)
    assert first(clean_run(), "record").data["content"] == content
