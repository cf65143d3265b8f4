"""The half of `rebind bench overhead` that runs inspect-ai: in an interpreter of its own, without Rebind.

Reads what to run from standard input and writes to standard output when each model and tool call began and ended.
"""
# inspect-ai is in the benchmark's own environment, not in Rebind's.
# mypy: ignore-errors
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import json
import sys
import tempfile
import time

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelAPI, ModelOutput, ModelUsage, get_model, modelapi
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import tool

JOB = json.load(sys.stdin)
CALLS: list[tuple[str, int, int, int]] = []
"""("model" or "tool", begin, end, processor time at the beginning), in nanoseconds."""


@tool
def lookup():
    async def execute(key: str) -> str:
        """Looks a key up.

        Args:
            key: What to look up.
        """
        begin, cpu = time.monotonic_ns(), time.process_time_ns()
        result = JOB["observation"]
        CALLS.append(("tool", begin, time.monotonic_ns(), cpu))
        return result

    return execute


class Scripted(ModelAPI):
    """Calls the tool until an episode's last step, then says that it is done. At once."""

    turn = 0

    async def generate(self, input, tools, tool_choice, config):
        begin, cpu = time.monotonic_ns(), time.process_time_ns()
        self.turn += 1
        if self.turn % JOB["steps"]:
            output = ModelOutput.for_tool_call("scripted", "lookup", {"key": f"k{self.turn}"})
        else:
            output = ModelOutput.from_content("scripted", "done")
        output.usage = ModelUsage(input_tokens=1000, output_tokens=20, total_tokens=1020)
        CALLS.append(("model", begin, time.monotonic_ns(), cpu))
        return output


@modelapi(name="scripted")
def scripted():
    return Scripted


def main() -> None:
    samples = [Sample(input=f"{JOB['goal']} ({n})") for n in range(JOB["episodes"])]
    task = Task(dataset=MemoryDataset(samples), solver=[use_tools(lookup()), generate()])
    with tempfile.TemporaryDirectory() as logs:
        (log,) = eval(
            task, model=get_model("scripted/model"), max_samples=1, display="none", log_dir=logs, log_level="error"
        )
    if log.status != "success":
        sys.exit(f"inspect-ai ended with {log.status}: {log.error}")
    json.dump(CALLS, sys.stdout)


main()
