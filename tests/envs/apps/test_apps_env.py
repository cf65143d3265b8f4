"""The Gymnasium environment of the app world."""

from __future__ import annotations

import json
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env

import rebind.envs.apps
from rebind.envs import register
from rebind.envs.apps.api.registry import REGISTRY
from rebind.envs.apps.env import AppsEnv
from rebind.envs.apps.spaces import ActionText
from rebind.envs.apps.world import AppsWorld
from rebind.envs.spaces import MAX_LENGTH, UnicodeText
from rebind.errors import EnvironmentFailure, UserError
from rebind.types import Code, Environment, Seal, ToolCall


@pytest.fixture(scope="module")
def seal() -> Seal:
    world = AppsWorld()
    return world.sample(world.families()[0], 1).seal


@pytest.fixture
def env(seal: Seal):
    one = AppsEnv()
    one.reset(options={"seal": seal})
    yield one
    one.close()


def test_importing_the_package_registers_the_environment_once() -> None:
    register()
    assert rebind.envs.apps
    made = gymnasium.make("rebind/Apps-v0")
    assert isinstance(made.unwrapped, AppsEnv)
    assert isinstance(made.reset(seed=3)[0], str)
    made.close()


def test_gymnasiums_checker_accepts_the_environment() -> None:
    env = AppsEnv()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env, skip_render_check=True)
    env.close()


def test_the_same_seed_draws_the_same_task_and_another_seed_another() -> None:
    env = AppsEnv()
    goals = [env.reset(seed=seed)[1]["goal"] for seed in (5, 5, 6)]
    assert goals[0] == goals[1] != goals[2]
    env.close()


def test_a_reset_forgets_all_of_the_episode_before(env: AppsEnv, seal: Seal) -> None:
    first = env.reset(options={"seal": seal})[0]
    env.step("x = 1")
    env.step(ToolCall(tool="supervisor_complete_task"))
    assert env.reset(options={"seal": seal}) == (first, {})
    assert env.step("x")[4]["error"] == "NameError: name 'x' is not defined"
    assert env.step('{"tool": "supervisor_profile"}')[2] is False


def test_a_tool_call_is_observed_as_compact_json(env: AppsEnv) -> None:
    observation, reward, terminated, truncated, info = env.step(ToolCall(tool="supervisor_login", args={"app": "mail"}))
    assert observation == json.dumps(json.loads(observation), ensure_ascii=False, separators=(",", ":"))
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert info["error"] is None
    (made,) = info["calls"]
    assert (made.tool, made.args, made.status) == ("supervisor_login", {"app": "mail"}, 200)
    assert made.result == json.loads(observation)


def test_a_refusal_is_observed_with_its_status_and_is_an_error(env: AppsEnv) -> None:
    observation, *_, info = env.step('{"tool": "supervisor_login", "args": {"app": "mial"}}')
    assert json.loads(observation) == {"status": 404, "error": "no account for an app 'mial'; did you mean 'mail'?"}
    assert info["error"] == "404: no account for an app 'mial'; did you mean 'mail'?"
    assert not info["calls"][0].ok


BAD_ACTIONS: list[tuple[Any, str]] = [
    ("", "the action is empty"),
    (" \n", "the action is empty"),
    ('{"tool": "supervisor_profile"', "not valid JSON"),
    ("{'tool': 'supervisor_profile'}", "not valid JSON"),
    ('{"tool": 1}', "wrong form"),
    ('{"tool": "supervisor_profile", "args": []}', "wrong form"),
    ('{"tool": "supervisor_profile", "arguments": {}}', "wrong form"),
    ("{}", "wrong form"),
    ('{"tool": "api_docs_search", "args": {"query": NaN}}', "NaN is no JSON number"),
    ('{"tool": "api_docs_search", "args": {"query": 1e999}}', "a number that JSON cannot hold"),
    ('{"tool": "api_docs_search", "args": {"query": ' + "9" * 5000 + "}}", "not valid JSON"),
    ('{"tool": "api_docs_search", "args": {"query": "\\ud800"}}', "half a surrogate pair"),
    ('{"tool": "api_docs_search", "args": {"query": ' + "[" * 100000 + "}}", "not valid JSON"),
    (None, "an action is a text, not NoneType"),
    (7, "an action is a text, not int"),
    ({"tool": "supervisor_profile"}, "an action is a text, not dict"),
]


@pytest.mark.parametrize(("action", "said"), BAD_ACTIONS)
def test_a_bad_action_is_answered_with_what_is_wrong_and_right(env: AppsEnv, action: Any, said: str) -> None:
    observation, _, terminated, _, info = env.step(action)
    assert said in json.loads(observation)["error"]
    assert "a tool call is" in observation
    assert (terminated, info["calls"]) == (False, ())
    assert info["error"] == json.loads(observation)["error"]


def test_an_unknown_tool_is_observed_not_raised(env: AppsEnv) -> None:
    observation = env.step('{"tool": "mail_serch", "args": {}}')[0]
    assert json.loads(observation) == {"status": 404, "error": "no API 'mail_serch'; did you mean 'mail_search'?"}


