"""The ledger's own canonical form is the RFC 8785 form, byte for byte."""

from __future__ import annotations

import pytest
import rfc8785
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rebind.jcs import canonical_text

text = st.text(st.characters(exclude_categories=["Cs"]))
scalars = st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | text
floats = st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    scalars | floats,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=5) | st.tuples(inner, inner),
    max_leaves=20,
)


@settings(max_examples=400, deadline=None)
@given(values)
@example({"\ue000": 1, "\U0001f600": 2, "z": 3})
@example({'\x7f\x1f\x00\u2028"\\/': "\b\f\n\r\t\x0b\x7f\u2028"})
def test_any_json_value_has_the_bytes_of_the_rfc8785_package(value: object) -> None:
    assert canonical_text(value).encode() == rfc8785.dumps(value)  # type: ignore[arg-type]  # any JSON value


@settings(max_examples=1000, deadline=None)
@given(floats)
@example(-0.0)
@example(1e15)
@example(999999999999999.9)
@example(1e-4)
@example(9.999999999999999e-05)
@example(5e-324)
@example(1.7976931348623157e308)
@example(1e21)
def test_any_float_has_the_bytes_of_the_rfc8785_package(value: float) -> None:
    assert canonical_text(value).encode() == rfc8785.dumps(value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**53, {1: "x"}, {"a": object()}, [b"bytes"]])
def test_what_json_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(rfc8785.CanonicalizationError):
        canonical_text(value)
