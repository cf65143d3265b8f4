"""Gymnasium spaces of text: any Unicode text belongs to them."""

from __future__ import annotations

import string
from typing import Any

from gymnasium import spaces

MAX_LENGTH = 1_000_000
_SAMPLE = 20


class UnicodeText(spaces.Text):
    """Texts of up to 1,000,000 characters; samples are a few ASCII letters."""

    def __init__(self) -> None:
        super().__init__(MAX_LENGTH, min_length=0, charset=string.ascii_letters + " ")

    def contains(self, x: Any) -> bool:
        return isinstance(x, str) and len(x) <= MAX_LENGTH

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """A short text. Masks over a character set have no meaning here and are refused."""
        if mask is not None or probability is not None:
            raise ValueError("a text of any characters is sampled without mask or probability")
        letters = self.np_random.choice(self.character_list, size=int(self.np_random.integers(1, _SAMPLE)))
        return "".join(str(letter) for letter in letters)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"