def test_a_python_block_may_come_as_text_as_code_or_as_its_json(env: AppsEnv) -> None:
    for action in ("1 + 1", Code(code="1 + 1"), Code(code="1 + 1").model_dump_json()):
        assert env.step(action)[0] == "2"


def test_a_python_blocks_calls_are_all_reported(env: AppsEnv) -> None:
    block = "supervisor_login(app='mail')\ntry:\n  supervisor_login(app='x')\nexcept LookupError:\n  pass"
    info = env.step(block)[4]
    assert [made.status for made in info["calls"]] == [200, 404]
    assert info["error"] is None


def test_completing_the_task_terminates_in_both_ways_of_acting(env: AppsEnv, seal: Seal) -> None:
    assert env.step(ToolCall(tool="supervisor_complete_task", args={"status": "maybe"}))[2] is False
    assert env.step(ToolCall(tool="supervisor_complete_task"))[2] is True
    env.reset(options={"seal": seal})
    terminated, info = (env.step("supervisor_complete_task()\nsupervisor_login(app='mail')"))[2::2]
    assert terminated is True
    assert [made.status for made in info["calls"]] == [200, 422]
    assert env.step("{}")[2] is True


def test_calls_of_a_skill_count_as_the_episodes(env: AppsEnv) -> None:
    assert env.call("supervisor_login", {"app": "mail"}).ok
    assert env.step(ToolCall(tool="supervisor_profile"))[4]["calls"][0].tool == "supervisor_profile"
    assert len(env._calls) == 2


def test_nothing_done_is_no_success_and_verifying_changes_nothing(env: AppsEnv) -> None:
    env.step(ToolCall(tool="supervisor_complete_task"))
    verdict = env.verify()
    assert not verdict.success
    assert verdict == env.verify()


def test_the_tools_of_a_task_are_apis_with_their_schemas(env: AppsEnv) -> None:
    tools = env.tools()
    assert {"supervisor_login", "supervisor_complete_task"} < {tool.name for tool in tools} <= set(REGISTRY)
    assert len(tools) < len(REGISTRY) / 2


def test_an_environment_made_in_one_thread_works_in_another(env: AppsEnv, seal: Seal) -> None:
    def episode() -> str:
        env.reset(options={"seal": seal})
        return env.step("supervisor_login(app='mail')\n'ok'")[0]

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(episode).result() == "ok"
    assert episode() == "ok"


def test_several_environments_run_side_by_side(seal: Seal) -> None:
    def episode(number: int) -> list[str]:
        env = AppsEnv()
        env.reset(options={"seal": seal})
        seen = [env.step(f"x = {number}\nsupervisor_profile()['name']")[0], env.step("x")[0]]
        env.close()
        return seen

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(episode, range(8)))
    assert len({name for name, _ in results}) == 1
    assert [x for _, x in results] == [str(number) for number in range(8)]


def test_use_before_reset_or_after_close_is_told(seal: Seal) -> None:
    env = AppsEnv()
    for act in (lambda: env.step("1"), env.verify, env.tools, lambda: env.call("supervisor_profile", {})):
        with pytest.raises(gymnasium.error.ResetNeeded):
            act()
    env.reset(options={"seal": seal})
    env.close()
    env.close()
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step("1")


def test_wrong_options_are_user_errors() -> None:
    env = AppsEnv()
    with pytest.raises(UserError, match="no option 'task'"):
        env.reset(options={"task": 1})
    with pytest.raises(UserError, match=r"must be a rebind.types.Seal"):
        env.reset(options={"seal": {}})


def test_a_defect_of_an_api_is_a_failure_of_the_environment(env: AppsEnv) -> None:
    env.call("supervisor_login", {"app": "mail"})
    token = env._db.execute("SELECT token FROM accounts WHERE app = 'mail'").fetchone()[0]
    env._db.execute("DROP TABLE mails")
    with pytest.raises(EnvironmentFailure, match="mail_search failed by itself"):
        env.step(ToolCall(tool="mail_search", args={"access_token": token}))


def test_sampled_actions_are_well_formed_tool_calls() -> None:
    space = ActionText()
    space.seed(1)
    sampled = [space.sample() for _ in range(200)]
    assert all(text in space and json.loads(text)["tool"] in REGISTRY for text in sampled)
    space.seed(1)
    assert [space.sample() for _ in range(200)] == sampled


def test_any_unicode_text_is_an_observation_and_an_action() -> None:
    for text in ("", "ü漢字🙂\x00", "a" * MAX_LENGTH):
        assert text in UnicodeText()
        assert text in ActionText()
    assert "a" * (MAX_LENGTH + 1) not in UnicodeText()
    assert 7 not in UnicodeText()
    assert UnicodeText() == UnicodeText()


def test_the_environment_has_the_protocols_methods() -> None:
    env: Environment = AppsEnv()
    assert all(callable(getattr(env, name)) for name in ("reset", "step", "tools", "verify", "close"))
