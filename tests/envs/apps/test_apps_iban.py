"""IBAN check digits (ISO 13616)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebind.envs.apps.iban import is_iban, with_check_digits


@pytest.mark.parametrize(
    ("country", "account", "iban"),
    [
        ("DE", "370400440532013000", "DE89370400440532013000"),
        ("GB", "WEST12345698765432", "GB82WEST12345698765432"),
    ],
)
def test_the_registrys_examples_have_their_check_digits(country: str, account: str, iban: str) -> None:
    assert with_check_digits(country, account) == iban
    assert is_iban(iban)
    assert is_iban(" ".join(iban[start : start + 4] for start in range(0, len(iban), 4)))


@given(account=st.text("0123456789", min_size=18, max_size=18), place=st.integers(4, 21), step=st.integers(1, 9))
def test_one_wrong_digit_is_always_noticed(account: str, place: int, step: int) -> None:
    iban = with_check_digits("DE", account)
    wrong = str((int(iban[place]) + step) % 10)
    assert is_iban(iban)
    assert not is_iban(iban[:place] + wrong + iban[place + 1 :])


@pytest.mark.parametrize("text", ["", "DE89", "de89370400440532013000", "DE89 3704-0044", "8937040044053201300000"])
def test_what_has_not_the_shape_is_no_iban(text: str) -> None:
    assert not is_iban(text)
