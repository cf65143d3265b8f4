"""`rebind bench overhead`: what a harness adds to each step of an agent, beside the model and the tool.

Rebind and inspect-ai run the same scripted episodes one after the other: each step the model, which answers at once,
calls the same tool, which returns the same text at once. Both write their logs as they do by default (Rebind syncs its
ledger at each episode's end). The model stands where each harness hands over to a provider's client library (litellm
here, a `ModelAPI` there), so that neither client nor network is in the numbers. An episode's overhead is the time from
its first model call to that of the next episode, less all time within the model and the tool, by step: set-up and
logging of an episode are in it.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, cast
from unittest import mock

import httpx

from rebind.agents import wire
from rebind.agents.endpoint import Endpoint
from rebind.agents.llm import LLM
from rebind.agents.provider import litellm
from rebind.agents.settings import Protocol
from rebind.agents.tap import Exchange, hear
from rebind.banks.files import silent
from rebind.banks.store import Bank
from rebind.eval.bench.peers import PeerFailure, interpreter
from rebind.eval.episode import Bench, attempt_cell
from rebind.eval.ledger import Ledger
from rebind.eval.models import Models, Named
from rebind.eval.parts import Tell
from rebind.eval.plan import Plan
from rebind.eval.study import BankPart, ModelPart, Study, TargetsPart
from rebind.types import Budget, Cell, Environment, Progress, Seal, Selection, Target, Task, ToolCall, ToolSpec, Verdict

Span = tuple[str, int, int, int]
"""("model" or "tool", begin, end, processor time of the process at the beginning), in nanoseconds."""

VERSION = "0.3.285"
"""Of inspect-ai."""
STEPS = 20
"""Model calls of an episode; the last one ends it."""
_GOAL = "Look up every key that the list names, one after the other, and say when you are done. " * 10
_OBSERVATION = json.dumps({"items": [{"id": f"item_{n}", "title": f"Entry number {n}", "ok": True} for n in range(12)]})
_WARM_UP = 2
"""Episodes at the beginning of a run that are not counted."""
_TOOL = ToolSpec(
    name="lookup",
    description="Looks a key up.",
    parameters={
        "type": "object",
        "properties": {"key": {"type": "string", "description": "What to look up."}},
        "required": ["key"],
    },
)
_DONE = ToolSpec(
    name="done", description="Ends the task.", parameters={"type": "object", "properties": {}, "required": []}
)


def run(episodes: int = 40, repeats: int = 4, progress: Progress = silent) -> dict[str, Any]:
    """Runs `episodes` episodes on each side, `repeats` times, in turns.

    Returns:
        `ours_ms`, `inspect_ms`: overhead of a step in milliseconds, median over episodes; `ours_p95_ms`,
        `inspect_p95_ms`; `ours_cpu_ms`, `inspect_cpu_ms`: processor time, which other load on the machine moves
        less; `ours_json_…`: with Rebind's own JSON protocol instead of native tool calls; `ratio` (`ours_ms` to
        `inspect_ms`); `steps`, `episodes` (measured, a side), `inspect_version`.

    Raises:
        PeerMissing: inspect-ai cannot be installed.
        PeerFailure: inspect-ai failed.
    """
    python = interpreter("inspect-ai", VERSION)
    sides = {
        "ours": lambda: ours(episodes, "native"),
        "inspect": lambda: theirs(python, episodes),
        "ours_json": lambda: ours(episodes, "json"),
    }
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in sides}
    for repeat in range(repeats):
        order = list(sides) if repeat % 2 == 0 else list(sides)[::-1]
        for n, name in enumerate(order):
            found[name] += overheads(sides[name](), STEPS)[_WARM_UP:]
            progress(name, repeat * len(order) + n + 1, repeats * len(order))
    result: dict[str, Any] = {}
    for name, values in found.items():
        wall, cpu = zip(*values, strict=True)
        result[f"{name}_ms"] = round(statistics.median(wall), 3)
        result[f"{name}_p95_ms"] = round(statistics.quantiles(wall, n=20)[-1], 3)
        result[f"{name}_cpu_ms"] = round(statistics.median(cpu), 3)
    ratio = round(result["ours_ms"] / result["inspect_ms"], 3)
    return {**result, "ratio": ratio, "steps": STEPS, "episodes": len(found["ours"]), "inspect_version": VERSION}


def overheads(spans: Sequence[Span], steps: int) -> list[tuple[float, float]]:
    """Milliseconds a step, wall and processor time, of each episode that another one follows: from its first
    model call to the next episode's. From the wall time the spans between are taken off."""
    firsts = [n for n, span in enumerate(spans) if span[0] == "model"][::steps]
    found = []
    for first, after in pairwise(firsts):
        within = sum(end - begin for _, begin, end, _ in spans[first:after])
        wall, cpu = spans[after][1] - spans[first][1] - within, spans[after][3] - spans[first][3]
        found.append((wall / steps / 1e6, cpu / steps / 1e6))
    return found


