"""The server: its state is put back while it stays up, and it does not outlive its parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import httpx
import psutil
import pytest

from rebind.envs.sites import server
from rebind.envs.sites.content.people import MANAGER
from rebind.envs.sites.difference import difference
from rebind.envs.sites.server import Server
from rebind.envs.sites.snapshot import child_environment, world_image
from rebind.errors import EnvironmentFailure


@pytest.fixture
def running() -> Iterator[Server]:
    one = server.acquire()
    yield one
    server.release(one)


def visit(running: Server, key: str, path: str) -> httpx.Response:
    return httpx.get(running.origin + path, cookies={"sessionid": key}, follow_redirects=True, timeout=30)


def order(running: Server, key: str) -> None:
    """Places a request in the service catalog."""
    page = visit(running, key, "/office/catalog/3/")
    token = page.text.split('name="csrfmiddlewaretoken" value="')[1].split('"')[0]
    cookies = {"sessionid": key, "csrftoken": page.cookies["csrftoken"]}
    form = {"csrfmiddlewaretoken": token, "quantity": 7, "needed_by": "2026-05-01", "deliver_to": "Leeds"}
    httpx.post(f"{running.origin}/office/catalog/3/", data=form, cookies=cookies, timeout=30)


def test_a_reset_puts_the_data_back_while_the_server_stays_up(running: Server) -> None:
    """What an episode wrote is gone after the next reset, in the same process."""
    key = running.restore(world_image(), MANAGER)
    assert difference(world_image(), running.database) == ()
    order(running, key)
    changes = difference(world_image(), running.database)
    assert [(c.table, c.after and c.after["quantity"]) for c in changes] == [("inventory_itemrequest", 7)]
    pid = running.pid
    running.restore(world_image(), MANAGER)
    assert difference(world_image(), running.database) == ()
    assert running.pid == pid


def test_a_session_does_not_survive_a_reset(running: Server) -> None:
    """An earlier episode's cookie is no key to the next one."""
    old = running.restore(world_image(), MANAGER)
    assert "Signed in as Nora Lind" in visit(running, old, "/").text
    new = running.restore(world_image(), "ada.fischer")
    assert "Nora" not in visit(running, old, "/").text
    assert "Signed in as Ada Fischer" in visit(running, new, "/").text


def test_looking_around_changes_nothing_that_counts(running: Server) -> None:
    """Pages that keep counters and marks of visits leave no difference."""
    key = running.restore(world_image(), MANAGER)
    for path in ("/shop/catalogue/", "/shop/search/?q=lamp", "/forum/", "/wiki/handbook/", "/desk/tickets/5/"):
        assert visit(running, key, path).status_code == 200, path
    assert difference(world_image(), running.database) == ()


def test_an_unknown_user_is_a_failure_of_infrastructure_and_the_server_lives_on(running: Server) -> None:
    """The order is refused in words, and the next one is done."""
    with pytest.raises(EnvironmentFailure, match="no user 'nobody'"):
        running.restore(world_image(), "nobody")
    assert running.restore(world_image(), MANAGER)


def test_a_server_that_died_is_replaced() -> None:
    """The next episode gets another one."""
    one = server.acquire()
    psutil.Process(one.pid).kill()
    with pytest.raises(EnvironmentFailure):
        one.restore(world_image(), MANAGER)
    server.release(one)
    other = server.acquire()
    assert other.alive
    assert other.pid != one.pid
    server.release(other)


def test_the_server_goes_with_its_parent() -> None:
    """After `kill -9` of the process that started it, the server ends and takes its folder along."""
    script = (
        "import time; from rebind.envs.sites import server; one = server.acquire();"
        "print(one.pid, one.database.parent, flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=child_environment()
    )
    assert parent.stdout is not None
    pid, folder = parent.stdout.readline().split()
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    until = time.monotonic() + 15
    while (psutil.pid_exists(int(pid)) or os.path.exists(folder)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not psutil.pid_exists(int(pid)) or psutil.Process(int(pid)).status() == psutil.STATUS_ZOMBIE
    assert not os.path.exists(folder)
