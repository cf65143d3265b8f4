"""Near-duplicates: alike in text and the same in tools; nothing else goes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rebind.banks.duplicates import near_duplicates
from rebind.banks.store import Bank
from rebind.memory.encoders import encoder
from rebind.memory.index import Index, flat_index, index_text
from rebind.types import Record


@pytest.fixture
def record(bank: Path) -> Record:
    return next(iter(Bank.open(bank).records.values()))


def other(record: Record, **fields: object) -> Record:
    """A record that differs in these fields; validated anew, so that it has an id of its own."""
    return Record.model_validate({**record.model_dump(), **fields})


def removed(*records: Record) -> dict[str, str]:
    return near_duplicates(records, encoder("all-minilm-l6-v2").encode([index_text(r) for r in records]))


def test_a_record_that_differs_by_a_comma_goes_and_the_earlier_stays(record: Record) -> None:
    twin = other(record, instruction=record.instruction.replace(".", " .", 1))
    assert twin.id != record.id
    assert removed(record, twin) == {twin.id: record.id}


def test_the_same_instruction_done_by_other_tools_stays(record: Record) -> None:
    assert removed(record, other(record, steps=record.steps[:-1])) == {}


def test_another_instruction_done_by_the_same_tools_stays(record: Record) -> None:
    assert removed(record, other(record, instruction="Cancel the dentist and tell my sister.")) == {}


def test_equal_scores_are_ordered_by_id() -> None:
    one = encoder("all-minilm-l6-v2")
    vectors = np.repeat(one.encode(["Task: the same"]), 4, axis=0)
    index = Index(["d", "b", "c", "a"], flat_index(vectors), one)
    assert index.retrieve("the same", "", 3).ids == ("a", "b", "c")
