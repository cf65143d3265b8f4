"""Python actions: what they can do, how errors come back, and whose fault a failure is."""

from __future__ import annotations

import datetime
import os

import pytest

from rebind.envs.apps import code as module
from rebind.envs.apps.code import MAX_OUTPUT, CodeSession
from rebind.errors import EnvironmentFailure
from rebind.types import Call

NOON = datetime.datetime(2026, 3, 4, 12)


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


def test_the_same_code_gives_the_same_result_in_every_session(new_session) -> None:
    code = "import datetime, random, time\n[str(datetime.datetime.now()), random.random(), time.time()]"
    results = [new_session().run(code).text for _ in range(2)]
    assert results[0] == results[1]
    assert results[0].startswith('["2026-03-04 12:00:00"')


def test_a_session_may_move_to_another_thread(session) -> None:
    from concurrent.futures import ThreadPoolExecutor

    session.run("x = 3")
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(session.run, "x + 1").result().text == "4"


def test_sessions_do_not_see_each_other(new_session) -> None:
    one, other = new_session(), new_session()
    one.run("secret = 1")
    assert other.run("secret").error == "NameError: name 'secret' is not defined"


def test_a_closed_session_starts_afresh(session) -> None:
    session.run("x = 1")
    session.close()
    assert session.run("x").error == "NameError: name 'x' is not defined"


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

    monkeypatch.setattr(module, "_pool_of", {})
    monkeypatch.setattr("atexit.register", lambda *args: None)
    monkeypatch.setattr(
        "pydantic_monty.Monty", lambda **options: Monty(**options | {"binary_path": str(tmp_path / "missing")})
    )
    with pytest.raises(EnvironmentFailure, match="no worker"):
        session.run("1")


def test_a_process_forked_from_one_with_a_pool_is_told_to_spawn_instead(session) -> None:
    session.run("1")
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            CodeSession([], session._call, moment=NOON).run("1")
        except EnvironmentFailure as failure:
            os.write(writer, str(failure).encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert "start worker processes by 'spawn'" in os.read(reader, 1000).decode()
    os.close(reader)
    os.close(writer)
    assert session.run("2").text == "2"
