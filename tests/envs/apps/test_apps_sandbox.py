"""Every way out of the sandbox, and every way to ruin it, that was tried."""

from __future__ import annotations

import os

import pytest

from rebind.envs.apps.api import registry
from rebind.envs.apps.code import MAX_CALLS, MAX_CODE, MAX_OUTPUT

NO_WAY_OUT = [
    "open('/etc/passwd').read()",
    "open('/tmp/x', 'w').write('x')",
    "open('/proc/self/environ').read()",
    "from pathlib import Path\nPath('/etc/passwd').read_text()",
    "from pathlib import Path\nlist(Path('/').iterdir())",
    "import os\nos.environ['PATH']",
    "import os\nos.getenv('PATH') + ''",
    "import os\nos.listdir('/')",
    "import os\nos.system('true')",
    "import os\nos.getpid()",
    "import sys\nsys.modules['os']",
    "import socket",
    "import subprocess",
    "import urllib.request",
    "import ctypes",
    "import sqlite3",
    "import importlib",
    "import builtins",
    "import inspect",
    "import gc",
    "import rebind",
    "from rebind.envs.apps import world",
    "import pydantic_monty",
    "__import__('os')",
    "eval('__import__(\"os\").environ')",
    "exec('import os\\nprint(os.environ[\"PATH\"])')",
    "compile('1', 'x', 'eval')",
    "globals()['__builtins__']",
    "__builtins__",
    "__loader__",
    "().__class__.__bases__[0].__subclasses__()",
    "''.__class__.__mro__[1].__subclasses__()",
    "type(1).__mro__[1].__subclasses__()",
    "object.__subclasses__()",
    "getattr((), '__class__').__base__",
    "'{0.__class__.__init__.__globals__}'.format(supervisor_login)",
    "supervisor_login.__globals__",
    "supervisor_login.__code__",
    "supervisor_login.__closure__[0].cell_contents",
    "supervisor_login.__defaults__",
    "supervisor_login.__self__",
    "supervisor_login.__wrapped__",
    "getattr(supervisor_login, '__glo' + 'bals__')",
    "try:\n  supervisor_login(app='x')\nexcept Exception as e:\n  e.__traceback__.tb_frame.f_back.f_globals",
    "(lambda: 0).__globals__",
    "verify()",
    "judge",
    "seal",
    "self",
    "db",
    "internals",
    "breakpoint()",
    "input()",
    "exit()",
]


@pytest.mark.parametrize("code", NO_WAY_OUT)
def test_no_path_leads_out_of_the_sandbox(session, code: str) -> None:
    ran = session.run(code)
    assert ran.error is not None, ran.text
    for secret in ("root:", os.environ["PATH"], "sqlite3.Connection", "/work", "site-packages"):
        assert secret not in ran.text
    assert session.run("supervisor_profile()['name']").error is None


def test_shadowing_an_api_only_fools_the_agent_itself(session) -> None:
    session.run("def supervisor_login(**args):\n  return {'access_token': 'mine'}")
    assert session.run("supervisor_login(app='mail')").text == '{"access_token":"mine"}'
    assert session.made == []


def test_an_api_result_changed_in_the_sandbox_changes_no_record_of_the_call(session) -> None:
    session.run("p = supervisor_profile()\np['name'] = 'x'\np.clear()")
    assert session.made[0].result["name"] not in ("", "x")


RESTARTS = {
    "an endless loop": "while True: pass",
    "a loop that catches everything": "while True:\n  try:\n    while True: pass\n  except BaseException: pass",
    "catastrophic arithmetic": "sum(range(10**10))",
    "a huge text": "x = 'a' * 10**9",
    "a growing list": "x = []\nwhile True: x.append('a' * 10**6)",
    "a caught memory error": "try:\n  x = 'a' * 10**10\nexcept MemoryError:\n  pass\ny = [0] * 10**8",
    "a huge integer": "9 ** 9 ** 9",
    "a wide format": "f'{1:1000000000}'",
    "an endless loop of calls": "while True:\n  try: supervisor_profile()\n  except Exception: pass",
    "a strange exit": "raise SystemExit(3)",
}


