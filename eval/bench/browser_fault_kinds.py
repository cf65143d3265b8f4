"""Faults of `rebind bench browser-faults`: how each is injected, and what an episode must be called because of it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from rebind.types import Outcome

Action = tuple[str, dict[str, Any]]
Strike = Literal["server", "renderer", "browser", "driver"]
"""What is killed with SIGKILL."""


@dataclass(frozen=True)
class Case:
    """One fault. `at` is the action before which something is killed (-1: before the reset); `first` are actions that
    meet the fault, before the episode's own. `slow`: ends by a limit of time only."""

    kind: str
    how: str
    outcome: Outcome = "valid"
    first: tuple[Action, ...] = ()
    kill: Strike | None = None
    at: int = 0
    start: str = "/"
    slow: bool = False
    says: str = ""
    """What some observation has to hold."""


def click(element: str) -> Action:
    return "click", {"element": element}


def _button(name: str) -> tuple[Action, ...]:
    return (click(f'button "{name}"'),)


def _link(name: str) -> tuple[Action, ...]:
    return (click(f'link "{name}"'),)


_BACK: Action = ("tab_focus", {"index": 0})
_DIED: Outcome = "invalid-infra"
CASES: tuple[Case, ...] = (
    Case("server-killed", "before the reset", _DIED, kill="server", at=-1),
    Case("server-killed", "before a link", _DIED, kill="server", at=0),
    Case("server-killed", "before a form is sent", _DIED, kill="server", at=2),
    Case("server-killed", "before a request of the page", _DIED, _button("News"), kill="server", at=0),
    Case("server-killed", "before the verdict", _DIED, kill="server", at=3),
    Case("server-killed", "drops the connection", _DIED, _link("Dropped")),
    Case("never-loads", "no answer to a link", _DIED, _link("Never"), slow=True),
    Case("never-loads", "half an answer", _DIED, _link("Half"), slow=True),
    Case("never-loads", "no answer to goto", _DIED, (("goto", {"url": "/never"}),), slow=True),
    Case("never-loads", "no start page", _DIED, start="/never", slow=True),
    Case("never-loads", "a script without end", _DIED, _button("Busy"), slow=True),
    Case("dialog", "alert", first=_button("Alert"), says="a dialog was accepted: 'hello'"),
    Case("dialog", "confirm", first=_button("Confirm"), says="confirmed true"),
    Case("dialog", "prompt", first=_button("Prompt"), says="prompted null"),
    Case("dialog", "many alerts", first=_button("Many alerts"), says="'again 19'"),
    Case("dialog", "on leaving", first=_button("Hold")),
    Case("dialog", "while loading", first=_link("Alerting"), says="'at once'"),
    Case("download", "a link", first=_link("File"), says="a download was refused: file.bin"),
    Case("download", "goto", first=(("goto", {"url": "/file"}),), says="a download was refused: file.bin"),
    Case("download", "without end", first=_link("Endless file"), says="a download was refused: endless.bin"),
    Case("popup", "a link's", first=(*_link("Other"), _BACK), says='*1 "Other"'),
    Case("popup", "a script's", first=(*_button("Window"), _BACK), says='*1 "Other"'),
    Case("popup", "many", first=(*_button("Many windows"), _BACK), says="a new tab was opened"),
    Case("popup", "closes itself", first=_button("Short window")),
    Case("popup", "outside the sites", first=_link("Away"), says="navigation was refused"),
    Case("crash", "renderer, at an action", _DIED, kill="renderer", at=1),
    Case("crash", "renderer, before the verdict", _DIED, kill="renderer", at=3),
    Case("crash", "browser, at an action", _DIED, kill="browser", at=1),
    Case("crash", "browser, before the verdict", _DIED, kill="browser", at=3),
    Case("crash", "browser, between episodes", kill="browser", at=-1),
    Case("crash", "driver, at an action", _DIED, kill="driver", at=1),
    Case("crash", "driver, between episodes", kill="driver", at=-1),
    Case("agent", "no such element", first=_link("Nowhere"), says="there is no element"),
    Case("agent", "goes outside", first=(("goto", {"url": "http://example.com/"}),), says="outside the sites"),
    Case("agent", "no such page", first=(("goto", {"url": "/gone"}), ("goto", {"url": "/"})), says="404"),
    Case("agent", "no such action", first=(("fly", {}),), says="there is no action"),
)
_SLOW_EVERY = 3


def draw(episodes: int) -> list[Case]:
    """So many cases, all in turn; slow ones in every third turn only."""
    drawn: list[Case] = []
    turn = 0
    while len(drawn) < episodes:
        drawn += [case for case in CASES if not case.slow or turn % _SLOW_EVERY == 0]
        turn += 1
    return drawn[:episodes]


def errand(case: Case | None, quantity: str) -> list[Action]:
    """What the agent does in an episode: meets the fault, if any, and then orders a quantity of lamps."""
    own: Sequence[Action] = (
        click('link "Lamp"'),
        ("fill", {"element": 'textbox "Quantity"', "value": quantity}),
        click('button "Save"'),
        ("send_msg_to_user", {"text": "done"}),
    )
    return [*(case.first if case else ()), *own]


def processes(which: Strike | Literal["any"]) -> list[Any]:
    """The processes below this one that are Playwright's driver or Chromium's; "any": all of these."""
    import psutil

    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if which in ("any", role(process.cmdline())) and role(process.cmdline()):
                found.append(process)
    return found


def role(command: list[str]) -> str:
    """What a process is to a browser: "driver", "browser", "renderer", "helper"; empty where it is none."""
    if not command:
        return ""
    if "playwright" in command[0] or any("playwright/driver" in part for part in command):
        return "driver"
    if not any(name in command[0].lower() for name in ("chrom", "headless_shell")):
        return ""
    kinds = [part for part in " ".join(command).split() if part.startswith("--type=")]
    if not kinds:
        return "browser"
    return "renderer" if kinds[0] == "--type=renderer" else "helper"
