"""AppWorld's tasks as its data folder holds them: instructions, families (scenarios), bindings, solutions.

Ground truth is read here, in our own process; the process that runs the agent's code has no such files.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rebind.envs.adapters.appworld.install import data_root, missing
from rebind.envs.adapters.pairs import bindings
from rebind.errors import UserError
from rebind.types import Binding, ToolCall


@dataclass(frozen=True)
class AppWorldTask:
    """One variant of a scenario."""

    id: str
    """`<scenario>_<n>`."""
    root: Path
    official: bool

    @property
    def folder(self) -> Path:
        return self.root / "data" / "tasks" / self.id

    @property
    def family(self) -> str:
        """The scenario; tasks of the small world are never called AppWorld's."""
        return f"{'appworld' if self.official else 'appworld-small'}/{self.id.rsplit('_', 1)[0]}"

    @property
    def goal(self) -> str:
        specs = json.loads((self.folder / "specs.json").read_text(encoding="utf-8"))
        return str(specs["instruction"])

    def bindings(self) -> tuple[Binding, ...]:
        """What the scenario's variants differ in: AppWorld's public data of the variant."""
        path = self.folder / "ground_truth" / "public_data.json"
        public = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        return bindings([ToolCall(tool=self.family, args=public)])

    def solution(self) -> str:
        """Code that solves the task. Raises UserError where the data have none (test sets, minimal data)."""
        path = self.folder / "ground_truth" / "compiled_solution.py"
        if not path.exists():
            raise UserError(f"AppWorld's data hold no solution of task {self.id}; only train and dev have one")
        code = path.read_text(encoding="utf-8")
        code = "\n".join(line for line in code.splitlines() if "Canary String" not in line)
        made = next(n for n in ast.parse(code).body if isinstance(n, ast.FunctionDef) and n.name == "solution")
        rest = ", ".join(["apis", *["None"] * (len(made.args.args) - 1)])
        return f"{code}\n\nsolution({rest})"


def tasks() -> Iterator[AppWorldTask]:
    """All there are; none where AppWorld is not installed."""
    if missing() is None:
        root, official = data_root()
        for folder in sorted((root / "data" / "tasks").iterdir()):
            if (folder / "specs.json").exists():
                yield AppWorldTask(folder.name, root, official)


def task(name: str, official: bool) -> AppWorldTask:
    """Raises UserError where the data at hand are of the other kind, or have no such task."""
    root, here = data_root()
    one = AppWorldTask(name, root, here)
    if "/" in name or here != official or not (one.folder / "specs.json").exists():
        kind = "official data" if official else "small world"
        raise UserError(f"no task {name!r} of AppWorld's {kind} in {root}")
    return one
