"""A small world of our own on AppWorld's engine, for machines without the official data: one note-keeping person, four
scenarios of three variants each. What comes of it is no AppWorld score."""

from __future__ import annotations

import os
import textwrap
from datetime import datetime
from typing import Any

from appworld.apps import get_all_apps
from appworld.apps.admin.models import MainUserMunch
from appworld.apps.api_lib import set_local_date_and_time
from appworld.apps.model_lib import CachedDBHandler
from appworld.collections.api_docs import ApiDocCollection
from appworld.collections.models import ModelCollection
from appworld.common.constants import DB_VERSION
from appworld.common.path_store import path_store
from appworld.ground_truth import GroundTruth
from appworld.task import Task

from .scenarios import NOTES, SCENARIOS, Scenario

_NOW = datetime(2023, 5, 18, 12, 0, 0)
_PERSON = {
    "first_name": "Mara",
    "last_name": "Lindqvist",
    "email": "mara.lindqvist@example.com",
    "phone_number": "5550107342",
    "birthday": "1990-04-02",
    "sex": "female",
}
_PASSWORD = "m4r4-keeps-notes"


def build() -> None:
    """Writes API docs, base databases, tasks with their ground truth, and the list of tasks, below APPWORLD_ROOT."""
    ApiDocCollection.build(load_apps=tuple(get_all_apps(skip_admin=True))).save()
    freezer = set_local_date_and_time(_NOW)
    try:
        _base()
        tasks = [_task(one, n) for one in SCENARIOS for n in range(1, len(one.variants) + 1)]
    finally:
        freezer.stop()
    folder = os.path.join(path_store.data, "datasets")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "small.txt"), "w", encoding="utf-8") as handle:
        handle.write("\n".join(tasks) + "\n")


def _base() -> None:
    """The databases that every task starts from, with one person and her notes."""
    models = _opened(":memory:base", create=True)
    _fill(models)
    models.save(os.path.join(path_store.data, "base_dbs"), delete_if_exists=True)
    models.close()


def _fill(models: Any) -> None:
    user = models.admin.MainUser.create(**_PERSON)
    user.save()
    models.admin.AccountPassword.create(main_user_id=user.id, account_name="simple_note", password=_PASSWORD).save()
    account = {name: _PERSON[name] for name in ("first_name", "last_name", "email")}
    owner = models.simple_note.User.create(**account, password=_PASSWORD, verified=True)
    owner.save()
    for title, content in NOTES.items():
        models.simple_note.Note.create(user_id=owner.id, title=title, content=content, tags=[], pinned=False).save()


def _opened(home: str, create: bool = False) -> Any:
    return ModelCollection.load(to_db_home_path=home, load_apps=get_all_apps(), create_db=create)


def _task(one: Scenario, n: int) -> str:
    """Writes variant `n` (from 1) of a scenario; returns its id."""
    values, name = one.variants[n - 1], f"{one.id}_{n}"
    goal = one.goal.format(**values)
    models = _opened(f":memory:task_input-{name}", create=True)
    _fill(models)
    boss = models.supervisor.Supervisor.create(**_PERSON)
    boss.save()
    models.supervisor.AccountPassword.create(
        supervisor_id=boss.id, account_name="simple_note", password=_PASSWORD
    ).save()
    models.supervisor.Task.create(supervisor_id=boss.id, instruction=goal).save()
    made = Task(
        id=name,
        instruction=goal,
        supervisor=MainUserMunch(**_PERSON),
        datetime=_NOW,
        allowed_apps=get_all_apps(skip_admin=True),
        db_version=DB_VERSION,
        model_collection=models,
    )
    made.ground_truth = _truth(one, name, values)
    made.save(delete_if_exists=True, ground_truth_mode="full")
    made.close()
    CachedDBHandler.reset()
    return name


def _truth(one: Scenario, name: str, values: dict[str, str]) -> GroundTruth:
    solution = textwrap.dedent(one.solution) % {key: repr(value) for key, value in values.items()}
    return GroundTruth(
        task_id=name,
        required_apps=["simple_note"],
        public_data=values,
        private_data={"notes": one.expected(values)},
        answer=None,
        evaluation_code=one.evaluation,
        solution_code=solution,
        compiled_solution_code=solution,
        generator_code="",
        test_data=[{"requirement": text, "label": label} for text, label in one.tests],
        metadata={
            "difficulty": 1,
            "mode": "full",
            "num_solution_code_lines": len(solution.splitlines()),
        },  # else: black
        api_calls=[],
    )
