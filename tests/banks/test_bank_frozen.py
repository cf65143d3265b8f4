"""A frozen bank: every byte is accounted for, nothing is sealed in what agents may see, nothing can be written."""

from __future__ import annotations

import shutil
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rebind.banks.freeze import EMBEDDINGS, INDEX, RECORDS, SEALS, SKILLS, SUMMARIES, freeze
from rebind.banks.seals import open_seals
from rebind.banks.store import Bank, verify
from rebind.banks.summaries import Writer
from rebind.errors import BankError
from rebind.memory.index import index_text, query_text
from rebind.types import World

FILES = (RECORDS, SEALS, SUMMARIES, SKILLS, EMBEDDINGS, INDEX, "manifest.json")


@pytest.fixture
def copy(bank: Path, tmp_path: Path) -> Path:
    """A writable copy of the bank."""
    shutil.copytree(bank, tmp_path / "copy")
    for path in (tmp_path / "copy", *(tmp_path / "copy").iterdir()):
        path.chmod(path.stat().st_mode | stat.S_IWUSR)
    return tmp_path / "copy"


def test_a_frozen_bank_verifies(bank: Path) -> None:
    assert {p.name for p in bank.iterdir()} == set(FILES)
    assert verify(bank) is None


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("place", [0.0, 0.37, 1.0])
def test_one_changed_byte_in_any_file_is_found_and_the_file_named(copy: Path, name: str, place: float) -> None:
    content = bytearray((copy / name).read_bytes())
    content[int(place * (len(content) - 1))] ^= 1
    (copy / name).write_bytes(content)
    assert verify(copy) == name


def test_a_rewritten_manifest_of_the_same_meaning_is_found(copy: Path) -> None:
    manifest = copy / "manifest.json"
    manifest.write_text(manifest.read_text().replace("\n", "\r\n"), newline="")
    assert verify(copy) == "manifest.json"


def test_a_missing_or_added_file_is_named(copy: Path) -> None:
    (copy / "notes.txt").write_text("mine")
    assert verify(copy) == "notes.txt"
    (copy / "notes.txt").unlink()
    (copy / SKILLS).unlink()
    assert verify(copy) == SKILLS


@pytest.mark.parametrize(("name", "read"), [(RECORDS, "records"), (EMBEDDINGS, "embeddings"), (SUMMARIES, "summary")])
def test_an_edited_file_is_refused_when_it_is_read(copy: Path, name: str, read: str) -> None:
    content = bytearray((copy / name).read_bytes())
    content[len(content) // 2] ^= 1
    (copy / name).write_bytes(content)
    opened: Any = Bank.open(copy)
    with pytest.raises(BankError, match=f"{name} differs from the manifest"):
        opened.summary("any") if read == "summary" else getattr(opened, read)


def test_a_folder_that_is_no_bank_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(BankError, match="is not a frozen bank: it has no manifest"):
        Bank.open(tmp_path)
    with pytest.raises(BankError, match="is not a frozen bank"):
        verify(tmp_path)


def test_the_folder_and_its_files_are_read_only(bank: Path) -> None:
    for path in (bank, *bank.iterdir()):
        assert not path.stat().st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH)


def test_a_frozen_bank_is_never_written_again(bank: Path, rollouts: Path, apps: World) -> None:
    before = Bank.open(bank).digest
    with pytest.raises(BankError, match="is a frozen bank, which never changes"):
        freeze([rollouts], bank, [apps])
    assert Bank.open(bank).digest == before


def test_the_same_rollouts_give_the_same_bank(
    bank: Path, rollouts: Path, apps: World, writer: Any, tmp_path: Path
) -> None:
    again = freeze([rollouts], tmp_path / "again", [apps], writer=Writer(writer, "simulated"))
    assert again.digest == Bank.open(bank).digest


