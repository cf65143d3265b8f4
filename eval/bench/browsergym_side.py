"""BrowserGym's side of `rebind bench browser`: run by the peer's own Python, which has no Rebind.

Reads one job a line from standard input and answers each with a line: {"do": "reset", "url", "variant"} and {"do":
"act", "kind", "number", "mark"} give {"ms", "text", "error"}: `text` is the flattened accessibility tree, the
milliseconds hold the environment's call and the flattening, `error` is what the environment says of the action.
"""

# mypy: ignore-errors
# pyright: basic, reportMissingImports=false, reportOptionalMemberAccess=false

import json
import logging
import sys
import time

import browsergym.core.env
import numpy
import playwright.sync_api
from browsergym.core.env import BrowserEnv
from browsergym.core.task import OpenEndedTask
from browsergym.utils.obs import IGNORED_AXTREE_ROLES, flatten_axtree_to_str

CHROMIUM = {"executable_path": sys.argv[1], "args": json.loads(sys.argv[2])}
_AWAKE = {"slow_mo": 0, "pre_observation_delay": 0.0}
VARIANTS = {"stock": {}, "nosleep": _AWAKE, "noshot": _AWAKE}
"""Arguments of the environment. Stock are the defaults: one second after each of Playwright's operations (its tasks'
`slow_mo`) and half a second before the observation. "noshot" takes no screenshot either."""
IGNORED = [*IGNORED_AXTREE_ROLES, "InlineTextBox"]
"""Chromium lists text boxes below each text that those of Playwright 1.44's day did not: they are left out."""


def launch(self, *, args=(), **rest):
    """BrowserGym's task and chat browsers, as they are, but for the program and the flags that this machine needs."""
    return plain_launch(self, executable_path=CHROMIUM["executable_path"], args=[*args, *CHROMIUM["args"]], **rest)


plain_launch = playwright.sync_api.BrowserType.launch
playwright.sync_api.BrowserType.launch = launch
take_screenshot = browsergym.core.env.extract_screenshot


class Side:
    """The environments by variant, one of them open at a time."""

    def __init__(self) -> None:
        self.env = None
        self.variant = ""

    def reset(self, url: str, variant: str) -> dict:
        if self.env is None or self.variant != variant:
            self.close()
            task = {"start_url": url, "goal": "look around"}
            self.env, self.variant = BrowserEnv(OpenEndedTask, task, **VARIANTS[variant]), variant
            shots = take_screenshot if variant != "noshot" else lambda page: numpy.zeros((1, 1, 3), numpy.uint8)
            browsergym.core.env.extract_screenshot = shots
        self.env.task_kwargs["start_url"] = url
        observed, _ = self.env.reset(seed=0)
        return self.seen(observed)

    def act(self, kind: str, number: str, mark: str) -> dict:
        action = f"fill({number!r}, {mark!r})" if kind == "write" else f"click({number!r})"
        return self.seen(self.env.step(action)[0])

    def seen(self, observed: dict) -> dict:
        tree, more = observed["axtree_object"], observed["extra_element_properties"]
        text = flatten_axtree_to_str(tree, more, ignored_roles=IGNORED)
        return {"text": text, "error": observed["last_action_error"]}

    def close(self) -> None:
        if self.env is not None:
            self.env.close()
            self.env = None


def main() -> None:
    logging.disable(logging.WARNING)
    side = Side()
    for line in sys.stdin:
        job = json.loads(line)
        do = getattr(side, job.pop("do"))
        began = time.perf_counter()
        seen = do(**job)
        print(json.dumps({"ms": 1000 * (time.perf_counter() - began), **seen}), flush=True)
    side.close()


main()
