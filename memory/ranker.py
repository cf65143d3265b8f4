"""The shared ranker: chooses one of the top-k records before any condition runs, and says what it asked and heard."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from rebind.errors import ContextOverflow
from rebind.memory.index import Candidates
from rebind.memory.parse import json_object
from rebind.prompts import render
from rebind.types import Completion, Decoding, Message, Model, Record, Request, Selection

RankerName = Literal["llm", "top1", "random", "oracle"]
RANKER_DECODING = Decoding(temperature=0.0, top_p=1.0, max_tokens=512)
"""QCR's supplement: temperature 0, at most 512 tokens."""


class _Choice(BaseModel):
    model_config = ConfigDict(strict=True)

    candidate: int


@dataclass(frozen=True)
class Ranked:
    """A selection, with the ranker's request and answer where a model ranked."""

    selection: Selection
    request: Request | None = None
    completion: Completion | None = None


def rank_llm(
    target_key: str,
    goal: str,
    first_observation: str,
    candidates: Candidates,
    records: Mapping[str, Record],
    model: Model,
    model_name: str,
) -> Ranked:
    """Lets a model choose by number from instructions and descriptors. It sees no id and no score; an answer that names
    no candidate, and a prompt that is too long for it, fall back to the first, and the selection says so. One candidate
    or none is not asked about."""
    if len(candidates.ids) <= 1:
        return Ranked(_selection(target_key, candidates, "llm", 0))
    request = ranking_request(goal, first_observation, [records[i] for i in candidates.ids], model_name)
    try:
        completion = model.complete(request)
    except ContextOverflow as error:
        completion = Completion(text="", finish="error", attempts=error.attempts)
        return Ranked(_selection(target_key, candidates, "llm", 0, "context"), request, completion)
    choice, problem = _read(completion.text, len(candidates.ids))
    return Ranked(_selection(target_key, candidates, "llm", choice, problem), request, completion)


def rank_top1(target_key: str, candidates: Candidates) -> Ranked:
    """The retriever's first."""
    return Ranked(_selection(target_key, candidates, "top1", 0))


def rank_random(target_key: str, candidates: Candidates, seed: int = 0) -> Ranked:
    """One of the top-k, drawn by the target's key: the same in every run and process."""
    choice = random.Random(f"{target_key}/{seed}").randrange(max(1, len(candidates.ids)))
    return Ranked(_selection(target_key, candidates, "random", choice))


def rank_oracle(target_key: str, candidates: Candidates, reusable: Sequence[str]) -> Ranked:
    """The best candidate among ids known to be reusable. Which those are is sealed: only a caller that may open seals
    can say, and only for the paper's upper bound (QCR, section 5.5)."""
    wanted = frozenset(reusable)
    place = next((n for n, i in enumerate(candidates.ids) if i in wanted), None)
    problem = "no reusable candidate" if place is None and candidates.ids else None
    return Ranked(_selection(target_key, candidates, "oracle", place or 0, problem))


def ranking_request(goal: str, first_observation: str, records: Sequence[Record], model_name: str) -> Request:
    """What the ranking model is asked."""
    shown = [{"number": n, "instruction": r.instruction, "workflow": r.descriptor} for n, r in enumerate(records, 1)]
    user = render("ranker_user", goal=goal, first_observation=first_observation, candidates=shown)
    return Request(
        model=model_name,
        purpose="ranker",
        messages=(Message(role="system", content=render("ranker_system")), Message(role="user", content=user)),
        decoding=RANKER_DECODING,
        schema_={
            "type": "object",
            "properties": {"candidate": {"type": "integer", "enum": [*range(1, len(records) + 1)]}},
            "required": ["candidate"],
            "additionalProperties": False,
        },
    )


def _read(text: str, count: int) -> tuple[int, str | None]:
    """Index of the chosen candidate, or 0 and why the answer was not used."""
    try:
        number = _Choice.model_validate(json_object(text)).candidate
    except (ValueError, ValidationError):
        return 0, 'the ranker\'s answer is not a JSON object with an integer "candidate"'
    if not 1 <= number <= count:
        return 0, f"the ranker chose {number} of {count}"
    return number - 1, None


def _selection(
    target_key: str, candidates: Candidates, ranker: RankerName, choice: int, fallback: str | None = None
) -> Selection:
    return Selection(
        target_key=target_key,
        candidates=candidates.ids,
        scores=candidates.scores,
        chosen=candidates.ids[choice] if candidates.ids else None,
        ranker=ranker,
        fallback=fallback,
    )
