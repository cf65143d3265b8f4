"""Keeps keys out of error texts, which are shown and stored."""

from __future__ import annotations

import os
import re

_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)$", re.IGNORECASE)
_LOOKS_SECRET = re.compile(r"\b(?:sk|pk|rk|gsk|xai|hf|ghp)[-_][\w*.-]{8,}|\bAIza[\w-]{20,}|(?<=Bearer )\S+")
_SHORTEST = 8
"""Characters; what is shorter is no key, and replacing it would garble the text."""


def redact(text: str, *secrets: str | None) -> str:
    """The text without the given secrets, without any value of an environment variable that is named like a secret, and
    without what looks like one (providers quote keys back, partly masked)."""
    named = (value for name, value in os.environ.items() if _SECRET_NAME.search(name))
    for secret in sorted({*named, *filter(None, secrets)}, key=len, reverse=True):
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, "[redacted]")
    return _LOOKS_SECRET.sub("[redacted]", text)
