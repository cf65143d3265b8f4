"""MiniWoB++'s own pages are solved through the browser environment, and by their own reward."""

from __future__ import annotations

import pytest

from rebind.envs.miniwob.check import check
from rebind.envs.miniwob.solutions import SOLUTIONS
from rebind.envs.miniwob.tasks import PIXELS, names
from rebind.envs.miniwob.world import MiniwobWorld
from rebind.errors import UserError

WHY_NOT = MiniwobWorld().unavailable()
pytestmark = pytest.mark.skipif(WHY_NOT is not None, reason=f"needs a browser and miniwob: {WHY_NOT}")
HERE = sorted(SOLUTIONS)[::2]
"""Half of the solutions: the rest is for `rebind envs check miniwob`."""


@pytest.mark.parametrize("name", HERE)
def test_a_solution_earns_the_pages_full_reward_with_three_seeds(name: str) -> None:
    result = check([f"miniwob/{name}"], seeds=range(3))
    assert result["failures"] == []
    assert (result["solved"], result["noop_pass"], result["seeds"]) == (1.0, 0.0, 3)


def test_enough_tasks_are_solved_and_every_solution_is_of_a_listed_task() -> None:
    assert len(HERE) >= 15
    assert set(SOLUTIONS) <= set(names())
    assert not PIXELS & set(names())


def test_a_target_is_the_same_task_at_a_seed_that_changes_what_its_level_says() -> None:
    world = MiniwobWorld()
    source = world.sample("miniwob/login-user", 5)
    same, other = world.shift(source.seal, "none", 1), world.shift(source.seal, "large", 1)
    assert same.task.key == source.task.key
    assert set(other.seal.changed) == {"username", "password"}
    assert other.task.goal != source.task.goal


def test_an_unknown_task_suggests_the_nearest() -> None:
    with pytest.raises(UserError, match="did you mean 'miniwob/login-user'"):
        MiniwobWorld().sample("miniwob/login-usr", 0)


def test_partial_credit_is_no_success() -> None:
    from rebind.envs.miniwob.env import MiniwobEnv
    from rebind.types import ToolCall

    env = MiniwobEnv()
    target = MiniwobWorld().sample("miniwob/click-checkboxes-soft", 3)
    env.reset(options={"seal": target.seal})
    env.step(ToolCall(tool="click", args={"element": 'button "Submit"'}))
    assert not env.verify().success
    env.close()


def test_leaving_the_tasks_page_is_the_agents_failure_even_where_another_task_is_solved() -> None:
    from rebind.envs.miniwob.env import MiniwobEnv
    from rebind.types import ToolCall

    env = MiniwobEnv()
    env.reset(options={"seal": MiniwobWorld().sample("miniwob/click-test", 3).seal})
    _, _, ended, _, info = env.step(ToolCall(tool="goto", args={"url": "/miniwob/click-test-2.html"}))
    assert (ended, info["error"]) == (False, None)
    env.step(ToolCall(tool="send_msg_to_user", args={"text": "done"}))
    verdict = env.verify()
    assert not verdict.success
    assert verdict.failures == ("the task's page was left",)
    env.close()
