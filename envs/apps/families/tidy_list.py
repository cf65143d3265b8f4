"""Tidy up a task list by a note: complete tasks, move some to another list, give others to people."""

from __future__ import annotations

import random
import re

from rebind.envs.apps.families.base import Drawn, Expected, Family, Grounded
from rebind.envs.apps.families.draw import Bound, choice, column, day, people, words
from rebind.envs.apps.families.effects import Changed
from rebind.envs.apps.families.evidence import called, saw
from rebind.envs.apps.families.oracle import Oracle, finish, login, only
from rebind.envs.apps.families.oracle import person as find_person
from rebind.envs.apps.families.plant import Plant
from rebind.envs.apps.families.view import View

EVENTS = (
    "Barn dance | Charity run | Chess open | Flea market | Lantern parade | Open garden | Poetry night | Regatta | "
    "School play | Street party"
)
CHORES = words(
    "book the band | borrow trestle tables | collect the key | count the chairs | draw the site plan | find stewards | "
    "hang the posters | hire a van | insure the equipment | order cups | pay the deposit | print the programme | "
    "recruit a host | tell the neighbours | test the microphones | write to the council"
)
DONE, MOVED, GIVEN, KEPT = range(0, 4), range(4, 8), range(8, 12), range(12, 14)
"""Which of the drawn chores are completed, moved, given away and left as they are."""
LINE = re.compile(r"(?P<task>[^:\n]+): (?:(?P<done>done)|move to (?P<shelf>.+)|give to (?P<who>.+)|keep)")


def chores(_view: View, rng: random.Random, _bound: Bound) -> list[str]:
    return rng.sample(CHORES, KEPT.stop)


class TidyList(Family):
    id = "apps/tidy-task-list-by-note"
    group = "21-35"
    tools = (
        "notes_search notes_show todo_list_lists todo_search todo_show todo_complete todo_update todo_create "
        "todo_delete contacts_search"
    )
    drawn = (
        Drawn("event", "entity", choice(EVENTS), central=True),
        Drawn("due", "date", day(5, 40)),
        Drawn("priority", "parameter", choice("low | high")),
        Drawn("people", "user", people(len(GIVEN))),
        Drawn("shelf", "entity", column("SELECT name FROM todo_lists ORDER BY id")),
        Drawn("chores", "state", chores),
    )
    grounded = (
        Grounded("note", "record", lambda v, b: v.value("SELECT id FROM notes WHERE title = ?", final(b.event))),
        Grounded("tasks", "record", lambda v, b: [task(v, b.event, chore) for chore in b.chores[: GIVEN.stop]]),
    )
    wordings = (
        'Tidy up my to-do list "{event}" by the final clean-up note for it: complete what the note calls done; '
        "move what it sends to another list and set the priority there to {priority}; assign what it gives to "
        "somebody to that person, due {due}. All other tasks stay as they are.",
        'The notes have a final clean-up of the list "{event}". Do what it says, task by task: done means complete '
        "it, move means change its list and make its priority {priority}, give means assign it to that contact "
        "with the due date {due}, keep means leave it alone. Touch nothing else.",
        'Please bring the task list "{event}" in line with my final clean-up note about it. Tasks that are done '
        "are to be completed. Tasks that move go to the named list with {priority} priority. Tasks that are given "
        "away get the named person as assignee and {due} as due date. The rest remains unchanged.",
    )

    def setup(self, p: Plant, b: Bound) -> None:
        for name in (b.event, f"{b.event} (last year)"):
            target = p.add("todo_lists", name=name)
            for chore in sorted(b.chores):
                due = p.day(p.rng.randrange(45, 80))
                p.add("todos", list_id=target, title=titled(b.event, chore), due_on=due)
        for chore in b.chores[: DONE.stop]:
            p.add("todos", list_id=p.value(LIST, b.event), title=f"{titled(b.event, chore)} again")
        turned = [*b.chores[MOVED.stop :], *b.chores[: MOVED.stop]]
        for title, order, age in ((final(b.event), b.chores, -5), (f"{b.event}: clean-up, draft", turned, -1)):
            body = "\n".join(p.rng.sample(verdicts(b, order), len(order)))
            p.add("notes", title=title, body=body, created_at=p.moment(-8), updated_at=p.moment(age))

    def oracle(self, b: Bound) -> Oracle:
        notes = yield from login("notes")
        found = yield from notes.every("search", query=f"{b.event} clean-up")
        note = only([n for n in found if n["title"] == final(b.event)], b.event)
        body = (yield from notes("show", note_id=note["note_id"]))["body"]
        todo, contacts = (yield from login("todo")), (yield from login("contacts"))
        lists = {one["name"]: one["list_id"] for one in (yield from todo("list_lists"))}
        tasks = yield from todo.every("search", list_id=lists[b.event], done=False)
        ids = {one["title"]: one["todo_id"] for one in tasks}
        for line in LINE.finditer(body):
            one = ids[titled(b.event, line["task"])]
            if line["done"]:
                yield from todo("complete", todo_id=one)
            elif line["shelf"]:
                yield from todo("update", todo_id=one, list_id=lists[line["shelf"]], priority=b.priority)
            elif line["who"]:
                who = yield from find_person(contacts, line["who"])
                yield from todo("update", todo_id=one, assignee=who["contact_id"], due_on=b.due)
        yield from finish()

    def expect(self, start: View, b: Bound) -> Expected:
        shelf = start.value(LIST, b.shelf)
        givens = dict(zip(GIVEN, b.people, strict=True))
        effects = [
            *(Changed("todos", b.tasks[i], done=1, mark=f"done-{i}: completed: {b.chores[i]}") for i in DONE),
            *(
                Changed(
                    "todos", b.tasks[i], list_id=shelf, priority=b.priority, mark=f"moved-{i}: moved: {b.chores[i]}"
                )
                for i in MOVED
            ),
            *(
                Changed(
                    "todos",
                    b.tasks[i],
                    assignee=start.person(who)["id"],
                    due_on=b.due,
                    mark=f"given-{i}: given to {who}: {b.chores[i]}",
                )
                for i, who in givens.items()
            ),
        ]
        return Expected(
            effects=effects,
            marks=(
                saw("found-note: found the final note", b.note),
                called("read-note: read the final note", "notes_show", note_id=b.note),
                saw("found-tasks: found the tasks", *b.tasks),
            ),
        )


LIST = "SELECT id FROM todo_lists WHERE name = ?"


def final(event: str) -> str:
    return f"{event}: clean-up, final"


def titled(event: str, chore: str) -> str:
    """A chore's task: "Regatta, hire a van"."""
    return f"{event}, {chore}"


def task(view: View, event: str, chore: str) -> str:
    """The id of a chore's task on the event's own list."""
    of_list = f"SELECT id FROM todos WHERE title = ? AND list_id = ({LIST})"
    return str(view.value(of_list, titled(event, chore), event))


def verdicts(b: Bound, order: list[str]) -> list[str]:
    """What a note says of each chore, the chores taken in that order."""
    fates = ["done"] * len(DONE) + [f"move to {b.shelf}"] * len(MOVED) + [f"give to {who}" for who in b.people]
    fates += ["keep"] * len(KEPT)
    return [f"{chore}: {fate}" for chore, fate in zip(order, fates, strict=True)]
