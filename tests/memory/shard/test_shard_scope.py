"""Scope predicates as values."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from support.shards import START, Small, an_item

from rebind.memory.shard.scope import MayRead, NamespaceIs, Scope, SessionIs, TimeWithin, UserIs


def _ids(store: Small, *predicates: object) -> set[str]:
    admitted = store.admit(Scope(predicates=predicates))  # type: ignore[arg-type]  # predicates
    rows = [row for part in admitted.parts for place in range(len(part.shards)) for row in part.rows(place)]
    return {sorted(store.items, key=lambda i: i.shard)[row].id for row in rows}


@given(st.lists(st.text(max_size=5), max_size=3), st.none() | st.integers(0, 10**6))
def test_a_scope_survives_json(names: list[str], offset: int | None) -> None:
    start = None if offset is None else START + timedelta(seconds=offset)
    scope = Scope(predicates=(UserIs(names=tuple(names)), TimeWithin(start=start), MayRead(principal="ada")))
    assert Scope.model_validate_json(scope.model_dump_json()) == scope


def test_a_namespace_admits_those_below_it_and_no_namesake() -> None:
    store = Small([an_item(n, "a", "x", namespace=ns) for n, ns in enumerate(["bank", "bank.cards", "banking", ""])])
    assert _ids(store, NamespaceIs(names=("bank",))) == {"i0000", "i0001"}


def test_a_time_range_holds_both_ends_and_leaves_out_items_without_a_time() -> None:
    store = Small([an_item(n, "a", "x", days=d) for n, d in enumerate([0, 1, 2, None])])
    day = timedelta(days=1)
    assert _ids(store, TimeWithin(start=START, end=START + day)) == {"i0000", "i0001"}
    assert _ids(store, TimeWithin(end=datetime(2030, 1, 1))) == {"i0000", "i0001", "i0002"}
    assert _ids(store) == {"i0000", "i0001", "i0002", "i0003"}


def test_two_predicates_on_one_field_must_both_hold() -> None:
    store = Small([an_item(n, "a", "x", session=s) for n, s in enumerate(["s1", "s2"])])
    assert _ids(store, SessionIs(names=("s1", "s2")), SessionIs(names=("s2",))) == {"i0001"}


def test_unlabelled_items_are_open_and_labelled_ones_need_the_label() -> None:
    store = Small([an_item(0, "a", "x"), an_item(1, "a", "x", label="red")], {"ada": frozenset({"red"})})
    assert _ids(store, MayRead(principal="ada")) == {"i0000", "i0001"}
    assert _ids(store, MayRead(principal="eve")) == {"i0000"}


def test_a_range_that_ends_before_it_begins_is_refused() -> None:
    with pytest.raises(ValidationError, match="begins"):
        TimeWithin(start=START, end=datetime(2020, 1, 1, tzinfo=UTC))
