"""Playing a task through a real environment: by its oracle, by a source's calls to the letter, or not at all."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from functools import lru_cache

from rebind.envs.apps.building import family_of
from rebind.types import Call, Environment, Seal, ToolCall, Verdict


@dataclass(frozen=True)
class Played:
    """A finished run."""

    actions: tuple[ToolCall, ...]
    calls: tuple[Call, ...]
    verdict: Verdict

    @property
    def effective(self) -> int:
        """Calls that succeeded: what the length groups count."""
        return sum(c.ok for c in self.calls)


def play(env: Environment, seal: Seal, actions: Generator[ToolCall, tuple[Call, ...], None]) -> Played:
    """Resets to the seal's task and steps each action, sending back the calls it made. Raises what `actions` raises."""
    env.reset(options={"seal": seal})
    done: list[ToolCall] = []
    calls: list[Call] = []
    try:
        action = next(actions)
        while True:
            info = env.step(action)[-1]
            done.append(action)
            calls += info["calls"]
            action = actions.send(tuple(info["calls"]))
    except StopIteration:
        return Played(tuple(done), tuple(calls), env.verify())


def literally(actions: Iterable[ToolCall], tokens: dict[str, str]) -> Generator[ToolCall, tuple[Call, ...], None]:
    """A source's actions word for word, but for its access tokens (by app), which become the target's own: a replay
    must fail for what it does, not for want of a login."""
    own: dict[str, str] = {}
    for action in actions:
        args = {n: own.get(str(v), v) if n == "access_token" else v for n, v in action.args.items()}
        calls = yield ToolCall(tool=action.tool, args=args)
        own |= {tokens[app]: token for app, token in logins(calls).items() if app in tokens}


def logins(calls: Iterable[Call]) -> dict[str, str]:
    """Access tokens by app, from successful logins."""
    return {
        str(c.args["app"]): str(c.result["access_token"])
        for c in calls
        if c.ok and c.tool == "supervisor_login" and isinstance(c.result, dict)
    }


class Player:
    """Plays tasks in one environment; the oracle runs of sources are kept. For one thread at a time."""

    def __init__(self) -> None:
        from rebind.envs.apps.env import AppsEnv  # it imports the world that this module serves

        self.env = AppsEnv()
        self._kept = lru_cache(maxsize=1024)(self._solve_text)

    def solve(self, seal: Seal) -> Played:
        """The oracle's run. Raises `OracleFailed` where one of its calls is refused or finds nothing."""
        return play(self.env, seal, family_of(seal.family).solve(seal.values()))

    def replay(self, source: Seal, target: Seal) -> Played:
        """The source's oracle run, literally, in the target's initial state."""
        solved = self._kept(source.model_dump_json())
        return play(self.env, target, literally(solved.actions, logins(solved.calls)))

    def act(self, seal: Seal, actions: Iterable[ToolCall]) -> Played:
        """The given actions, whatever comes back."""
        return play(self.env, seal, _given(actions))

    def _solve_text(self, seal: str) -> Played:
        return self.solve(Seal.model_validate_json(seal))


def _given(actions: Iterable[ToolCall]) -> Generator[ToolCall, tuple[Call, ...], None]:
    for action in actions:  # noqa: UP028  (a plain iterator behind `yield from` cannot be sent what came back)
        yield action


_local = threading.local()


def player() -> Player:
    """This thread's player."""
    if not hasattr(_local, "player"):
        _local.player = Player()
    found: Player = _local.player
    return found
