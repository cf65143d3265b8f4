"""Python actions: what they can do, and every way out of the sandbox that was tried."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterator

import pytest

from rebind.envs.apps import code as module
from rebind.envs.apps.api import registry
from rebind.envs.apps.code import MAX_CALLS, MAX_CODE, MAX_OUTPUT, CodeSession
from rebind.errors import EnvironmentFailure
from rebind.types import Call

NOON = datetime.datetime(2026, 3, 4, 12)


class Session(CodeSession):
    """A session on a real state that remembers its calls."""

    def __init__(self, db) -> None:
        self.made: list[Call] = []

        def call(tool: str, args: dict, /) -> Call:
            self.made.append(registry.call(db, tool, args))
            return self.made[-1]

        super().__init__(registry.REGISTRY, call, moment=NOON)


@pytest.fixture
def session(db) -> Iterator[Session]:
    one = Session(db)
    yield one
    one.close()


def test_a_block_calls_apis_prints_and_shows_its_last_value(session) -> None:
    ran = session.run("token = supervisor_login(app='mail')['access_token']\nprint('got', len(token))\n{'a': ['ü', 1]}")
    assert ran.text == 'got 6\n{"a":["ü",1]}'
    assert ran.error is None
    assert [(made.tool, made.status) for made in session.made] == [("supervisor_login", 200)]


def test_variables_and_functions_last_from_block_to_block(session) -> None:
    session.run(
        "token = supervisor_login(app='mail')['access_token']\n"
        "def total(q):\n  return mail_search(query=q, access_token=token)['total']"
    )
    assert int(session.run("total('invoice')").text) > 0


def test_text_is_shown_as_it_is_and_nothing_as_nothing(session) -> None:
    assert session.run("'two\\nlines'").text == "two\nlines"
    assert session.run("x = 1").text == "(no output)"
    assert session.run("None").text == "(no output)"


def test_a_refused_call_raises_an_exception_with_status_and_reason(session) -> None:
    code = """
found = []
for attempt, kind in ((lambda: mail_search(access_token='x'), PermissionError),
                      (lambda: supervisor_login(app='mial'), LookupError),
                      (lambda: api_docs_search(query=''), ValueError)):
    try:
        attempt()
    except kind as refusal:
        found.append(str(refusal))
found
"""
    assert session.run(code).text == (
        '["401: access_token is not valid for mail; get one from supervisor_login",'
        "\"404: no account for an app 'mial'; did you mean 'mail'?\","
        '"422: query must not be empty"]'
    )


def test_an_uncaught_refusal_is_the_blocks_error_and_keeps_its_variables(session) -> None:
    ran = session.run("x = 5\nprint('before')\nsupervisor_login(app='mial')")
    assert ran.text.startswith("before\nTraceback")
    assert ran.error == "LookupError: 404: no account for an app 'mial'; did you mean 'mail'?"
    assert session.run("x").text == "5"


def test_syntax_errors_and_positional_arguments_are_told(session) -> None:
    assert session.run("1 +").error == "SyntaxError: Expected an expression"
    assert session.run("mail_show('mail_1')").error == "TypeError: mail_show takes keyword arguments only"
    assert session.made == []


def test_long_output_is_cut_and_costs_nothing_else(session) -> None:
    ran = session.run("x = 1\nprint('a' * 100000)")
    assert ran.text == "a" * MAX_OUTPUT + f"… (cut at {MAX_OUTPUT} characters)"
    assert ran.error is None
    assert len(session.run("'b' * 1000000").text) < MAX_OUTPUT + 50
    assert session.run("x").text == "1"


def test_the_same_code_gives_the_same_result_in_every_session(db) -> None:
    code = "import datetime, random, time\n[str(datetime.datetime.now()), random.random(), time.time()]"
    results = []
    for _ in range(2):
        session = Session(db)
        results.append(session.run(code).text)
        session.close()
    assert results[0] == results[1]
    assert results[0].startswith('["2026-03-04 12:00:00"')


def test_a_session_may_move_to_another_thread(session) -> None:
    from concurrent.futures import ThreadPoolExecutor

    session.run("x = 3")
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(session.run, "x + 1").result().text == "4"


def test_sessions_do_not_see_each_other(db) -> None:
    one, other = Session(db), Session(db)
    one.run("secret = 1")
    assert other.run("secret").error == "NameError: name 'secret' is not defined"
    one.close()
    other.close()


def test_a_closed_session_starts_afresh(session) -> None:
    session.run("x = 1")
    session.close()
    assert session.run("x").error == "NameError: name 'x' is not defined"


# --- ways out -------------------------------------------------------------------------------------------------------

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


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("10 ** 5000", "(a value of type int too large to show)"),
        ("[float('nan')]", "[nan]"),
        ("x = [1]\nx.append(x)\nx", '[1,"[...]"]'),
        ("(1, 2)", "[1,2]"),
        ("{1, 2}", "{1, 2}"),
    ],
)
def test_a_value_that_is_no_json_is_shown_all_the_same(session, code: str, text: str) -> None:
    assert session.run(code).text == text


def test_a_defect_of_the_environment_is_not_the_agents_error_even_if_its_code_catches_all() -> None:
    def broken(tool: str, args: dict, /) -> Call:
        raise EnvironmentFailure("disk on fire")

    session = CodeSession(["supervisor_profile"], broken, moment=NOON)
    for code in ("supervisor_profile()", "try:\n  supervisor_profile()\nexcept BaseException:\n  pass\n1"):
        with pytest.raises(EnvironmentFailure, match="disk on fire"):
            session.run(code)
    session.close()


def test_no_worker_at_all_is_a_failure_of_the_environment(session, monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    from pydantic_monty import Monty

    monkeypatch.setattr(module, "_pools", {})
    monkeypatch.setattr("atexit.register", lambda *args: None)
    monkeypatch.setattr(
        "pydantic_monty.Monty", lambda **options: Monty(**options | {"binary_path": str(tmp_path / "missing")})
    )
    with pytest.raises(EnvironmentFailure, match="no worker"):
        session.run("1")


def test_only_the_apis_are_named_in_the_sandbox(session) -> None:
    assert sorted(session._functions) == sorted(registry.REGISTRY)