@pytest.mark.parametrize("name", RESTARTS)
def test_code_that_ruins_its_interpreter_costs_the_session_not_the_episode(
    session, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(session._limits, "max_feed_duration_secs", 0.2)
    session.run("kept = 1")
    ran = session.run(RESTARTS[name])
    assert "the interpreter was restarted and its variables are lost" in (ran.error or ""), ran.text
    assert session.run("kept").error == "NameError: name 'kept' is not defined"
    assert session.run("supervisor_profile()['name']").error is None


def test_a_killed_worker_is_the_agents_loss_and_is_replaced(session) -> None:
    session.run("x = 1")
    os.kill(session._session.worker_pid, 9)
    ran = session.run("x")
    assert "the interpreter crashed" in ran.error
    assert session.run("1").text == "1"


HARMLESS = {
    "endless recursion": ("def f(): return f()\nf()", "RecursionError"),
    "deep source": ("x = " + "[" * 5000 + "]" * 5000, "too deeply nested"),
    "long source": ("1" + "+1" * MAX_CODE, "characters, at most"),
    "an unfinished generator": ("raise StopIteration", "StopIteration"),
    "an interrupt": ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    "an exit": ("raise SystemExit", "SystemExit"),
    "an error with a strange text": ("raise ValueError('\\ud800\\x00' + 'x' * 50000)", None),
    "more calls than a block may make": (
        "for i in range(1000): supervisor_profile()",
        f"more than {MAX_CALLS} API calls",
    ),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_code_that_only_harms_itself_keeps_its_session(session, name: str) -> None:
    code, said = HARMLESS[name]
    session.run("kept = 1")
    ran = session.run(code)
    assert ran.error is not None
    assert said is None or said in ran.error
    assert len(ran.text) <= 2 * MAX_OUTPUT
    ran.text.encode()
    assert session.run("kept").text == "1"
    assert len(session.made) <= MAX_CALLS


@pytest.mark.parametrize(
    "argument",
    [
        "{1, 2}", "b'x'", "float('nan')", "float('inf')", "10 ** 400", "-(10 ** 400)", "supervisor_login", "len", "int",
        "lambda: 1", "Exception('x')", "range(3)", "{1: 2}", "object()", "...", "1j", "[" * 20 + "]" * 20,
        "None", "True", "1.5", "[]", "{}", "''", "'\\x00'", "'%'", "\"' OR 1=1 --\"",
    ],
)  # fmt: skip
def test_a_strange_argument_is_refused_and_never_an_error_of_the_environment(session, argument: str) -> None:
    ran = session.run(f"supervisor_login(app={argument})")
    assert ran.error is not None
    assert session.run("supervisor_profile()['name']").error is None
    assert all(made.status in (404, 422) for made in session.made[:-1])


@pytest.mark.parametrize(
    "code",
    [
        "x = []\nx.append(x)\nsupervisor_login(app=x)",
        "x = []\nfor i in range(10000): x = [x]\nsupervisor_login(app=x)",
        "class A:\n  def __repr__(self):\n    raise ValueError('boo')\nsupervisor_login(app=A())",
        "supervisor_login(**{'app': 'mail', '__class__': 1})",
        "supervisor_login(**{'': 1})",
        "supervisor_login(app='mail', app2=supervisor_profile)",
        "supervisor_complete_task(answer=['a'], status=1)",
        "supervisor_complete_task(status='maybe')",
        "api_docs_show(api='a' * 100000)",
    ],
)
def test_strange_structures_and_keywords_are_refused(session, code: str) -> None:
    ran = session.run(code)
    assert ran.error is not None
    assert ran.error.startswith("ValueError: 422") or "TypeError" in ran.error
    assert len(ran.text) < 2000


def test_only_the_apis_are_named_in_the_sandbox(session) -> None:
    assert sorted(session._functions) == sorted(registry.REGISTRY)
