"""Keeps secrets out of the ledger: values of key-like environment variables, and texts shaped like keys."""

from __future__ import annotations

import re
from collections.abc import Mapping

from rebind.eval.ledger.jcs import canonical_text

MASK = "[secret]"
_SHORTEST = 8
_NAME = re.compile(
    r"(?:^|_)(?:KEYS?|APIKEY|TOKENS?|SECRETS?|PASSWORD|PASSWD|PASSPHRASE|PAT|CREDENTIALS?|AUTH|AUTHORIZATION)(?:_|$)",
    re.IGNORECASE,
)
_SHAPES = (
    (("sk-",), r"(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{16,}"),
    (("earer ",), r"(?<=[Bb]earer )(?=[A-Za-z._~+/-]*\d)[A-Za-z0-9._~+/-]{16,}=*"),
    (("uthorization: ",), r"(?<=uthorization: )Basic [A-Za-z0-9+/]{8,}=*"),
    (('uthorization":"',), r'(?<=uthorization":")Basic [A-Za-z0-9+/]{8,}=*'),
    (("AKIA", "ASIA"), r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    (("AIza",), r"\bAIza[A-Za-z0-9_-]{30,}"),
    (("ghp_", "gho_", "ghs_", "ghu_", "ghr_"), r"\bgh[pousr]_[A-Za-z0-9]{30,}"),
    (("github_pat_",), r"\bgithub_pat_[A-Za-z0-9_]{30,}"),
    (("glpat-",), r"\bglpat-[A-Za-z0-9_-]{16,}"),
    (("hf_",), r"\bhf_[A-Za-z0-9]{30,}"),
    (("gsk_",), r"\bgsk_[A-Za-z0-9]{30,}"),
    (("xox",), r"\bxox[abeprs]-[A-Za-z0-9-]{16,}"),
    (("eyJ",), r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    (("PRIVATE KEY",), r'-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[^"\\]|\\.)*'),
    (("api-key", "api_key", "Api-Key"), r'(?<=[Aa]pi[-_][Kk]ey":")(?:[^"\\]|\\.){8,}'),
)
"""Needles that must be there before the pattern is tried, and the pattern, both over JSON text."""


class Scrubber:
    """Masks secrets in JSON text. Knows the environment of the moment it was made."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        values = {v for name, v in environ.items() if _NAME.search(name) and _secret_like(v)}
        escaped = {canonical_text(v)[1:-1] for v in values}
        self._values = sorted(escaped, key=len, reverse=True)
        self._shapes = [(needle, re.compile(shape)) for needles, shape in _SHAPES for needle in needles]

    def scrub(self, text: str) -> str:
        """The JSON text with every secret replaced by `MASK`; the same object where there is none."""
        for value in self._values:
            if value in text:
                text = text.replace(value, MASK)
        for needle, shape in self._shapes:
            if needle in text:
                text = shape.sub(MASK, text)
        return text


def _secret_like(value: str) -> bool:
    """Not a path, not a number, not a word too short to be told from any other."""
    return len(value) >= _SHORTEST and not value.startswith(("/", "~", "./")) and not value.isdigit()
