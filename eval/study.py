"""A study file: one small TOML, read strictly, that says everything a run depends on."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationError, model_validator

from rebind.agents.settings import Placement, Protocol
from rebind.banks.shipped import locate
from rebind.errors import StudyError, did_you_mean
from rebind.types import Budget, Decoding, Frozen, Part, ShiftLevel


class BankPart(Frozen):
    path: Path
    """A frozen bank folder, relative to the study file; or `shipped:NAME` for one that comes with Rebind."""


class TargetsPart(Frozen):
    path: Path
    """A targets folder, relative to the study file; or `shipped:NAME`."""
    levels: tuple[ShiftLevel, ...] = ()
    """Keep these shift levels only; all where empty."""
    families: tuple[str, ...] = ()
    """Keep targets of these families only; all where empty."""
    limit: Annotated[int, Field(ge=1)] | None = None
    """Keep at most this many, spread evenly over levels, in the order of their keys."""


class ModelPart(Frozen):
    actor: str = "default"
    """As litellm names it, `local/NAME` for an embedded model, `simulated/NAME` for the harness's own; `default` is the
    embedded one."""
    writer: str | None = None
    """Writes reuse notes; the actor's model where not given."""
    ranker: str | None = None
    customer: str | None = None
    """Plays the customer of `tau2`; without it, the goals tell what the customer wants."""
    judge: str | None = None
    """Judges the answers of `webarena` that a model has to compare."""
    api_base: str | None = None
    protocol: Protocol = "json"
    """How the actor acts: JSON by schema, native tool calls, or blocks of Python."""
    placement: Placement = "turns"
    """Where support stands in the prompt; one setting for every condition."""
    thought: bool = True
    """JSON protocol: answers begin with a thought of one short sentence."""
    grounded: bool = False
    """JSON protocol: limit text arguments to values seen so far."""
    strict_tools: bool = False
    """JSON protocol: only the tools of the prompt may be called, not others found in documentation."""
    timeout: Annotated[float, Field(gt=0)] = 600.0
    """Seconds for one HTTP attempt."""
    stream: bool = False
    """Ask for answers as streams: for servers that drop a connection which is silent for long."""

    @property
    def parts(self) -> dict[Part, str]:
        """The models that play a part in an environment."""
        named: dict[Part, str | None] = {"customer": self.customer, "judge": self.judge}
        return {part: name for part, name in named.items() if name is not None}


class RetrievalPart(Frozen):
    k: Annotated[int, Field(ge=1, le=50)] = 5
    ranker: Literal["llm", "top1", "random", "oracle"] = "llm"


class RunPart(Frozen):
    workers: Annotated[int, Field(ge=1, le=512)] = 4
    """Episodes at once."""
    attempts: Annotated[int, Field(ge=1, le=20)] = 3
    """Attempts at a cell before an infrastructure failure is left standing."""
    max_cost: Annotated[float, Field(gt=0)] | None = None
    """US dollars of the whole run, all model calls included; no episode begins once they are spent."""
    cache: bool = True
    """Replay identical model requests from the response cache."""
    engine: Literal["local", "ray"] = "local"
    """Where episodes happen: threads of this process, or tasks of a Ray cluster."""
    ray_address: str | None = None
    """HOST:PORT of the cluster's head; $RAY_ADDRESS, or the cluster of this machine, where not given."""


class Study(Frozen):
    """A whole study. Field order is the order in the file and in the lock."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    environments: Annotated[tuple[str, ...], Field(min_length=1)]
    conditions: Annotated[tuple[str, ...], Field(min_length=1)] = ("none", "full", "summary", "qcr", "skill")
    seeds: Annotated[tuple[int, ...], Field(min_length=1)] = (0, 1, 2)
    bank: BankPart
    targets: TargetsPart
    model: ModelPart = ModelPart()
    decoding: Decoding = Decoding()
    budget: Budget = Budget()
    retrieval: RetrievalPart = RetrievalPart()
    run: RunPart = RunPart()

    @model_validator(mode="after")
    def _no_doubles(self) -> Study:
        for name in ("environments", "conditions", "seeds"):
            values = getattr(self, name)
            if len(set(values)) != len(values):
                raise ValueError(f"{name} names a value twice: {list(values)}")
        return self


def load_study(path: Path) -> Study:
    """Reads a study file; relative paths in it are resolved against its folder.

    Raises:
        StudyError: the file is missing, is no TOML, or does not validate; names the key and suggests the nearest one.
    """
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        hint = "`rebind demo --write FILE` writes one to start from"
        raise StudyError(f"study file {path} does not exist; {hint}") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise StudyError(f"study file {path} cannot be read: {error}") from None
    try:
        study = Study.model_validate(raw)
    except ValidationError as error:
        raise StudyError(f"study file {path}: {_explain(error)}") from None
    folder = path.resolve().parent
    return study.model_copy(
        update={
            "bank": study.bank.model_copy(update={"path": _resolve(folder, study.bank.path)}),
            "targets": study.targets.model_copy(update={"path": _resolve(folder, study.targets.path)}),
        }
    )


def _resolve(folder: Path, path: Path) -> Path:
    """A path as the study file means it."""
    located = locate(path)
    return located if located.is_absolute() else folder / located


def _explain(error: ValidationError) -> str:
    """The first thing wrong, as one sentence that names the key and the nearest known one."""
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
    if first["type"] == "extra_forbidden":
        known = _fields_at(first["loc"][:-1])
        return f"unknown key {where!r}{did_you_mean(str(first['loc'][-1]), known)}{more}"
    if first["type"] == "missing":
        return f"key {where!r} is missing{more}"
    value = first["input"]
    said = first["msg"].removeprefix("Value error, ")
    return f"{where}: {said} (got {value!r}){more}" if where else f"{said}{more}"


def _fields_at(location: tuple[int | str, ...]) -> list[str]:
    model: Any = Study
    for part in location:
        annotation = model.model_fields[str(part)].annotation
        if not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
            return []
        model = annotation
    return list(model.model_fields)
