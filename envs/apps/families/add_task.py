"""Put a task with due date and priority on one of several task lists."""

from __future__ import annotations

from rebind.envs.apps.families.base import Drawn, Expected, Family, Grounded
from rebind.envs.apps.families.draw import Bound, choice, column, day, phrase
from rebind.envs.apps.families.effects import Added, says
from rebind.envs.apps.families.evidence import called, saw
from rebind.envs.apps.families.oracle import Oracle, finish, login, only
from rebind.envs.apps.families.plant import Plant
from rebind.envs.apps.families.view import View


class AddTask(Family):
    id = "apps/add-dated-task"
    group = "<5"
    tools = "todo_list_lists todo_create todo_search todo_update"
    drawn = (
        Drawn("list", "entity", column("SELECT name FROM todo_lists ORDER BY id"), central=True),
        Drawn(
            "title",
            "parameter",
            phrase(
                "{do} the {what}",
                do="Collect | Order | Return | Measure | Repair | Replace",
                what="bike rack | curtain rail | folding chairs | letter scale | picture hooks | step ladder",
            ),
        ),
        Drawn("due", "date", day(3, 45)),
        Drawn("priority", "parameter", choice("low | normal | high")),
    )
    grounded = (Grounded("list_id", "record", lambda v, b: id_of(v, b.list)),)
    wordings = (
        'Add the task "{title}" to my to-do list "{list}", due {due}, with {priority} priority.',
        'Please put "{title}" on the list "{list}": it is due on {due} and its priority is {priority}.',
        'On my "{list}" list I need a new task called "{title}". Due date: {due}. Priority: {priority}.',
        'Remind me to do this by {due}: "{title}". It belongs on my list "{list}" as a task of {priority} priority.',
    )

    def setup(self, p: Plant, b: Bound) -> None:
        other = p.column("SELECT id FROM todo_lists WHERE name != ? ORDER BY id", b.list)[0]
        p.add("todos", list_id=other, title=b.title, due_on=p.day(-20), done=1)
        p.add("todo_lists", name=f"{b.list} (old)")

    def oracle(self, b: Bound) -> Oracle:
        todo = yield from login("todo")
        lists = yield from todo("list_lists")
        target = only([one for one in lists if one["name"] == b.list], b.list)["list_id"]
        yield from todo("create", list_id=target, title=b.title, due_on=b.due, priority=b.priority)
        yield from finish()

    def expect(self, start: View, b: Bound) -> Expected:
        task = Added(
            "todos",
            list_id=b.list_id,
            title=says(b.title),
            due_on=b.due,
            priority=b.priority,
            done=0,
            assignee=None,
            mark="added: the task is on its list, with date and priority",
        )
        return Expected(
            effects=(task,),
            marks=(
                saw("found-list: found the list", b.list_id),
                called("right-list: put a task on that list", "todo_create", list_id=b.list_id),
            ),
        )


def id_of(view: View, name: str) -> str:
    return str(view.value("SELECT id FROM todo_lists WHERE name = ?", name))
