"""The models of a study, by the names it gives them: who acts, who writes notes, who ranks."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from rebind.agents.endpoint import Endpoint
from rebind.agents.llm import LLM
from rebind.agents.local import DEFAULT_MODEL
from rebind.agents.simulated import PREFIX as SIMULATED
from rebind.agents.simulated import SimulatedModel
from rebind.eval.plan import Plan
from rebind.types import Model

DEFAULT = "default"


@dataclass(frozen=True)
class Named:
    """A model with the name that requests to it carry."""

    model: Model
    name: str


@dataclass(frozen=True)
class Models:
    """The open models of a study; `identities` says what answers under each name, for the lock."""

    actor: Named
    writer: Named
    ranker: Named
    identities: Mapping[str, JsonValue]


def model_name(name: str | None, otherwise: str = DEFAULT) -> str:
    """A model's full name: `default`, or none given, is the embedded model or what `otherwise` names."""
    chosen = name or otherwise
    return DEFAULT_MODEL if chosen == DEFAULT else chosen


@contextmanager
def open_models(plan: Plan) -> Iterator[Models]:
    """Opens the models of a plan for the length of a run: starts local and simulated ones, which end with it.

    Raises:
        ModelError: a name that leads nowhere, or a local model that cannot be had.
    """
    part = plan.study.model
    actor = model_name(part.actor)
    names = {"actor": actor, "writer": model_name(part.writer, actor), "ranker": model_name(part.ranker, actor)}
    with ExitStack() as stack:
        endpoints: dict[str, Endpoint] = {}
        for name in dict.fromkeys(names.values()):
            if name.startswith(SIMULATED):
                endpoints[name] = stack.enter_context(_simulated(name, plan)).endpoint
            elif part.api_base:
                endpoints[name] = Endpoint(model=name, api_base=part.api_base, timeout=part.timeout)
        llm = LLM(
            endpoints,
            cache_folder=cache_folder() if plan.study.run.cache else None,
            concurrency=plan.study.run.workers,
        )
        yield Models(
            **{role: Named(llm, name) for role, name in names.items()},
            identities={name: llm.identity(name) for name in dict.fromkeys(names.values())},
        )


@contextmanager
def open_model(name: str | None) -> Iterator[Named | None]:
    """One model outside a study, or None where no name is given."""
    yield None if name is None else Named(LLM(cache_folder=cache_folder()), model_name(name))


def cache_folder() -> Path:
    """Where model answers are kept for replay: `rebind/answers` in the user's cache (XDG). May be deleted."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "rebind" / "answers"


def _simulated(name: str, plan: Plan) -> SimulatedModel:
    from rebind.eval.scripts import oracle_script, solve_rate

    return SimulatedModel(name, oracle_script(plan.targets, solve_rate(name)))
