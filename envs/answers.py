"""What an environment of texts was answered, as a value."""

from __future__ import annotations

import json
from typing import Any


def value_of(text: str) -> Any:
    """The JSON value that a text is; the text itself where it is none."""
    try:
        return json.loads(text)
    except ValueError:
        return text
