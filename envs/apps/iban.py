"""International bank account numbers: making and checking them (ISO 13616; check digits by ISO 7064 MOD 97-10)."""

from __future__ import annotations

import re

_SHAPE = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}")


def with_check_digits(country: str, account: str) -> str:
    """The IBAN of a country code ("DE") and a domestic account number, in electronic form (no spaces)."""
    return f"{country}{98 - _remainder(country, '00', account):02}{account}"


def is_iban(text: str) -> bool:
    """Whether a text, spaces aside, has the shape of an IBAN and right check digits."""
    compact = text.replace(" ", "")
    if not _SHAPE.fullmatch(compact):
        return False
    return _remainder(compact[:2], compact[2:4], compact[4:]) == 1


def _remainder(country: str, check: str, account: str) -> int:
    return int("".join(str(int(letter, 36)) for letter in account + country + check)) % 97
