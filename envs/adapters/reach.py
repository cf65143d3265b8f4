"""Whether the servers of the original benchmarks are named and answer: what `rebind doctor` says of them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import httpx

from rebind.envs.adapters.webarena.install import missing
from rebind.envs.adapters.webarena.sites import SITES, STATE_VARIABLE, TASK_SITES, addresses, variable
from rebind.envs.adapters.webarena.state import logins
from rebind.errors import UserError

SECONDS = 4.0
"""How long a server has to answer."""
RESET_VARIABLE = "WA_FULL_RESET"
SNOW = ("SNOW_INSTANCE_URL", "SNOW_INSTANCE_UNAME", "SNOW_INSTANCE_PWD")
_POOL = "SNOW_INSTANCE_POOL"
_TOKENS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
_GATED = (
    "ServiceNow's gated list of instances (ask for access on its dataset page; log in with `huggingface-cli login`)"
)


@dataclass(frozen=True)
class Looked:
    """One thing looked at. `missing`: it is named, and cannot be used; `note`: nobody uses it."""

    what: str
    state: Literal["ok", "missing", "note"]
    detail: str
    advice: str = ""


def look() -> list[Looked]:
    """Asks every server that is named for a sign of life, all at once. Nothing is missing where none is named."""
    return [*_webarena(), *_workarena()]


def _webarena() -> Iterator[Looked]:
    here = addresses()
    named = {variable(site): url for site, url in here.items()}
    if os.environ.get(RESET_VARIABLE):
        named[RESET_VARIABLE] = os.environ[RESET_VARIABLE].rstrip("/") + "/status"
    if not named:
        names = ", ".join(map(variable, SITES))
        yield Looked("WebArena", "note", "not set", f"to run it, start its sites and set {names}")
        return
    for name, trouble in _troubles(named).items():
        advice = f"start that site, or correct {name} (try `curl -I {named[name]}`)"
        yield Looked(f"WebArena {name}", *_said(named[name], trouble, advice))
    unset = [variable(site) for site in TASK_SITES if site not in here]
    if unset:
        yield Looked("WebArena", "note", f"not set: {', '.join(unset)}", "set them to run the tasks of these sites")
    yield _logins()
    if missing():
        yield Looked("WebArena's evaluators", "missing", "not installed", "rebind envs install webarena-verified")


def _logins() -> Looked:
    what = f"WebArena {STATE_VARIABLE}"
    try:
        state = logins()
    except UserError as error:
        return Looked(what, "missing", str(error), "sign in to the sites and write Playwright's storage state again")
    if state is None:
        return Looked(what, "note", "not set", "most tasks need logins: name a storage state of Playwright's in it")
    return Looked(what, "ok", f"{len(state['cookies'])} cookies, none expired")


def _workarena() -> Iterator[Looked]:
    unset = [name for name in SNOW if not os.environ.get(name)]
    pool = os.environ.get(_POOL)
    if len(unset) == len(SNOW):
        yield _pool(pool) if pool else _unnamed()
    elif unset:
        yield Looked("WorkArena", "missing", f"not set: {', '.join(unset)}", f"set all of {', '.join(SNOW)}")
    else:
        yield instance(*(os.environ[name] for name in SNOW))


def _unnamed() -> Looked:
    token = next((name for name in _TOKENS if os.environ.get(name)), None)
    detail = f"not set; {token} may open {_GATED}" if token else "not set"
    return Looked("WorkArena", "note", detail, f"to run it, set {', '.join(SNOW)}; instances are in {_GATED}")


def _pool(path: str) -> Looked:
    if Path(path).expanduser().is_file():
        advice = f"Rebind runs on one instance: set {', '.join(SNOW)} to one of the list"
        return Looked("WorkArena", "note", f"a list of instances: {path}", advice)
    return Looked("WorkArena", "missing", f"{_POOL}={path} is no file", f"correct {_POOL}, or set {', '.join(SNOW)}")


def instance(url: str, user: str, password: str) -> Looked:
    """Whether a ServiceNow instance answers, is awake, and lets the user in."""
    url = url.rstrip("/")
    trouble = _trouble(url)
    if trouble:
        return Looked(f"WorkArena {SNOW[0]}", *_said(url, trouble, f"correct {SNOW[0]}, or start the instance"))
    try:
        page = httpx.get(url, timeout=SECONDS, trust_env=False, follow_redirects=True)
        asked = f"{url}/api/now/table/sys_user?sysparm_limit=1"
        answer = httpx.get(asked, auth=(user, password), timeout=SECONDS, trust_env=False)
    except httpx.HTTPError as error:
        return Looked("WorkArena", "missing", f"unreachable: {url}: {_words(error)}", f"open {url} in a browser")
    if "hibernating" in page.text.lower():
        return Looked("WorkArena", "missing", f"{url} is hibernating", f"open {url} in a browser to wake it up")
    if answer.status_code in (401, 403):
        return Looked("WorkArena", "missing", f"{url} refuses the user {user}", f"correct {SNOW[1]} and {SNOW[2]}")
    if not _of_a_table(answer):
        return _no_table(url, user, answer)
    return Looked("WorkArena", "ok", f"reachable: {url}, as {user}")


def _of_a_table(answer: httpx.Response) -> bool:
    try:
        return answer.status_code == 200 and "result" in answer.json()
    except (ValueError, TypeError):
        return False


def _no_table(url: str, user: str, answer: httpx.Response) -> Looked:
    """Something answers, but not as ServiceNow's table API does: a login page, or another server."""
    to_login = "login" in answer.headers.get("location", "").lower()
    if to_login or ("<form" in answer.text.lower() and "password" in answer.text.lower()):
        detail = f"{url} answers with a login page: it refuses the user {user}"
        return Looked("WorkArena", "missing", detail, f"correct {SNOW[1]} and {SNOW[2]}")
    detail = f"{url} is no ServiceNow instance: its table API answers {answer.status_code} without a result"
    return Looked("WorkArena", "missing", detail, f"correct {SNOW[0]}")


def _troubles(named: Mapping[str, str]) -> dict[str, str]:
    with ThreadPoolExecutor(len(named)) as pool:
        return dict(zip(named, pool.map(_trouble, named.values()), strict=True))


def _trouble(url: str) -> str:
    """Why a server is of no use; empty where it is."""
    try:
        answer = httpx.get(url, timeout=SECONDS, trust_env=False)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return _words(error)
    return f"it answers {answer.status_code}" if answer.status_code >= 500 else ""


def _words(error: Exception) -> str:
    if isinstance(error, httpx.TimeoutException):
        return f"no answer within {SECONDS:g} s"
    return str(error) or type(error).__name__


def _said(url: str, trouble: str, advice: str) -> tuple[Literal["ok", "missing"], str, str]:
    return ("missing", f"unreachable: {url}: {trouble}", advice) if trouble else ("ok", f"reachable: {url}", "")
