"""Task lists: open, overdue, done and undated tasks, some of them nearly the same."""

from __future__ import annotations

import random
import sqlite3

from rebind.envs.apps.populate import chance, ids, insert
from rebind.envs.apps.populate import todo_texts as texts
from rebind.envs.apps.populate.cast import Cast, cast
from rebind.envs.apps.populate.names import CITIES, PROJECTS, THINGS

_PER_LIST = (14, 20)


def populate(db: sqlite3.Connection, rng: random.Random) -> None:
    """Writes 10 lists (two projects among them) and about 170 tasks."""
    world = cast(db, rng)
    projects = rng.sample(PROJECTS, 2)
    named = [
        (one, {"project": project, "city": rng.choice(CITIES)} if "{" in one.name else {})
        for one in texts.LISTS
        for project in (projects if "{project}" in one.name else projects[:1])
    ]
    keys = ids(rng, "list", len(named))
    names = [one.name.format(**slots) for one, slots in named]
    insert(db, "todo_lists", [{"id": key, "name": name} for key, name in zip(keys, names, strict=True)])
    rows = [row for key, (one, slots) in zip(keys, named, strict=True) for row in _tasks(world, key, one, slots)]
    rng.shuffle(rows)
    numbers = ids(rng, "todo", len(rows))
    insert(db, "todos", [{"id": number, **row} for number, row in zip(numbers, rows, strict=True)])


def _tasks(world: Cast, list_id: str, one: texts.TaskList, fixed: dict[str, str]) -> list[dict[str, object]]:
    """Some patterns come twice, with other people or marked as a repetition; a title comes once only. `fixed`: values
    of the list's name, the same for all its tasks."""
    rng = world.rng
    count = rng.randint(*_PER_LIST)
    patterns = [*one.patterns, *rng.choices(one.patterns, k=count)]
    tasks: dict[str, dict[str, object]] = {}
    for pattern in patterns:
        title, slots = _title(world, pattern, one, fixed)
        if title in tasks:
            title += rng.choice(texts.ENDINGS)
        if title not in tasks and len(tasks) < count:
            tasks[title] = _task(world, list_id, title, one, slots)
    return list(tasks.values())


def _title(world: Cast, pattern: str, one: texts.TaskList, fixed: dict[str, str]) -> tuple[str, dict[str, str]]:
    rng = world.rng
    person, other = rng.sample(world.of(*one.assignees) or world.people, 2)
    slots = {
        **world.figures(world.today), "project": rng.choice(PROJECTS), "city": rng.choice(CITIES), **fixed,
        "person": person.name, "other": other.name, "first": person.first,
        "company": rng.choice([who.company for who in world.of("client", "vendor")]),
        "thing": rng.choice(THINGS), "date": world.day(-30, -1).isoformat(),
    }  # fmt: skip
    return pattern.format(**slots), slots


def _task(world: Cast, list_id: str, title: str, one: texts.TaskList, slots: dict[str, str]) -> dict[str, object]:
    rng = world.rng
    done = chance(rng, 0.32)
    due = world.day(-60, -1) if done else world.day(-12, 40)
    assignable = world.of(*one.assignees)
    return {
        "list_id": list_id,
        "title": title,
        "due_on": due.isoformat() if chance(rng, 0.75) else None,
        "priority": rng.choices(("low", "normal", "high"), (20, 60, 20))[0],
        "done": int(done),
        "assignee": rng.choice(assignable).id if assignable and chance(rng, 0.25) else None,
        "comment": rng.choice(texts.COMMENTS).format(**slots) if chance(rng, 0.3) else "",
    }
