"""A bank reaches a machine that does not have it whole, checked, and without its seals."""

from __future__ import annotations

from pathlib import Path

import pytest

from rebind.banks.parcel import Parcel, find_or_unpack, pack
from rebind.banks.seals import open_seals
from rebind.banks.shipped import shipped
from rebind.banks.store import Bank
from rebind.errors import BankError


@pytest.fixture
def bank(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Bank:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return Bank.open(shipped("demo/bank"))


def _never() -> Parcel:
    raise AssertionError("nothing was to be sent")


def test_a_bank_that_is_sent_is_unpacked_once_and_reads_as_the_one_that_was_packed(bank: Bank, tmp_path: Path) -> None:
    """The second time it is found in the cache."""
    nowhere = tmp_path / "nowhere"
    there = find_or_unpack(nowhere, bank.digest, lambda: pack(bank))
    assert there.path == tmp_path / "cache" / "rebind" / "banks" / bank.digest
    assert there.records == bank.records
    assert all(there.summary(i) == bank.summary(i) and there.skills(i) == bank.skills(i) for i in bank.ids)
    assert find_or_unpack(nowhere, bank.digest, _never).records == bank.records


def test_seals_are_not_sent(bank: Bank, tmp_path: Path) -> None:
    """What only the bank's builder and the auditor may open stays where the run is."""
    there = find_or_unpack(tmp_path / "nowhere", bank.digest, lambda: pack(bank))
    canaries = [seal.canary for seal in open_seals(bank.path).values()]
    sent = b"".join(pack(bank).values())
    assert canaries
    assert not any(canary.encode() in sent for canary in canaries)
    with pytest.raises(BankError):
        open_seals(there.path)


def test_a_machine_that_has_the_bank_is_sent_nothing(bank: Bank) -> None:
    assert find_or_unpack(bank.path, bank.digest, _never).path == bank.path


def test_another_bank_than_was_promised_is_refused_and_leaves_nothing(bank: Bank, tmp_path: Path) -> None:
    """Neither at the path nor in what was sent."""
    with pytest.raises(BankError, match="not the bank of digest"):
        find_or_unpack(bank.path, "0" * 64, lambda: pack(bank))
    assert not any((tmp_path / "cache" / "rebind" / "banks").iterdir())


def test_a_file_that_was_changed_on_the_way_is_refused_when_it_is_read(bank: Bank, tmp_path: Path) -> None:
    parcel = {
        name: content.replace(b"a", b"b", 1) if name == "records.jsonl" else content
        for name, content in pack(bank).items()
    }
    there = find_or_unpack(tmp_path / "nowhere", bank.digest, lambda: parcel)
    with pytest.raises(BankError, match="differs from the manifest"):
        assert there.records
