"""The APIs of the files app."""

from __future__ import annotations

import pytest


@pytest.fixture
def plan(agent) -> str:
    """A file of known content."""
    return agent.ok("files_write", path="/lab/2026/plan.txt", content="Größe: 3 m")["file_id"]


def test_write_creates_a_file_with_its_size_in_bytes(agent, plan: str) -> None:
    today = agent.ok("supervisor_profile")["today"]
    assert agent.ok("files_read", file_id=plan) == {
        "file_id": plan,
        "path": "/lab/2026/plan.txt",
        "content": "Größe: 3 m",
        "size": len("Größe: 3 m".encode()),
        "modified_at": f"{today}T12:00",
        "shared_with": [],
    }


def test_list_shows_subfolders_before_files_and_recursive_all_files_below(agent, plan: str) -> None:
    agent.ok("files_write", path="/lab/notes.txt", content="x")
    agent.ok("files_write", path="/lab/2026/a/b.txt", content="x")
    top = agent.ok("files_list", folder="/lab")["items"]
    assert [(one["kind"], one["path"]) for one in top] == [("folder", "/lab/2026"), ("file", "/lab/notes.txt")]
    assert top[0]["files"] == 2
    assert agent.ok("files_list", folder="lab/2026/")["total"] == 2
    deep = agent.ok("files_list", folder="/lab", recursive=True)["items"]
    assert [one["path"] for one in deep] == ["/lab/2026/a/b.txt", "/lab/2026/plan.txt", "/lab/notes.txt"]
    assert all("content" not in one for one in deep)


def test_the_root_lists_every_top_folder_and_recursively_every_file(agent) -> None:
    tops = {path.split("/")[1] for (path,) in agent.rows("SELECT path FROM files")}
    assert {one["path"] for one in agent.every("files_list")} == {f"/{top}" for top in tops}
    assert len(agent.every("files_list", recursive=True)) == agent.value("SELECT count(*) FROM files")


def test_search_looks_at_path_and_content_below_a_folder(agent, plan: str) -> None:
    assert [one["file_id"] for one in agent.ok("files_search", query="größe PLAN")["items"]] == [plan]
    assert agent.ok("files_search", query="größe", folder="/work")["total"] == 0
    assert agent.refused("files_search", query=" ") == (422, "query must not be empty")


def test_an_unknown_folder_is_a_404_with_the_nearest_one(agent) -> None:
    for verb, more in (("list", {}), ("search", {"query": "x"})):
        status, reason = agent.refused(f"files_{verb}", folder="/wrok", **more)
        assert status == 404
        assert reason == "no folder '/wrok'; did you mean '/work/'?"


def test_update_replaces_content_size_and_date_and_nothing_else(agent) -> None:
    key = agent.value("SELECT id FROM files WHERE shared_with <> '' LIMIT 1")
    before = agent.ok("files_read", file_id=key)
    agent.ok("files_update", file_id=key, content="é")
    after = agent.ok("files_read", file_id=key)
    assert {name for name in after if after[name] != before[name]} == {"content", "size", "modified_at"}
    assert (after["content"], after["size"]) == ("é", 2)


def test_move_keeps_everything_but_the_path(agent) -> None:
    key = agent.value("SELECT id FROM files WHERE shared_with <> '' LIMIT 1")
    before = agent.ok("files_read", file_id=key)
    agent.ok("files_move", file_id=key, path="/moved/here.txt")
    assert agent.ok("files_read", file_id=key) == before | {"path": "/moved/here.txt"}


def test_copy_makes_a_file_of_its_own_that_is_shared_with_nobody(agent) -> None:
    key, content = agent.rows("SELECT id, content FROM files WHERE shared_with <> '' LIMIT 1")[0]
    copy = agent.ok("files_copy", file_id=key, path="/copies/one.txt")["file_id"]
    shown = agent.ok("files_read", file_id=copy)
    assert (shown["content"], shown["shared_with"]) == (content, [])
    assert agent.value("SELECT path FROM files WHERE id = ?", key) != "/copies/one.txt"


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("plan.txt", "must be a full path"), ("", "must be a full path"), ("/", "must be a full path"),
        ("/lab/", "must be a full path"), ("/lab//x.txt", "must be a full path"),
        ("/lab/../x.txt", "must be a full path"),
        ("/lab/2026/plan.txt", "exists already: file_"), ("/lab/2026", "is a folder"),
        ("/lab/2026/plan.txt/x", "lies below '/lab/2026/plan.txt', which is a file"),
    ],
)  # fmt: skip
def test_a_path_that_is_malformed_or_taken_is_refused_by_write_move_and_copy(
    agent, plan: str, path: str, reason: str
) -> None:
    other = agent.value("SELECT id FROM files WHERE path LIKE '/work/%' LIMIT 1")
    for verb, args in (("write", {"content": "x"}), ("move", {"file_id": other}), ("copy", {"file_id": other})):
        status, said = agent.refused(f"files_{verb}", path=path, **args)
        assert (status, reason in said) == (422, True), said


def test_share_and_unshare_change_the_list_of_addresses(agent, plan: str) -> None:
    agent.ok("files_share", file_id=plan, email="ada@quill.example")
    shared = agent.ok("files_share", file_id=plan, email="bo@quill.example")["shared_with"]
    assert shared == ["ada@quill.example", "bo@quill.example"]
    assert agent.refused("files_share", file_id=plan, email="bo@quill.example")[0] == 422
    assert agent.refused("files_share", file_id=plan, email="bo")[0] == 422
    assert agent.ok("files_unshare", file_id=plan, email="ada@quill.example")["shared_with"] == ["bo@quill.example"]
    assert agent.refused("files_unshare", file_id=plan, email="ada@quill.example") == (
        404,
        f"file {plan} is not shared with 'ada@quill.example'; did you mean 'bo@quill.example'?",
    )


def test_delete_removes_a_file_unless_a_mail_has_it_attached(agent, plan: str) -> None:
    assert agent.ok("files_delete", file_id=plan) == {"file_id": plan, "deleted": True}
    assert agent.refused("files_read", file_id=plan)[0] == 404
    file, mail = agent.rows("SELECT file_id, mail_id FROM mail_attachments ORDER BY mail_id LIMIT 1")[0]
    status, reason = agent.refused("files_delete", file_id=file)
    assert status == 422
    assert reason.startswith(f"file {file} cannot be deleted: it is attached to mail_"), mail


@pytest.mark.parametrize(
    ("verb", "more"),
    [
        ("read", {}), ("update", {"content": "x"}), ("move", {"path": "/x.txt"}), ("copy", {"path": "/x.txt"}),
        ("delete", {}), ("share", {"email": "a@b.example"}), ("unshare", {"email": "a@b.example"}),
    ],
)  # fmt: skip
def test_an_unknown_file_is_a_404(agent, verb: str, more: dict) -> None:
    assert agent.refused(f"files_{verb}", file_id="/work/x.txt", **more)[0] == 404
