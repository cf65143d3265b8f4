"""Hand over the newest version of every project document: move it, share it, and leave a task for it."""

from __future__ import annotations

import re

from rebind.envs.apps.families.base import Drawn, Expected, Family, Grounded
from rebind.envs.apps.families.draw import Bound, choice, column, day, person, several
from rebind.envs.apps.families.effects import Added, Changed, Effect, says
from rebind.envs.apps.families.evidence import saw
from rebind.envs.apps.families.oracle import Oracle, finish, login, only
from rebind.envs.apps.families.oracle import person as find_person
from rebind.envs.apps.families.plant import Plant
from rebind.envs.apps.families.view import View

DOCUMENTS = "budget | contacts | design | minutes | plan | pricing | risks | schedule | scope | staffing"


class HandoverFiles(Family):
    id = "apps/handover-newest-documents"
    group = "21-35"
    tools = "contacts_search files_list files_read files_move files_copy files_share todo_list_lists todo_create"
    drawn = (
        Drawn("project", "entity", choice("aurora | beacon | cinder | delta | ember | fathom | garnet"), central=True),
        Drawn("successor", "user", person("relation IN ('colleague', 'client')")),
        Drawn("folder", "location", choice("handover | transfer | release | outgoing | current | approved")),
        Drawn("list", "parameter", column("SELECT name FROM todo_lists ORDER BY id")),
        Drawn("due", "date", day(4, 25)),
        Drawn("documents", "state", several(5, DOCUMENTS)),
    )
    grounded = (
        Grounded("contact", "user", lambda v, b: v.person(b.successor)["id"]),
        Grounded("files", "record", lambda v, b: list(newest_ids(v, b.project).values())),
    )
    wordings = (
        "{successor} takes over the {project} project. Of every document in /projects/{project}, take the newest "
        "version (the highest number), move it to /projects/{project}/{folder}/ under the same file name and share "
        'it with them. For each one add a task "Review <document>" (for example "Review agenda" for agenda-v2.txt) '
        'to my "{list}" list, due {due} and assigned to them.',
        "Prepare the handover of /projects/{project} to {successor}: the highest-numbered version of each document "
        "moves into the subfolder {folder} (same name) and is shared with {successor}; older versions stay. And "
        'for each document put "Review <document>", e.g. "Review agenda", on the to-do list "{list}", due on '
        "{due}, with {successor} as assignee.",
        "For {successor}, who inherits {project}: move the latest version of each document in /projects/{project} "
        "to /projects/{project}/{folder}/, keeping its name, share it with them, and give them a task due {due} in "
        'the list "{list}" called "Review <document>" (so "Review agenda" for agenda-v2.txt). Leave older versions '
        "alone.",
    )

    def setup(self, p: Plant, b: Bound) -> None:
        for document in b.documents:
            top = p.rng.choice((2, 3, 10))
            for version in range(max(1, top - 2), top + 1):
                content = f"{b.project} {document}, version {version}"
                p.add("files", path=f"/projects/{b.project}/{document}-v{version}.txt", content=content)

    def oracle(self, b: Bound) -> Oracle:
        contacts, files, todo = (yield from login("contacts")), (yield from login("files")), (yield from login("todo"))
        who = yield from find_person(contacts, b.successor)
        listed = yield from files.every("list", folder=f"/projects/{b.project}")
        ids = {item["path"]: item["file_id"] for item in listed if item["kind"] == "file"}
        lists = yield from todo("list_lists")
        target = only([one for one in lists if one["name"] == b.list], b.list)["list_id"]
        for document, path in newest(list(ids)).items():
            yield from files("move", file_id=ids[path], path=moved(path, b))
            yield from files("share", file_id=ids[path], email=who["email"])
            title = f"Review {document}"
            yield from todo("create", list_id=target, title=title, due_on=b.due, assignee=who["contact_id"])
        yield from finish()

    def expect(self, start: View, b: Bound) -> Expected:
        email, effects = start.person(b.successor)["email"], list[Effect]()
        target = start.value("SELECT id FROM todo_lists WHERE name = ?", b.list)
        for path, file in newest_ids(start, b.project).items():
            name = path.rpartition("/")[2].partition("-v")[0]
            mark = f"moved-{name}: {name} is in its new place and shared"
            effects.append(Changed("files", file, path=moved(path, b), shared_with=email, mark=mark))
            mark, title = f"task-{name}: there is a task for {name}", says(f"Review {name}")
            effects.append(Added("todos", list_id=target, title=title, due_on=b.due, assignee=b.contact, mark=mark))
        return Expected(effects=effects, marks=(saw("found-files: found the newest versions", *b.files),))


def newest(paths: list[str]) -> dict[str, str]:
    """The path of the highest version by document name: v10 is newer than v9."""
    versions = sorted(
        (match[1], int(match[2]), path) for path in paths if (match := re.fullmatch(r".*/([a-z]+)-v(\d+)\.txt", path))
    )
    return {document: path for document, _, path in versions}


def newest_ids(view: View, project: str) -> dict[str, str]:
    """Ids of a project's newest versions by path."""
    rows = view.rows("SELECT path, id FROM files WHERE path GLOB ?", f"/projects/{project}/*")
    ids = {row["path"]: row["id"] for row in rows}
    return {path: ids[path] for path in newest(list(ids)).values()}


def moved(path: str, b: Bound) -> str:
    return path.replace(f"/{b.project}/", f"/{b.project}/{b.folder}/")
