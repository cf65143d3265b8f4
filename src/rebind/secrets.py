"""Keeps keys out of everything that is stored or shown: secrets of the environment, and texts shaped like keys.

What a simulated application hands to an agent (a short access token, a password in its data) is part of an experiment
and stays; what opens a door outside of it goes.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import quote

MASK = "[secret]"
_SHORTEST = 8
"""Characters; what is shorter is no key, and masking it would garble the text."""
_NESTED = 3
"""How often JSON within JSON may escape a secret that is still found."""
_NAME = re.compile(
    r"(?:^|_)(?:KEYS?|APIKEY|TOKENS?|SECRETS?|PASSWORD|PASSWD|PASSPHRASE|PASS|PAT|CREDENTIALS?|AUTH|AUTHORIZATION)(?:_|$)",
    re.IGNORECASE,
)
"""Environment variables that hold a secret."""
_USERINFO = re.compile(r"://[^\s/\"'@:\\]*:([^\s/\"'@\\]+)@")
_HEADER = (
    r"(?i:(?:api|subscription|function)s?[-_]?key|api[-_]?token|auth[-_]token|(?:proxy-)?authorization|"
    r"secret[-_]?access[-_]?key|(?:account|shared[-_]?access)[-_]?key)"
)
"""Names of headers, arguments and variables that carry a provider's key; what stands before does not matter."""
_COLON = r"(?:\\*[\"'])?\s*[:=,]\s*b?(?:\\*[\"'])?"
_GAP = rf"{_COLON}(?:(?i:bearer|basic|token|key)\s+)?"
"""What stands between such a name and its value in a header, a dump of headers, JSON, or JSON within JSON."""
_VALUE = r"(?=[^\s\"'\\,;]*\d)[A-Za-z0-9._~+/*=%:-]{8,}"
_SHAPES = (
    (("sk-",), r"sk-(?<![A-Za-z0-9_-]sk-)(?=[\w.*-]*[\d*])[\w.*-]{8,}"),
    (("pk-", "rk-", "sk_", "pk_", "rk_"), r"(?<![A-Za-z0-9_-])[spr]k[-_](?:live|test|lf|proj)[-_][\w*-]{8,}"),
    (("earer ",), r"[Bb]earer ((?=[\w~+/-]*(?:\d|\.\w))[\w.~+/-]{11,}=*)"),
    (("akia", "asia"), r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    (("aiza",), r"\bAIza[\w-]{20,}"),
    (("ya29.",), r"\bya29\.[\w-]{20,}"),
    (("ghp_", "gho_", "ghs_", "ghu_", "ghr_"), r"\bgh[pousr]_[A-Za-z0-9*]{16,}"),
    (("github_pat_",), r"\bgithub_pat_\w{30,}"),
    (("glpat-",), r"\bglpat-[\w-]{16,}"),
    (("hf_",), r"\bhf_(?:[A-Za-z0-9]{30,}|[A-Za-z0-9]*\*+[A-Za-z0-9*]*)"),
    (("gsk_", "xai-", "pplx-", "nvapi-"), r"\b(?:gsk_|xai-|pplx-|nvapi-)[\w*-]{8,}"),
    (("xox",), r"\bxox[abeprs]-[A-Za-z0-9-]{16,}"),
    (("npm_", "pypi-", "dop_v1_", "sg."), r"\b(?:npm_|pypi-|dop_v1_|SG\.)[\w.-]{30,}"),
    (("eyj",), r"\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}"),
    (("private key",), r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[^\"\\]|\\.)*"),
    (("://",), r"://([^\s/\"'@:\\]*:[^\s/\"'@\\]+)@"),
    (
        ("?key=", "&key=", "?sig=", "&sig=", "ignature=", "redential=", "ecurity-token=", "access_token="),
        r"[?&](?:X-(?:Amz|Goog)-(?:Signature|Credential|Security-Token)|key|sig|Signature|access_token)="
        r"((?=[\w%./+-]*\d)[\w%./+-]{12,})",
    ),
    (
        ("api-k", "api_k", "apik", "api-t", "api_t", "apit", "uthorization", "uth-t", "uth_t", "utht", "ccess-k",
         "ccess_k", "ccessk", "ccount-k", "ccount_k", "ccountk", "ubscription-k", "ubscription_k", "ubscriptionk",
         "unctions-k", "unction_k", "unctionk"),
        rf"{_HEADER}{_GAP}({_VALUE})",
    ),
    (("uthorization",), rf"(?i:authorization{_COLON}basic\s+)([A-Za-z0-9+/]{{8,}}=*)"),
    (("key provided: ",), r"key provided: ([^\s\"'\\,]{8,})"),
)  # fmt: skip
"""Needles one of which stands in every such text once it is in lower case, and the pattern: what its group holds is the
secret, or all of it where it has none. Patterns hold in plain text and in JSON text."""


class Scrubber:
    """Masks secrets in texts. Knows the environment of the moment it was made, and the secrets it is given."""

    def __init__(self, environ: Mapping[str, str], secrets: Iterable[str] = ()) -> None:
        from ahocorasick_rs import BytesAhoCorasick, MatchKind

        known = {spelling for secret in (*_of_environment(environ), *secrets) for spelling in _spellings(secret)}
        self._values = sorted(known, key=len, reverse=True)
        shapes: list[tuple[str, re.Pattern[str]]] = [
            (needle, re.compile(shape)) for needles, shape in _SHAPES for needle in needles
        ]
        self._shapes = [*[None] * len(self._values), *(shape for _, shape in shapes)]
        needles = [
            *(value.encode("utf-8", "surrogatepass") for value in self._values),
            *(n.encode() for n, _ in shapes),
        ]
        lower = [needle.lower() for needle in needles]
        self._any = BytesAhoCorasick(lower, matchkind=MatchKind.LeftmostFirst)
        """Quicker to say that there is none, which is nearly always so."""
        self._all = BytesAhoCorasick(lower)

    def scrub(self, text: bytes) -> bytes:
        """A text (plain or JSON, UTF-8) with every secret replaced by `MASK`; the same object where there is none."""
        lower = text.lower()
        if not self._any.find_matches_as_indexes(lower):
            return text
        found = self._all.find_matches_as_indexes(lower, overlapping=True)
        before = after = text.decode("utf-8", "surrogatepass")
        for which in sorted({match[0] for match in found}):
            shape = self._shapes[which]
            after = after.replace(self._values[which], MASK) if shape is None else shape.sub(_masked, after)
        return text if after == before else after.encode("utf-8", "surrogatepass")


def redact(text: str, *secrets: str | None) -> str:
    """A text without the given secrets and without any that `Scrubber` finds (providers quote keys back, partly
    masked)."""
    scrubber = Scrubber(os.environ, (s for s in secrets if s and len(s) >= _SHORTEST))
    return scrubber.scrub(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")


def _of_environment(environ: Mapping[str, str]) -> Iterator[str]:
    """The values of variables that are named like a secret, and the passwords in the addresses of all others."""
    for name, value in environ.items():
        if _NAME.search(name) and _secret_like(value):
            yield value
        yield from (password for password in _USERINFO.findall(value) if _secret_like(password))


def _secret_like(value: str) -> bool:
    """Not a path, not a number, not a word too short to be told from any other."""
    return len(value) >= _SHORTEST and not value.startswith(("/", "~", "./")) and not value.isdigit()


def _spellings(secret: str) -> Iterator[str]:
    """A secret as it is, in an address, and in JSON, which may stand in JSON that stands in JSON."""
    yield quote(secret, safe="", errors="replace")
    for _ in range(_NESTED + 1):
        yield secret
        secret = json.dumps(secret, ensure_ascii=False)[1:-1]


def _masked(match: re.Match[str]) -> str:
    whole, (start, end) = match.group(), match.span(1 if match.re.groups else 0)
    return whole[: start - match.start()] + MASK + whole[end - match.start() :]
