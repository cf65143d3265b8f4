"""Runs to replay and export: a real study with faults, and single attempts played in the real environment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rebind.agents.llm import LLM
from rebind.agents.simulated import SimulatedModel, Weather
from rebind.banks.files import silent
from rebind.eval import models as study_models
from rebind.eval.demo import demo_study
from rebind.eval.ledger import Ledger
from rebind.eval.plan import Plan, make_plan
from rebind.eval.runner import run_study
from rebind.eval.scripts import oracle_script
from rebind.eval.tokens import account
from rebind.memory.index import query_text
from rebind.memory.skill.environment import SkillEnvironment
from rebind.types import Action, Cell, Decoding, Episode, Skill, Step, Support, Target, Usage, World

_LOST = range(9, 13)
"""Requests that fail: two for each of the two attempts at one cell."""
_RETRIED = range(19, 21)
"""Requests that fail: those of one attempt at another cell, whose next attempt succeeds."""

_USED = Usage(prompt=100, completion=10)


def mixed_run(folder: Path) -> Path:
    """A finished run of the demo's study, one target: real bank, environment, HTTP and ledger, a simulated actor.
    Infrastructure ends one cell for good, and one attempt at another."""
    study = demo_study("simulated/oracle")
    run = study.run.model_copy(update={"workers": 1, "cache": False, "attempts": 2})
    targets = study.targets.model_copy(update={"limit": 1})
    plan = make_plan(study.model_copy(update={"run": run, "targets": targets, "seeds": (0,)}))
    weather = Weather(faults=dict.fromkeys((*_LOST, *_RETRIED), "500"))

    def simulated(name: str, plan: Plan) -> SimulatedModel:
        return SimulatedModel(name, oracle_script(plan.targets), weather)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(study_models, "_simulated", simulated)
        patch.setattr(study_models, "LLM", lambda endpoints, **more: LLM(endpoints, attempts=2, backoff=0.0))
        run_study(plan, folder, silent)
    return folder


EVIDENCE = "1. mail_search: what a past run saw"
"""What a skill that fails falls back on."""


class Recording:
    """A ledger in the making: attempts at one target, played in its environment as they are written."""

    def __init__(
        self, folder: Path, world: World, target: Target, conditions: Sequence[str] = ("none", "skill")
    ) -> None:
        self.folder, self._target = folder, target
        self._env = world.make()
        self._ledger = Ledger.open(folder)
        first, _ = self._env.reset(options={"seal": target.seal})
        key = target.task.key
        self._ledger.append("plan", _plan(key, conditions))
        sealed = {"seal": target.seal.model_dump(mode="json"), "source": None}
        self._ledger.append("target", {"target": key, "task": target.task.model_dump(mode="json"), **sealed})
        query = query_text(target.task.goal, first)
        self._ledger.append(
            "retrieval", {"target": key, "query": query, "candidates": [], "scores": [], "encoder": "e"}
        )

    def attempt(
        self,
        condition: str,
        actions: Sequence[Action],
        *,
        skills: Sequence[Skill] = (),
        prompt: Sequence[dict[str, Any]] = (),
        tool_calls: Sequence[dict[str, Any]] = (),
        tools: Sequence[dict[str, Any]] = (),
        usage: Usage = _USED,
    ) -> Episode:
        """Plays actions, one model call each. `prompt`: the first call's; `tool_calls`: of every answer."""
        cell = Cell(target=self._target.task.key, condition=condition, seed=0)
        first, _ = self._env.reset(options={"seal": self._target.seal})
        env: Any = self._env
        if skills:
            env = SkillEnvironment(env, skills, lambda: EVIDENCE, lambda row: self._log("skill", row, cell))
        support = Support(condition=condition, skills=tuple(skills)).model_dump(mode="json")
        self._log("start", {"cell": cell.model_dump(mode="json"), "attempt": 0}, cell)
        self._log("support", support, cell)
        said = list(prompt) or [_message("system", "You act."), _message("user", f"{self._target.task.goal}\n{first}")]
        calls, api_calls, kept = list[dict[str, Any]](), 0, 0
        for index, action in enumerate(actions):
            row = _call(index, kept, said, tools, tool_calls, usage)
            calls.append(row)
            self._log("call", row, cell)
            observation, _, _, _, info = env.step(action)
            step = Step(action=action, observation=observation, thought="next", **info)
            self._log("step", {"index": index, **step.model_dump(mode="json")}, cell)
            kept, api_calls = kept + len(said), api_calls + len(step.calls)
            said = [_message("assistant", row["text"], tool_calls), _message("user", observation)]
        verdict = self._env.verify()
        self._log("verdict", verdict.model_dump(mode="json"), cell)
        episode = Episode(
            cell=cell, attempt=0, outcome="valid", ending="done", success=verdict.success, milestone=verdict.progress,
            steps=len(actions), api_calls=api_calls, tokens=account(calls, support), seconds=1.0,
        )  # fmt: skip
        self._log("episode", episode.model_dump(mode="json"), cell)
        return episode

    def close(self) -> Path:
        """Seals the ledger; returns the run folder."""
        self._ledger.seal()
        self._ledger.close()
        self._env.close()
        return self.folder

    def _log(self, kind: Any, data: dict[str, Any], cell: Cell) -> None:
        self._ledger.append(kind, data, cell, 0)


def _message(role: str, content: str, tool_calls: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    return {"role": role, "content": content, "tool_calls": list(tool_calls), "tool_call_id": None}


def _call(index: int, kept: int, messages: Any, tools: Any, tool_calls: Any, usage: Usage) -> dict[str, Any]:
    told = usage.model_dump(mode="json")
    tried = {"started": 1000.0 + index, "ms": 250.0, "status": 200, "error": None, "usage": told, "raw_usage": None}
    return {
        "index": index, "model": "made/model", "decoding": Decoding(seed=0).model_dump(mode="json"), "kept": kept,
        "messages": list(messages), "tools": list(tools) if index == 0 else None, "schema": None, "mem_tokens": 0,
        "text": "acting", "tool_calls": list(tool_calls), "finish": "stop", "usage": told,
        "attempts": [{**tried, "cost": 0.001}], "replayed": False,
    }  # fmt: skip


def _plan(target: str, conditions: Sequence[str]) -> dict[str, Any]:
    return {
        "name": "recorded", "lock": "2" * 64, "environments": ["apps"], "conditions": list(conditions), "seeds": [0],
        "model": {"actor": "made/model", "writer": None, "ranker": None, "protocol": "native"},
        "decoding": Decoding().model_dump(mode="json"),
        "budget": {"steps": 40, "calls": 120, "tokens": None, "seconds": None}, "placement": "turns", "attempts": 1,
        "targets": [target], "cells": len(conditions), "simulated": True,
    }  # fmt: skip
