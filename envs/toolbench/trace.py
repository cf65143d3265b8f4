"""A recorded run of ToolBench, whatever file it came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import JsonValue

from rebind.types import ToolSpec

FINISH = "Finish"
"""The harness's own function that ends a run."""
Flaw = Literal["truncated", "malformed"]


@dataclass(frozen=True)
class Defect:
    """What is wrong with a part of a trace as it was published."""

    flaw: Flaw
    where: str
    what: str


@dataclass(frozen=True)
class RecordedCall:
    """One function call with its answer."""

    tool: str
    args: Mapping[str, JsonValue] | None
    """None where what was recorded of them is no JSON object."""
    response: str
    """The answer; its beginning where it is cut."""
    ok: bool | None
    """Whether the answer carries no error; None where so little is left of it that nobody can tell."""
    whole: bool
    """Whether arguments and answer are there in full."""
    on_path: bool
    """Whether it lies on the way to the final answer; in a tree most calls do not."""
    cut: bool = False
    """Whether upstream cut the message that held it, so that less is known of it than its agent saw."""


@dataclass(frozen=True)
class Tree:
    """Shape of a depth-first search."""

    nodes: int
    depth: int
    leaves: int
    pruned: int
    """Nodes that were given up."""


@dataclass(frozen=True)
class Trace:
    """A run: its query, the functions it could call, its calls in order, how it ended."""

    source: str
    """File, and key in it where it holds several runs."""
    method: str
    query: str
    tools: tuple[ToolSpec, ...]
    calls: tuple[RecordedCall, ...]
    finish: str
    """"give_answer", "give_up", or "none"."""
    answer: str
    tree: Tree | None = None
    defects: tuple[Defect, ...] = field(default=())

    @property
    def path(self) -> tuple[RecordedCall, ...]:
        """The calls on the way to the final answer."""
        return tuple(call for call in self.calls if call.on_path)

    def row(self) -> dict[str, Any]:
        """What `rebind bench` and the tests show of it."""
        return {
            "source": self.source,
            "method": self.method,
            "calls": len(self.calls),
            "finish": self.finish,
            "truncated": [f"{d.where}: {d.what}" for d in self.defects if d.flaw == "truncated"],
            "malformed": [f"{d.where}: {d.what}" for d in self.defects if d.flaw == "malformed"],
        }