def theirs(python: Path, episodes: int) -> list[Span]:
    """inspect-ai's spans. Raises PeerFailure."""
    job = {"goal": _GOAL, "observation": _OBSERVATION, "steps": STEPS, "episodes": episodes + 1}
    script = Path(__file__).with_name("inspect_side.py")
    with tempfile.TemporaryDirectory() as scratch:
        command = [str(python), "-P", str(script)]
        done = subprocess.run(command, input=json.dumps(job), capture_output=True, text=True, cwd=scratch, check=False)
    if done.returncode != 0:
        raise PeerFailure(f"inspect-ai {VERSION} failed: {done.stderr[-2000:]}")
    return [tuple(span) for span in json.loads(done.stdout.splitlines()[-1])]


def ours(episodes: int, protocol: Protocol) -> list[Span]:
    """Rebind's spans: whole attempts at cells, through the door to models, the loop and the ledger."""
    spans: list[Span] = []
    model = _Scripted(protocol, spans)
    target = Target(
        task=Task(env="bench/Lookup-v0", goal=_GOAL, state="none"),
        seal=Seal(canary="none", env="bench/Lookup-v0", task_key="none", family="lookup"),
    )
    study = Study(
        name="overhead",
        environments=("lookup",),
        conditions=("none",),
        bank=BankPart(path=Path("none")),
        targets=TargetsPart(path=Path("none")),
        model=ModelPart(protocol=protocol),
        budget=Budget(steps=2 * STEPS),
    )
    key = target.task.key
    with tempfile.TemporaryDirectory() as scratch, Ledger.open(Path(scratch)) as ledger, model.answering() as door:
        named = Named(door, "simulated/overhead")
        bench = _LookupBench(
            plan=Plan(study, (target,), ()),
            bank=cast(Bank, None),  # nothing is selected, so that it is never opened
            ledger=ledger,
            models=Models(named, named, named, {}, door),
            targets={key: target},
            selections={key: Selection(target_key=key, candidates=(), scores=(), chosen=None, ranker="top1")},
        )
        bench.env = _Lookup(spans)
        for seed in range(episodes + 1):
            attempt_cell(bench, Cell(target=key, condition="none", seed=seed), 0)
    return spans


class _Scripted:
    """Stands in for litellm: calls the tool until an episode's last step, then ends it. At once."""

    def __init__(self, protocol: Protocol, spans: list[Span]) -> None:
        self._answers = [_answer(protocol, _TOOL.name, {"key": "k"})] * (STEPS - 1) + [_answer(protocol, "done", {})]
        self._spans = spans
        self._turn = 0

    @contextmanager
    def answering(self) -> Iterator[LLM]:
        """The door to models, with this in place of litellm."""
        endpoint = Endpoint(model="openai/gpt-4o-mini", api_key="none-needed")  # without an address litellm is asked
        with mock.patch.object(wire, "litellm", return_value=self):
            yield LLM({"simulated/overhead": endpoint})

    def completion(self, **body: Any) -> Any:
        begin, cpu = time.monotonic_ns(), time.process_time_ns()
        response, exchange = self._answers[self._turn % STEPS]
        self._turn += 1
        hear(exchange)
        self._spans.append(("model", begin, time.monotonic_ns(), cpu))
        return response


def _answer(protocol: Protocol, tool: str, args: dict[str, Any]) -> tuple[Any, Exchange]:
    """litellm's response object, and the HTTP response it would have come from."""
    message: dict[str, Any] = {"role": "assistant", "content": json.dumps({"thought": "", "tool": tool, "args": args})}
    if protocol == "native":
        function = {"name": tool, "arguments": json.dumps(args)}
        message = {"role": "assistant", "content": None}
        message["tool_calls"] = [{"id": "call_1", "type": "function", "function": function}]
    usage = {"prompt_tokens": 1000, "completion_tokens": 20, "total_tokens": 1020}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    body = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    data = json.dumps({**body, "usage": usage}).encode()
    headers = httpx.Headers({"content-type": "application/json"})
    return litellm().ModelResponse(**body), Exchange(200, headers, bytearray(data))


class _LookupBench(Bench):
    """A bench whose only environment is the tool."""

    env: _Lookup

    @contextmanager
    def environment(self, env_id: str, tell: Tell) -> Iterator[Environment]:
        yield self.env


class _Lookup:
    """The tool as an environment."""

    def __init__(self, spans: list[Span]) -> None:
        self._spans = spans

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        return "You may begin.", {}

    def step(self, action: Any) -> tuple[str, float, bool, bool, dict[str, Any]]:
        begin, cpu = time.monotonic_ns(), time.process_time_ns()
        assert isinstance(action, ToolCall)  # what the script says
        result = _OBSERVATION if action.tool == _TOOL.name else ""
        self._spans.append(("tool", begin, time.monotonic_ns(), cpu))
        return result, 0.0, action.tool == _DONE.name, False, {"calls": (), "error": None}

    def tools(self) -> tuple[ToolSpec, ...]:
        return (_TOOL, _DONE)

    def verify(self) -> Verdict:
        return Verdict(success=True)

    def close(self) -> None: ...
