"""Where a model answers, and what its server can do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from pydantic import JsonValue


@dataclass(frozen=True)
class Endpoint:
    """The address of one model. For a hosted model its litellm name is all there is to say."""

    model: str
    """As litellm names it; `openai/<name>` for any server that speaks OpenAI's wire format."""
    api_base: str | None = None
    api_key: str | None = field(default=None, repr=False)
    identity: Mapping[str, JsonValue] = field(default_factory=dict)
    """What decides an answer besides the request, such as the digest of the weights. Empty: the address does."""
    tokenizes: bool = False
    """Offers llama.cpp's /apply-template and /tokenize, so that prompt tokens can be counted exactly."""
    takes_grammar: bool = False
    """Takes an llguidance grammar, by which JSON comes without white space (about a third fewer tokens to decode)."""
    stream: bool = False
    """Answers are asked for as streams: for servers that drop a connection which is silent for long."""
    concurrency: int | None = None
    """Most requests that make sense at once."""
    timeout: float = 120.0
    """Seconds for one HTTP attempt, as wall time."""

    @property
    def known_by(self) -> dict[str, JsonValue]:
        """What tells this endpoint from another: part of the cache key and of a study's lock."""
        return dict(self.identity) or {"api_base": self.api_base}

    @property
    def provider(self) -> str:
        """Who answers: models of one provider share its limits. The address without credentials and path, or the
        provider in the model's name."""
        if self.api_base is None:
            return self.model.partition("/")[0]
        return urlsplit(self.api_base).netloc.rpartition("@")[2] or self.api_base
