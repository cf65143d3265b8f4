"""What `load_run` makes of a ledger: one row per final attempt, everything recounted from the events."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest
from support.ledgers import MadeRun, call

from rebind.errors import LedgerError
from rebind.eval.frames import load_run
from rebind.eval.ledger import Ledger
from rebind.types import Cell, ReuseNote

NOTE = ReuseNote(
    workflow="Look up, pay.", rebind="The payee.", applies="There is a payee.", verify="Check the balance."
)


def one(frame: pd.DataFrame, **where: object) -> pd.Series:
    for name, value in where.items():
        frame = frame[frame[name] == value]
    assert len(frame) == 1
    return frame.iloc[0]


@pytest.fixture
def made() -> MadeRun:
    run = MadeRun(seeds=(0, 1))
    run.record("r1", {"person": "Ben Moss"}, family="pay", actions=8)
    run.record("r2", {"song": "Blue"}, family="play", actions=40)
    return run


def test_an_episode_row_says_what_its_events_say(made: MadeRun, tmp_path: Path) -> None:
    target = made.target("Pay Anna Keller.", "r1", {"person": "Anna Keller"}, level="medium", family="pay")
    steps = [call("contacts_search", query="Ben Moss"), call("bank_transfer", payee="Anna Keller")]
    made.episode(target, "qcr", False, milestones=(2, 3), steps=steps, note=NOTE, calls=[(100, 20, 10), (130, 20, 12)])
    row = one(load_run(made.write(tmp_path)).episodes)
    assert (row["target"], row["source"], row["family"], row["level"]) == (target, "r1", "pay", "medium")
    assert (row["length_group"], row["actions"], row["condition"], row["seed"]) == ("5-10", 8, "qcr", 0)
    assert (row["outcome"], row["ending"], row["success"], row["api_calls"], row["steps"]) == (
        "valid",
        "done",
        False,
        2,
        2,
    )
    assert row["milestone"] == pytest.approx(2 / 3)
    # Prompts 100 + 130, of which 40 support; the note cost 500 + 50; answers 10 + 12.
    components = {name: int(row[name]) for name in ("i_base", "i_mem", "i_syn", "o_syn", "o_act")}
    assert components == {"i_base": 190, "i_mem": 40, "i_syn": 500, "o_syn": 50, "o_act": 22}
    assert row["online"] == 190 + 40 + 500 + 50 + 22
    # Once: 100, then 130 − (100 + 10) = 20 new, answers 22, and the note.
    assert row["once"] == 100 + 20 + 22 + 550
    assert (row["stale"], row["rebound"], row["bound_share"]) == (1, False, 1.0)


def test_the_final_attempt_is_the_last_that_ended_and_all_attempts_stay(made: MadeRun, tmp_path: Path) -> None:
    target = made.target("Pay Anna Keller.", "r1", {"person": "Anna Keller"}, family="pay")
    made.episode(target, "none", outcome="invalid-infra", ending="ProviderError", attempt=0)
    made.episode(target, "none", abandoned=True, attempt=1)
    made.episode(target, "none", True, attempt=2)
    run = load_run(made.write(tmp_path))
    assert one(run.episodes)["attempt"] == 2
    assert list(run.attempts["ending"]) == ["ProviderError", "abandoned", "done"]
    assert list(run.attempts["outcome"].fillna("none")) == ["invalid-infra", "none", "valid"]


def test_an_unjudged_episode_has_no_success_rather_than_a_failure(made: MadeRun, tmp_path: Path) -> None:
    target = made.target("Pay Anna Keller.", "r1", {"person": "Anna Keller"}, family="pay")
    made.episode(target, "none", outcome="invalid-infra", ending="ProviderError")
    row = one(load_run(made.write(tmp_path)).episodes)
    assert pd.isna(row["success"])
    assert pd.isna(row["milestone"])


def test_a_target_row_knows_the_ranks_of_its_own_and_of_usable_records(made: MadeRun, tmp_path: Path) -> None:
    made.record("r3", family="pay")
    made.target("Pay Anna.", "r1", {"person": "Anna"}, family="pay", candidates=("r2", "r3", "r1"), chosen="r3")
    made.target("Pay Eve.", "r1", {"person": "Eve"}, family="pay", candidates=("r2",), chosen=None)
    run = load_run(made.write(tmp_path))
    first, second = run.targets.iloc[0], run.targets.iloc[1]
    assert (first["paired_rank"], first["usable_rank"]) == (3, 2)
    assert (bool(first["chosen_paired"]), bool(first["chosen_usable"])) == (False, True)
    assert pd.isna(second["paired_rank"])
    assert pd.isna(second["usable_rank"])
    assert second["length_group"] == "no record"
    chosen = run.selections[run.selections["chosen"]]
    assert list(zip(chosen["rank"], chosen["record"], strict=True)) == [(2, "r3")]


def test_stale_values_are_those_of_the_selected_record_not_of_the_paired_one(made: MadeRun, tmp_path: Path) -> None:
    made.record("r3", {"person": "Carla Ruiz"}, family="pay")
    target = made.target(
        "Pay Anna Keller.", "r1", {"person": "Anna Keller"}, family="pay", candidates=("r3", "r1"), chosen="r3"
    )
    made.episode(target, "full", steps=[call("contacts_search", query="Carla Ruiz")])
    made.episode(target, "qcr", steps=[call("contacts_search", query="Ben Moss")])
    episodes = load_run(made.write(tmp_path)).episodes
    assert one(episodes, condition="full")["stale"] == 1
    assert one(episodes, condition="qcr")["stale"] == 0


def test_the_first_observation_counts_as_evidence(made: MadeRun, tmp_path: Path) -> None:
    target = made.target(
        "Pay her.", "r1", {"person": "Anna Keller"}, family="pay", first_observation="A message from Ben Moss waits."
    )
    made.episode(target, "full", steps=[call("contacts_search", query="Ben Moss")])
    assert one(load_run(made.write(tmp_path)).episodes)["stale"] == 0


def test_a_target_that_changes_nothing_is_not_checkable(made: MadeRun, tmp_path: Path) -> None:
    target = made.target("Pay Ben Moss.", "r1", {"person": "Ben Moss"}, level="none", family="pay")
    made.episode(target, "full", steps=[call("contacts_search", query="Ben Moss")])
    row = one(load_run(made.write(tmp_path)).episodes)
    assert not row["checkable"]
    assert pd.isna(row["stale"])
    assert pd.isna(row["rebound"])


def test_an_episode_row_that_lies_about_its_events_is_recounted_and_named(made: MadeRun, tmp_path: Path) -> None:
    target = made.target("Pay Anna Keller.", "r1", {"person": "Anna Keller"}, family="pay")
    made.episode(target, "none", False, steps=[call("a")], claims={"api_calls": 7, "success": True})
    run = load_run(made.write(tmp_path))
    assert one(run.episodes)["api_calls"] == 1
    assert any("api_calls is 7 in the episode and 1 by its events" in d for d in run.discrepancies)
    assert any("success is True in the episode and False" in d for d in run.discrepancies)


def test_an_honest_run_has_no_discrepancies(made: MadeRun, tmp_path: Path) -> None:
    target = made.target("Pay Anna Keller.", "r1", {"person": "Anna Keller"}, family="pay")
    for condition in ("none", "full", "qcr"):
        made.episode(target, condition, steps=[call("a")], note=NOTE if condition == "qcr" else None, milestones=(1, 2))
    assert load_run(made.write(tmp_path)).discrepancies == ()


def test_a_running_study_can_be_read_and_a_plan_alone_gives_empty_frames(made: MadeRun, tmp_path: Path) -> None:
    run = load_run(made.write(tmp_path, seal=False))
    assert len(run.episodes) == len(run.attempts) == len(run.targets) == 0
    assert run.chain.events == 3  # the plan and two records
    assert math.isfinite(run.chain.ended)


def test_a_folder_without_a_plan_is_refused_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="cannot be read"):
        load_run(tmp_path / "nowhere")
    with Ledger.open(tmp_path) as ledger:
        ledger.append("note", {"error": "nothing yet"})
    with pytest.raises(LedgerError, match="holds no plan"):
        load_run(tmp_path)


def test_an_event_of_an_attempt_that_never_began_is_refused_with_its_line(made: MadeRun, tmp_path: Path) -> None:
    target = made.target("Pay Anna Keller.", "r1", {"person": "Anna Keller"}, family="pay")
    made.write(tmp_path)
    with Ledger.open(tmp_path) as ledger:
        ledger.append("verdict", {"success": True}, Cell(target=target, condition="none", seed=0), 0)
    with pytest.raises(LedgerError, match=r"line \d+ of the ledger: 'verdict'.*has not begun or has ended"):
        load_run(tmp_path)
