"""How declared answers are read: tolerant of form, strict about content."""

from __future__ import annotations

import pytest

from rebind.envs.apps.families.answers import Answer, Cents, Day, Items, Number, Text


@pytest.mark.parametrize(
    ("expected", "given"),
    [
        (Text("Ada Fox"), ' "ada  FOX." '),
        (Number(12), "There are 12 of them."),
        (Number(1234.5), "1,234.5"),
        (Number(-3), "-3"),
        (Cents(123450), "123450"),
        (Cents(123450), "123,450 cents"),
        (Cents(123450), "$1,234.50"),
        (Cents(123450), "1.234,50 EUR are left"),
        (Cents(4500), "45 dollars"),
        (Cents(4500), "45"),
        (Cents(-250), "-2.50"),
        (Day("2026-03-04"), "4 March 2026"),
        (Day("2026-03-04"), "Wednesday, March 4th, 2026"),
        (Day("2026-03-04"), "2026-03-04"),
        (Items(("Ada Fox", "Bo Gray", "Cy Hall")), "Cy Hall, ada fox and Bo Gray"),
        (Items(("Ada Fox", "Bo Gray")), '["Bo Gray", "Ada Fox"]'),
        (Items(("Ada Fox", "Bo Gray")), "- Bo Gray\n- Ada Fox"),
        (Items(("Salt and Vinegar", "Bo Gray")), "Bo Gray, Salt and Vinegar"),
    ],
)
def test_the_same_content_in_another_form_is_accepted(expected: Answer, given: str) -> None:
    assert expected.accepts(given)


@pytest.mark.parametrize(
    ("expected", "given"),
    [
        (Text("Ada Fox"), "Ada Foxe"),
        (Number(12), "12 or 13"),
        (Number(12), "twelve"),
        (Cents(4500), "4500 dollars"),
        (Cents(4500), "45 cents"),
        (Cents(4500), "$45.01"),
        (Cents(4500), "-4500"),
        (Day("2026-03-04"), "3 April 2026"),
        (Day("2026-03-04"), "soon"),
        (Items(("Ada Fox", "Bo Gray")), "Ada Fox"),
        (Items(("Ada Fox",)), "Ada Fox, Bo Gray"),
    ],
)
def test_other_content_is_not(expected: Answer, given: str) -> None:
    assert not expected.accepts(given)
