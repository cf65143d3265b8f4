"""Answers are taken as a reader would take them, and no further."""

from __future__ import annotations

import pytest

from rebind.envs.sites.families.answers import Choice, PageDay, Person


@pytest.mark.parametrize(
    "given", ["2026-01-07", "Jan. 7, 2026", "Jan. 7, 2026, 4:03 a.m.", "January 7, 2026", "7 Jan 2026"]
)
def test_a_date_is_taken_as_pages_write_it(given: str) -> None:
    """All usual forms of one day are right."""
    assert PageDay("2026-01-07").accepts(given)


@pytest.mark.parametrize("given", ["2026-01-08", "Sept. 7, 2025", "soon"])
def test_another_date_is_wrong(given: str) -> None:
    """Another day, or none, is not."""
    assert not PageDay("2026-01-07").accepts(given)


def test_september_is_short_with_four_letters_on_pages() -> None:
    """Pages write "Sept."."""
    assert PageDay("2025-09-24").accepts("Sept. 24, 2025, 2:10 a.m.")


@pytest.mark.parametrize(
    ("given", "right"),
    [
        ("ada.fischer", True),
        ("The author is ada.fischer.", True),
        ("Ada Fischer", True),
        ("ada.fischer or ben.osei", False),
        ("ben.osei", False),
    ],
)
def test_a_person_is_named_by_account_or_full_name_and_nobody_else_is(given: str, right: bool) -> None:
    """Naming two is a guess."""
    assert Person("ada.fischer").accepts(given) is right


@pytest.mark.parametrize(
    ("given", "right"),
    [
        ('"Gift cards"', True),
        ("It is Gift cards, with 320.", True),
        ("Gift cards, not Complaints", False),
        ("Complaints", False),
        ("", False),
    ],
)
def test_one_of_several_is_named_alone(given: str, right: bool) -> None:
    """Naming another one too is a guess."""
    assert Choice("Gift cards", ("Gift cards", "Complaints", "Large orders")).accepts(given) is right