def test_a_failed_freeze_leaves_nothing_behind(rollouts: Path, tmp_path: Path) -> None:
    with pytest.raises(BankError, match="freeze was not given that environment"):
        freeze([rollouts], tmp_path / "bank", [])
    assert list(tmp_path.iterdir()) == []


def test_everything_but_the_seals_file_is_free_of_sealed_values(bank: Path) -> None:
    visible = b"".join((bank / name).read_bytes() for name in (RECORDS, SUMMARIES, SKILLS))
    seals = open_seals(bank)
    assert set(seals) == set(Bank.open(bank).ids)
    for seal in seals.values():
        for sealed in (seal.canary, seal.env, seal.family, seal.task_key):
            assert sealed.encode() not in visible


def test_what_the_index_reads_has_no_sealed_value_and_no_observation(bank: Path) -> None:
    opened = Bank.open(bank)
    for record_id, seal in open_seals(bank).items():
        record = opened.record(record_id)
        text = index_text(record)
        for hidden in (seal.canary, seal.env, seal.family, seal.task_key, record_id, record.first_observation):
            assert hidden not in text
        assert not any(step.observation in text for step in record.steps)


def test_provenance_and_verdict_are_in_the_seal(bank: Path) -> None:
    for seal in open_seals(bank).values():
        assert seal.rollout is not None
        assert seal.rollout["source"] == "oracle"
        assert seal.verdict is not None
        assert seal.verdict.success


def test_summaries_are_written_from_records_alone_and_within_the_cap(bank: Path, writer: Any) -> None:
    opened = Bank.open(bank)
    asked = ["\n".join(m.content for m in r.messages) for r in writer.asked]
    assert {r.purpose for r in writer.asked} == {"summary"}
    assert {r.decoding.temperature for r in writer.asked} == {0.0}
    for record_id, seal in open_seals(bank).items():
        assert opened.summary(record_id)
        assert any(opened.record(record_id).instruction in text for text in asked)
        assert not any(seal.canary in text or seal.family in text for text in asked)


def test_skills_are_kept_of_tasks_that_they_solve(bank: Path) -> None:
    opened = Bank.open(bank)
    seals = open_seals(bank)
    with_skills = {seals[i].family for i in opened.ids if opened.skills(i)}
    assert with_skills == {"apps/forward-latest-invoice", "apps/send-gift-to-current-address"}
    assert all(skill.record_id == i for i in opened.ids for skill in opened.skills(i))


def test_a_records_own_instruction_finds_it_first_and_retrieval_repeats_itself(bank: Path) -> None:
    opened = Bank.open(bank)
    for record in opened.records.values():
        found = opened.index().retrieve(record.instruction, "", 3)
        assert found.ids[0] == record.id
        assert len(found.ids) == 3
        assert list(found.scores) == sorted(found.scores, reverse=True)
        assert found == Bank.open(bank).index().retrieve(record.instruction, "", 3)


def test_the_query_holds_the_goal_and_the_first_observation(bank: Path) -> None:
    found = Bank.open(bank).index().retrieve("Pay the bill", "You are Ada.", 2)
    assert found.query == query_text("Pay the bill", "You are Ada.")
    assert "Pay the bill" in found.query
    assert "You are Ada." in found.query


def test_stored_vectors_are_those_of_the_index_texts(bank: Path) -> None:
    from rebind.memory.encoders import encoder

    opened = Bank.open(bank)
    fresh = encoder("all-minilm-l6-v2").encode([index_text(r) for r in opened.records.values()])
    assert opened.embeddings.dtype == np.float32
    np.testing.assert_allclose(opened.embeddings, fresh, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(opened.embeddings, axis=1), 1, atol=1e-5)


def test_a_record_is_found_by_the_start_of_its_id(bank: Path) -> None:
    opened = Bank.open(bank)
    assert opened.find(opened.ids[0][:12]).id == opened.ids[0]
    with pytest.raises(BankError, match=r"6 records .* have an id that begins with ''"):
        opened.find("")
