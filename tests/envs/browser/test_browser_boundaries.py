"""What pages and sites do wrong ends in a note or a named failure, never in a hang, and the next episode is clean."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from rebind.errors import EnvironmentFailure
from rebind.eval.bench.browser_fault_kinds import Strike, processes

Opened = Callable[..., Any]


def test_leaving_the_sites_is_refused_and_reported(opened: Opened) -> None:
    env = opened("<title>home</title><a href='http://example.com/'>away</a><a href='http://127.0.0.1:9/'>near</a>")
    env.begin()
    assert "outside the sites" in env.refused("goto", url="http://example.com/")
    for link in ("away", "near"):
        seen = env.act("click", element=f'link "{link}"')
        assert "title: home" in seen
        assert "navigation was refused" in seen


def test_dialogs_are_answered_and_reported(opened: Opened) -> None:
    env = opened("""<button onclick="alert('saved')">a</button>
        <button onclick="document.title = confirm('sure?')">c</button>
        <button onclick="document.title = prompt('who?')">p</button>""")
    env.begin()
    assert "a dialog was accepted: 'saved'" in env.act("click", element='button "a"')
    assert "title: true" in env.act("click", element='button "c"')
    seen = env.act("click", element='button "p"')
    assert "title: null" in seen
    assert "was refused: 'who?'" in seen


def test_a_download_is_refused_and_the_page_stays(opened: Opened) -> None:
    env = opened({"/": "<title>home</title><a href=/x.bin download>get</a>", "/x.bin": "data"})
    env.begin()
    seen = env.act("click", element='link "get"')
    assert "a download was refused: x.bin" in seen
    assert "title: home" in seen


def test_a_site_that_stops_is_a_failure_of_infrastructure(opened: Opened) -> None:
    env = opened({"/": "<a href=/b>b</a>", "/b": "x"})
    env.begin()
    env.site.stop()
    with pytest.raises(EnvironmentFailure, match="the site does not answer"):
        env.act("click", element='link "b"')


def test_a_request_of_a_page_that_its_dead_site_does_not_answer_is_a_failure_of_infrastructure(opened: Opened) -> None:
    env = opened({"/": "<button onclick=\"fetch('/news').catch(() => 0)\">news</button>", "/news": "x"})
    env.begin()
    env.site.stop()
    with pytest.raises(EnvironmentFailure, match="the site does not answer"):
        env.act("click", element='button "news"')


def test_a_request_of_a_page_that_the_site_refuses_is_none(opened: Opened) -> None:
    env = opened("<button onclick=\"fetch('/nothing').then(r => title = document.title = r.status)\">news</button>")
    env.begin()
    assert "title: 404" in env.act("click", element='button "news"')


@pytest.mark.parametrize("action", ["click", "goto"])
def test_a_page_that_never_comes_is_a_failure_of_infrastructure(
    opened: Opened, monkeypatch: pytest.MonkeyPatch, action: str
) -> None:
    for module in ("tabs", "actions"):
        monkeypatch.setattr(f"rebind.envs.browser.{module}.LOAD_MS", 1_000.0)
    env = opened({"/": "<a href=/never>never</a>", "/never": None})
    env.begin()
    with pytest.raises(EnvironmentFailure, match="/never: nothing whole within 1 s"):
        env.act(action, **({"url": "/never"} if action == "goto" else {"element": 'link "never"'}))


def test_a_script_without_end_is_a_failure_of_infrastructure(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rebind.envs.browser.tabs.LOAD_MS", 1_000.0)
    env = opened("<button onclick='for (;;) {}'>busy</button>")
    env.begin()
    with pytest.raises(EnvironmentFailure, match="a script of the page does not end"):
        env.act("click", element='button "busy"')
    assert "busy" in env.begin()


def test_a_verdict_on_a_page_that_crashed_is_a_failure_of_infrastructure(opened: Opened) -> None:
    env = opened("<p>alive</p>")
    env.begin()
    kill("renderer")
    with pytest.raises(EnvironmentFailure, match="crashed"):
        env.verify()


def test_a_driver_that_dies_between_episodes_is_replaced(opened: Opened) -> None:
    env = opened("<p>alive</p>")
    env.begin()
    kill("driver")
    assert "alive" in env.begin()


def kill(which: Strike) -> None:
    """SIGKILL to this process's own driver or Chromium processes; waits for the news to be known."""
    for process in processes(which):
        process.kill()
    time.sleep(0.5)


def test_a_browser_that_dies_is_a_failure_and_the_next_episode_has_another(opened: Opened) -> None:
    import psutil

    env = opened("<p>alive</p>")
    env.begin()
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if "chrom" in child.name():
                child.kill()
    with pytest.raises(EnvironmentFailure):
        env.act("noop", ms=2_000)
    assert "alive" in env.begin()


def test_cookies_and_storage_do_not_outlive_the_episode(opened: Opened) -> None:
    env = opened(
        "<p id=p></p><script>p.textContent = document.cookie + (localStorage.k || 'empty');"
        "document.cookie = 'k=1'; localStorage.k = 'kept'</script>"
    )
    assert "empty" in env.begin()
    assert "empty" in env.begin()


_CHILD = """
from rebind.envs.miniwob.env import MiniwobEnv, ENV_ID
from rebind.types import Seal
env = MiniwobEnv()
env.reset(options={"seal": Seal(canary="", env=ENV_ID, task_key="", family="miniwob/click-test", world={"seed": 1})})
print("ready", flush=True)
time.sleep(600)
"""


def test_killing_the_process_leaves_no_browser_behind(opened: Opened) -> None:
    import psutil

    pytest.importorskip("miniwob", reason="needs the package miniwob")
    child = subprocess.Popen([sys.executable, "-c", _CHILD], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    below = psutil.Process(child.pid).children(recursive=True)
    assert any("chrom" in p.name() for p in below)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    assert psutil.wait_procs(below, timeout=30)[1] == []
