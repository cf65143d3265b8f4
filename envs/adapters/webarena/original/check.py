"""Proves the runner on the stub site: what `rebind envs check webarena` shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rebind.envs.adapters.webarena.original.env import WebArenaEnv
from rebind.envs.adapters.webarena.original.tasks import STUB_TASKS, OriginalTask, sites, task
from rebind.envs.adapters.webarena.proving import prove
from rebind.types import Progress, Seal, ToolCall

Run = tuple[ToolCall, ...]


def check(names: Sequence[str] | None, seeds: Sequence[int], progress: Progress) -> dict[str, Any]:
    """Plays the stub site's tasks in BrowserGym's browser, judged by WebArena's evaluators; see `prove`."""
    from rebind.envs.adapters.webarena.original.world import WebArenaWorld

    env = WebArenaEnv()

    def passes(one: OriginalTask, kind: str) -> bool:
        run = {"right": right(one.id), "wrong": wrong(one.id), "noop": ()}[kind]
        return plays(env, WebArenaWorld().target(one).seal, run)

    try:
        return prove([task(number, stubbed=True) for number in STUB_TASKS], names, seeds, progress, passes)
    finally:
        env.close()


def plays(env: WebArenaEnv, seal: Seal, run: Run) -> bool:
    """Whether a run passes."""
    env.reset(options={"seal": seal})
    for action in run:
        env.step(action)
    return env.verify().success


def right(number: int) -> Run:
    """What solves a task of the stub site."""
    return _runs()[number][0]


def wrong(number: int) -> Run:
    """The same with a wrong answer or page."""
    return _runs()[number][1]


def _runs() -> dict[int, tuple[Run, Run]]:
    return {
        45: (
            _issues("a11yproject/a11yproject.com", "created_asc"),
            _issues("a11yproject/a11yproject.com", "popularity"),
        ),
        46: (_issues("primer/design", "created_date"), _issues("a11yproject/a11yproject.com", "created_date")),
        132: (_answer("1"), _answer("2")),
        133: (_answer("2"), _answer("21")),
    }


def _answer(text: str) -> Run:
    return (ToolCall(tool="send_msg_to_user", args={"text": text}),)


def _issues(project: str, order: str) -> Run:
    address = f"{sites(stubbed=True)['gitlab']}/{project}/-/issues/?sort={order}&state=opened"
    return (ToolCall(tool="goto", args={"url": address}), *_answer("done"))
