"""The task files of other benchmarks, read as instances of templates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from rebind.envs.adapters.instances import Instance
from rebind.envs.adapters.tau2.tasks import Tau2Task
from rebind.envs.adapters.workarena.configurations import read, values
from rebind.errors import UserError, did_you_mean
from rebind.types import ToolCall


def names() -> tuple[str, ...]:
    """Benchmarks whose task files can be read."""
    return tuple(_LOADERS)


def load(name: str, path: Path) -> tuple[Instance, ...]:
    """The instances of a benchmark's task files, in the files' order.

    Raises:
        UserError: an unknown benchmark, or a folder without its files; says which.
    """
    if name not in _LOADERS:
        raise UserError(f"targets cannot be built from {name!r}{did_you_mean(name, _LOADERS)}")
    if not path.exists():
        raise UserError(f"{path} does not exist; --data names the folder or file of {name}'s tasks")
    found = tuple(_LOADERS[name](path))
    if not found:
        raise UserError(f"{path} holds no task of {name}")
    return found


def _webarena(path: Path) -> Iterator[Instance]:
    """WebArena's `intent_template_id` and `instantiation_dict`, from test.raw.json (or a file of that form)."""
    for raw in read(_file(path, "test.raw.json")):
        yield Instance(str(raw["intent_template_id"]), str(raw["task_id"]), raw["intent"], raw["instantiation_dict"])


def _workarena(path: Path) -> Iterator[Instance]:
    """WorkArena's configurations: a file is a template, a configuration an instance."""
    files = sorted(one for one in path.glob("*.json*") if _stem(one) != "impersonation_users")
    for file in files:
        template = _stem(file)
        for n, raw in enumerate(read(file)):
            yield Instance(template, f"{template}/{n}", raw.get("goal"), dict(values(template, raw)))


def _tau_bench(path: Path) -> Iterator[Instance]:
    """τ-bench's retail training tasks: one gold tool sequence is a template, its arguments are the bindings."""
    for n, raw in enumerate(read(_file(path, "envs/retail/tasks_train.json"))):
        calls = tuple(ToolCall(tool=a["name"], args=a["kwargs"]) for a in raw["actions"])
        task = Tau2Task("retail", str(n), raw["instruction"], calls, ())
        values = {b.name: b.value for b in task.bindings()}
        yield Instance(" ".join(call.tool for call in calls), str(n), raw["instruction"], values)


def _file(path: Path, name: str) -> Path:
    """The file itself, or that of a folder, packed or not."""
    if path.is_file():
        return path
    for candidate in (path / name, path / f"{name}.gz"):
        if candidate.exists():
            return candidate
    raise UserError(f"{path} holds no {name} (nor {name}.gz)")


def _stem(path: Path) -> str:
    return path.name.split(".json", 1)[0]


_LOADERS: dict[str, Callable[[Path], Iterator[Instance]]] = {
    "tau-bench": _tau_bench,
    "webarena": _webarena,
    "workarena": _workarena,
}
