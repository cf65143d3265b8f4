"""Our browser tasks run as BrowserGym's: over synchronous Playwright, and in BrowserGym itself where it is there."""

from __future__ import annotations

import json
import subprocess
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import rebind
from rebind.envs.browser.browsergym import GymTask, register
from rebind.envs.browser.chromium import arguments, find
from rebind.envs.browser.engine import missing
from rebind.envs.browser.session import Session
from rebind.errors import UserError
from rebind.eval.bench.browser import PACKAGE, VERSION
from rebind.eval.bench.peers import installed
from rebind.types import Call, Verdict

GREETING = {"role": "assistant", "message": "Hi!"}
ASKED = {"role": "user", "message": "do it"}


@pytest.fixture
def page() -> Iterator[Any]:
    """A page of synchronous Playwright, as BrowserGym hands it to tasks."""
    why = missing()
    if why:
        pytest.skip(f"needs a browser: {why}")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find().path, args=arguments())
        yield browser.new_page()
        browser.close()


class Cookie:
    """A task that sets a cookie as the sites' tasks do, and looks at what the page makes of it."""

    goal, url, uploads = "bake", "about:blank", {}  # type: ignore[var-annotated]  # no uploads

    def __init__(self, seed: int) -> None:
        self.seed, self.torn = seed, False
        self.origins = ("http://127.0.0.1",)

    async def setup(self, session: Session) -> None:
        await session.context.add_cookies([{"name": "seed", "value": str(self.seed), "url": "http://127.0.0.1"}])
        await session.page.set_content("<button onclick='this.textContent = \"baked\"'>bake</button>")

    async def done(self, session: Session) -> bool:
        assert session.page.is_closed() is False
        button = await session.page.query_selector("button")
        assert button is not None
        return await button.text_content() == "baked"

    async def validate(self, session: Session, calls: tuple[Call, ...]) -> Verdict:
        cookies = await session.context.cookies()
        return Verdict(success=await self.done(session) and cookies[0].get("value") == "7", failures=())

    def teardown(self) -> None:
        self.torn = True


def test_a_task_is_set_up_and_judged_over_synchronous_playwright(page: Any) -> None:
    made: list[Cookie] = []

    def make(seed: int) -> Cookie:
        made.append(Cookie(seed))
        return made[-1]

    task = GymTask(7, make)
    assert task.setup(page) == ("bake", {})
    assert task.validate(page, [GREETING, ASKED]) == (0.0, False, "", {})
    page.click("button")
    reward, done, said, info = task.validate(page, [GREETING, ASKED])
    assert (reward, done, said, info["failures"]) == (1.0, True, "", [])
    task.teardown()
    assert made[0].torn


@pytest.mark.parametrize("role", ["assistant", "infeasible"])
def test_an_answer_ends_a_task_that_is_not_done_with_no_reward(page: Any, role: str) -> None:
    task = GymTask(7, Cookie)
    task.setup(page)
    assert task.validate(page, [GREETING, ASKED, {"role": role, "message": "done"}])[:2] == (0.0, True)


def test_a_task_that_waits_for_anything_but_its_page_is_an_error(page: Any) -> None:
    import asyncio

    class Sleeper(Cookie):
        async def setup(self, session: Session) -> None:
            await asyncio.sleep(0)

    with pytest.raises(RuntimeError, match="its page only"):
        GymTask(1, Sleeper).setup(page)


def test_without_browsergym_registering_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rebind.envs.browser.browsergym.find_spec", lambda name: None)
    with pytest.raises(UserError, match="pip install browsergym-core"):
        register(_Miniwob())


class _Miniwob:
    name = "miniwob"

    def browser_tasks(self) -> dict[str, Callable[[int], Any]]:
        return {}


_IN_BROWSERGYM = """
import json, re, sys
sys.path += json.loads(sys.argv[1])  # after its own packages: Rebind, and what BrowserGym does not bring
import gymnasium, playwright.sync_api
from browsergym.utils.obs import flatten_axtree_to_str

plain = playwright.sync_api.BrowserType.launch
playwright.sync_api.BrowserType.launch = lambda self, *, args=(), **rest: plain(
    self, executable_path=sys.argv[2], args=[*args, *json.loads(sys.argv[3])], **rest)
from rebind.envs.browser.browsergym import register
from rebind.envs.miniwob.world import MiniwobWorld

ids = register(MiniwobWorld())
env = gymnasium.make("browsergym/rebind.miniwob.click-test", disable_env_checker=True)
seen, _ = env.reset(seed=1)
found = {"ids": len(ids), "goal": seen["goal"]}
found["idle"] = env.step("noop(0)")[1:3]
bid = re.search(r"\\[(\\w+)\\] button 'Click Me!'", flatten_axtree_to_str(seen["axtree_object"]))[1]
found["solved"] = env.step(f"click('{bid}')")[1:3]
env.reset(seed=2)
found["gave up"] = env.step("send_msg_to_user('done')")[1:3]
env.close()
print(json.dumps(found))
"""


def test_miniwob_tasks_run_in_browsergym_itself() -> None:
    pytest.importorskip("miniwob", reason="needs the package miniwob")
    python, why = installed(PACKAGE, VERSION), missing()
    if python is None:
        pytest.skip("BrowserGym is not there; `rebind bench browser` installs it")
    if why:
        pytest.skip(f"needs a browser: {why}")
    paths = [str(Path(rebind.__file__).parents[1]), sysconfig.get_path("purelib")]
    command = [str(python), "-c", _IN_BROWSERGYM, json.dumps(paths), str(find().path), json.dumps(arguments())]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["ids"] > 90
    assert "button" in found["goal"]
    assert found["idle"] == [0.0, False]
    assert found["solved"] == [1.0, True]
    assert found["gave up"] == [0.0, True]
