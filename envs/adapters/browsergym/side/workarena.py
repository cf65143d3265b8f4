"""WorkArena's tasks and evaluators."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import types
from typing import Any

from .episode import Episode, Gate


def opened(instance: dict[str, str]) -> WorkArena:
    """WorkArena on an instance (its SNOW_... variables); without one, goals only."""
    os.environ.update(instance)
    _no_hub()
    from browsergym.workarena.tasks import form
    from browsergym.workarena.tasks import list as lists
    from browsergym.workarena.tasks.service_catalog import OrderHardwareTask

    form.ServiceNowFormTask._set_required_config_attributes = _as_given
    form.hash = _number
    for kind in (form.ServiceNowFormTask, lists.ServiceNowListTask, OrderHardwareTask):
        kind.all_configs = classmethod(_no_others)
    return WorkArena("workarena++", bool(instance))


class AsksInstance(Exception):
    """A goal does not follow from the configuration alone."""


class WorkArena(Episode):
    """Tasks of L1 by their short name and configuration."""

    def __init__(self, actions: str, placed: bool) -> None:
        super().__init__(actions)
        from browsergym import workarena

        known = {kind.get_task_id(): kind for kind in workarena.ATOMIC_TASKS}
        self._kinds = {name.rpartition(".")[2]: known[name] for name in workarena.workarena_tasks_l1}
        self._placed = placed

    def kinds(self) -> list[str]:
        """Short names of all task classes of L1."""
        return list(self._kinds)

    def word(self, task: str, config: Any) -> dict[str, Any]:
        """The goal of a configuration, and the configuration with what the task draws for it."""
        from browsergym.workarena.instance import SNowInstance

        try:
            return self._word(task, config, _nowhere())
        except AsksInstance:
            if not self._placed:
                raise
            return self._word(task, config, SNowInstance())

    def solve(self) -> None:
        """The task's own solution, which drives the browser."""
        assert self._env is not None
        self._env.task.cheat(self._env.page, self._env.chat.messages)

    def _word(self, task: str, config: Any, instance: Any) -> dict[str, Any]:
        made = self._kinds[task](seed=0, instance=instance, fixed_config=config)
        drawn = getattr(made, "unique_valued_fields", {})
        if drawn:
            _draw(made, drawn, config)
        return {"goal": made.setup_goal(page=None)[0], "config": config}

    def _task(self, **task: Any) -> tuple[Any, dict[str, Any]]:
        if not self._placed:
            raise LookupError("no instance of ServiceNow is named: set SNOW_INSTANCE_URL and the others")
        return self._kinds[task["task"]], {"fixed_config": task["config"]}

    def _gated(self, env: Any) -> Gate:
        def closed(_page: Any, messages: list[dict[str, Any]]) -> tuple[float, bool, str, dict[str, Any]]:
            return 0.0, messages[-1]["role"] == "assistant", "", {}

        gate = env.task.validate = Gate(env.task.validate, closed)
        return gate


def _nowhere() -> Any:
    """An instance that refuses to be asked, for goals that follow from configurations alone."""
    from browsergym.workarena.instance import SNowInstance

    class Nowhere(SNowInstance):
        snow_url = "https://no-instance.invalid"

        def __init__(self) -> None: ...

        @property
        def snow_credentials(self) -> Any:
            raise AsksInstance("this task asks the instance for its goal: set SNOW_INSTANCE_URL and the others")

        @property
        def report_filter_config(self) -> Any:
            return self.snow_credentials

    return Nowhere()


def _draw(made: Any, drawn: dict[str, Any], config: Any) -> None:
    """Names and serial numbers that stock draws anew at each start: here of the configuration, once."""
    from browsergym.workarena.tasks import form

    seed = _number(json.dumps(config, sort_keys=True))
    form.fake.seed_instance(seed)
    made.unique_id = f"{seed:016x}"
    for field, value in drawn.items():
        made.template_record[field] = value(made.template_record[field])


def _as_given(self: Any, config: dict[str, Any]) -> None:
    self.template_record, self.task_fields = config["template_record"], config["task_fields"]


def _no_others(_kind: Any) -> list[Any]:
    """A configuration is always given: the class's file (tens of megabytes) is not read at each start."""
    return []


def _number(text: str) -> int:
    """A hash that is the same in every process, other than Python's."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])


def _no_hub() -> None:
    """Modules that are imported to fetch a list of instances, and never called where one is named."""
    hub, utils = types.ModuleType("huggingface_hub"), types.ModuleType("huggingface_hub.utils")
    vars(hub).update(hf_hub_download=None)
    vars(utils).update(disable_progress_bars=None)
    sys.modules.update({"huggingface_hub": hub, "huggingface_hub.utils": utils})
