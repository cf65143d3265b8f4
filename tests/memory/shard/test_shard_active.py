"""Tier A: a bounded context, session anchors, deictic dates."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from rebind.memory.shard.active import ActiveContext, Entry
from rebind.memory.shard.dates import mentions, resolve
from rebind.memory.shard.scope import ItemMeta, Scope, UserIs

MAY_8 = date(2023, 5, 8)
"""A Monday."""


@pytest.mark.parametrize(
    ("words", "meaning"),
    [
        ("last year", "2022"),
        ("next month", "June 2023"),
        ("yesterday", "7 May 2023"),
        ("two weeks ago", "24 April 2023 – 30 April 2023"),
        ("a few days ago", "5 May 2023"),
        ("last Friday", "5 May 2023"),
        ("last weekend", "6 May 2023 – 7 May 2023"),
        ("next Monday", "15 May 2023"),
        ("in June", "June 2022"),
        ("last summer", "1 June 2022 – 31 August 2022"),
        ("the week before 9 June 2023", "29 May 2023 – 4 June 2023"),
        ("the Sunday before 25 May 2023", "21 May 2023"),
        ("ten years ago", "2013"),
        ("3 June", "3 June 2022"),
        ("July 3, 2023", "3 July 2023"),
        ("2023-02-28", "28 February 2023"),
    ],
)
def test_dates_in_words_mean_what_a_reader_takes_them_for(words: str, meaning: str) -> None:
    assert resolve(words, MAY_8) == meaning


@pytest.mark.parametrize("text", ["may I sun myself", "2023-02-31", "31 June 2023 and no more", "the last one", ""])
def test_words_that_name_no_day_are_left_alone(text: str) -> None:
    assert all(
        not m.deictic and (m.start, m.end) == (date(2023, 1, 1), date(2023, 12, 31)) for m in mentions(text, MAY_8)
    )


def test_without_an_anchor_only_absolute_dates_are_read() -> None:
    assert [m.words for m in mentions("last year and in 2021", None)] == ["2021"]


def test_deictic_words_are_read_against_the_session_they_were_said_in() -> None:
    context = ActiveContext()
    context.anchor("session_1", datetime(2023, 5, 8, 13, 56))
    context.anchor("session_2", datetime(2024, 1, 3))
    assert context.resolved("I painted it last year.", "session_1") == "I painted it last year (2022)."
    assert context.resolved("I painted it last year.") == "I painted it last year (2023)."
    assert context.now == date(2024, 1, 3)


def test_the_context_never_holds_more_than_its_bound_and_drops_what_was_unused_longest() -> None:
    context = ActiveContext(bound=2)
    for key in ("a", "b", "a", "c"):
        context.note(Entry(key=key, text=key))
    assert [entry.key for entry in context.read(Scope())] == ["a", "c"]


def test_the_context_is_read_within_a_scope() -> None:
    context = ActiveContext()
    context.note(Entry(key="a", text="mine", meta=ItemMeta(user="u0")))
    context.note(Entry(key="b", text="hers", meta=ItemMeta(user="u1")))
    assert [e.text for e in context.read(Scope(predicates=(UserIs(names=("u0",)),)))] == ["mine"]
