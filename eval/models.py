"""The models of a study, by the names it gives them: who acts, who writes notes, who ranks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from rebind.agents.endpoint import Endpoint
from rebind.agents.llm import LLM
from rebind.agents.local import DEFAULT_MODEL
from rebind.agents.local import PREFIX as LOCAL
from rebind.agents.provider import check_model, near_names, price
from rebind.agents.simulated import PREFIX as SIMULATED
from rebind.agents.simulated import SimulatedModel
from rebind.caches import user_cache
from rebind.errors import StudyError
from rebind.eval.ledger import EventLog
from rebind.eval.plan import Plan
from rebind.eval.study import Study
from rebind.types import Model, Part

DEFAULT = "default"


@dataclass(frozen=True)
class Named:
    """A model with the name that requests to it carry."""

    model: Model
    name: str


@dataclass(frozen=True)
class Models:
    """The open models of a study; `identities` says what answers under each name, for the lock. All of them answer
    through `door`."""

    actor: Named
    writer: Named
    ranker: Named
    identities: Mapping[str, JsonValue]
    door: LLM
    parts: Mapping[Part, Named] = field(default_factory=dict)
    """Those that play a part in an environment."""

    def note_limits(self, log: EventLog) -> None:
        """From here on, each change of how many requests a provider may have under way is noted there."""

        def note(provider: str, limit: int, why: str) -> None:
            log.append("note", {"concurrency": limit, "provider": provider, "why": why})

        self.door.on_limit = note


Opener = Callable[[Plan], AbstractContextManager[Models]]
"""Opens the models of a plan, for the length of a context."""


def model_name(name: str | None, otherwise: str = DEFAULT) -> str:
    """A model's full name: `default`, or none given, is the embedded model or what `otherwise` names."""
    chosen = name or otherwise
    return DEFAULT_MODEL if chosen == DEFAULT else chosen


def names_of(study: Study) -> dict[str, str]:
    """The full names of a study's models, by role or part."""
    actor = model_name(study.model.actor)
    return {
        "actor": actor,
        "writer": model_name(study.model.writer, actor),
        "ranker": model_name(study.model.ranker, actor),
        **{part: model_name(name) for part, name in study.model.parts.items()},
    }


def check_models(study: Study) -> None:
    """Refuses model names that lead nowhere and keys that are missing, before anything runs.

    Raises:
        ModelError: no provider is known for a name, or its key is not set.
    """
    for name in dict.fromkeys(names_of(study).values()):
        if not name.startswith((SIMULATED, LOCAL)):
            check_model(name, study.model.api_base)


def check_limits(study: Study) -> None:
    """Refuses limits that cannot be held.

    Raises:
        StudyError: a cost limit, and a model whose price is not known.
    """
    limits = {"budget.cost": study.budget.cost, "run.max_cost": study.run.max_cost}
    limit = next((name for name, value in limits.items() if value is not None), None)
    if limit is None:
        return
    for name in dict.fromkeys(names_of(study).values()):
        if price(name, 1, 1) is None:
            raise StudyError(
                f"{limit} limits the cost, but litellm's table has no price of {name}{near_names(name)}; "
                "limit budget.tokens instead, or name a model whose price is known"
            )


@contextmanager
def open_models(plan: Plan, endpoints: Mapping[str, Endpoint] | None = None, **how: Any) -> Iterator[Models]:
    """Opens the models of a plan for the length of a run: starts local and simulated ones, which end with it.
    `endpoints`: servers that answer under some of the names; `how`: more of what `LLM` takes.

    Raises:
        ModelError: a name that leads nowhere, a missing key, or a local model that cannot be had.
        StudyError: a cost limit, and a model whose price is not known.
    """
    study, part = plan.study, plan.study.model
    check_models(study)
    check_limits(study)
    names = names_of(study)
    with ExitStack() as stack:
        served = dict(endpoints or {})
        for name in dict.fromkeys(names.values()):
            if name in served:
                continue
            if name.startswith(SIMULATED):
                served[name] = stack.enter_context(_simulated(name, plan)).endpoint
            elif not name.startswith(LOCAL):
                served[name] = Endpoint(model=name, api_base=part.api_base, timeout=part.timeout, stream=part.stream)
        door = LLM(
            served,
            **{
                "cache_folder": cache_folder() if study.run.cache else None,
                "concurrency": study.run.workers,
                "patience": study.budget.seconds,
                **how,
            },
        )
        yield Models(
            **{role: Named(door, names[role]) for role in ("actor", "writer", "ranker")},
            parts={part: Named(door, names[part]) for part in study.model.parts},
            identities={name: door.identity(name) for name in dict.fromkeys(names.values())},
            door=door,
        )


@contextmanager
def open_model(name: str | None) -> Iterator[Named | None]:
    """One model outside a study, or None where no name is given."""
    yield None if name is None else Named(LLM(cache_folder=cache_folder()), model_name(name))


def cache_folder() -> Path:
    """Where model answers are kept for replay: `rebind/answers` in the user's cache (XDG). May be deleted."""
    return user_cache() / "answers"


def _simulated(name: str, plan: Plan) -> SimulatedModel:
    from rebind.eval.scripts import oracle_script, solve_rate

    return SimulatedModel(name, oracle_script(plan.targets, solve_rate(name)), keep=False)
