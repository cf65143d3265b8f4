"""Snapshots, and differences of two states."""

from __future__ import annotations

from pathlib import Path

import pytest

from rebind.envs.apps import state
from rebind.envs.apps.api.common import new_id
from rebind.envs.apps.populate import build as building
from rebind.envs.apps.state import Change, Snapshots, diff, dump


def test_a_restored_state_is_private_and_equal_to_the_snapshot(worlds: Snapshots) -> None:
    one, other = worlds.restore(7), worlds.restore(7)
    assert dump(one) == dump(other)
    one.execute("DELETE FROM mails")
    assert other.execute("SELECT count(*) FROM mails").fetchone()[0] > 0
    assert dump(worlds.restore(7)) == dump(other)


def test_a_state_can_be_used_by_another_thread(worlds: Snapshots) -> None:
    from concurrent.futures import ThreadPoolExecutor

    db = worlds.restore(7)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: db.execute("SELECT count(*) FROM mails").fetchone()[0]).result() > 0


def test_a_difference_names_added_removed_and_changed_rows_by_primary_key(worlds: Snapshots) -> None:
    before, after = worlds.restore(7), worlds.restore(7)
    assert diff(before, after) == {}
    key, group, member = after.execute("SELECT m.contact_id, m.* FROM contact_group_members m LIMIT 1").fetchone()
    after.execute("UPDATE contacts SET comment = 'x', favourite = favourite WHERE id = ?", (key,))
    after.execute("DELETE FROM contact_group_members WHERE group_id = ? AND contact_id = ?", (group, member))
    after.execute("INSERT INTO contact_groups VALUES ('grp_1', 'New')")
    found = diff(before, after)
    assert set(found) == {"contacts", "contact_group_members", "contact_groups"}
    change = found["contacts"].changed[(key,)]
    assert isinstance(change, Change)
    assert change.columns == {"comment"}
    assert change.after["comment"] == "x"
    assert list(found["contact_group_members"].removed) == [(group, member)]
    assert found["contact_groups"].added == {("grp_1",): {"id": "grp_1", "name": "New"}}


def test_a_row_deleted_and_inserted_again_unchanged_is_no_difference(worlds: Snapshots) -> None:
    before, after = worlds.restore(7), worlds.restore(7)
    row = after.execute("SELECT * FROM todo_lists LIMIT 1").fetchone()
    after.execute("PRAGMA foreign_keys = OFF")
    after.execute("DELETE FROM todo_lists WHERE id = ?", row[:1])
    after.execute("INSERT INTO todo_lists VALUES (?, ?)", row)
    assert diff(before, after) == {}


def test_the_engines_bookkeeping_is_no_difference(worlds: Snapshots) -> None:
    before, after = worlds.restore(7), worlds.restore(7)
    new_id(after, "notes", "note")
    assert after.execute("SELECT count(*) FROM internals").fetchone()[0] == 2
    assert diff(before, after) == {}
    assert "internals" not in dump(after)


def test_the_disk_cache_is_used_survives_deletion_and_distrusts_torn_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builds: list[int] = []

    def counted(seed: int) -> bytes:
        builds.append(seed)
        return b"world %d" % seed

    monkeypatch.setattr(building, "build", counted)
    assert Snapshots(folder=tmp_path).image(3) == b"world 3"
    assert Snapshots(folder=tmp_path).image(3) == b"world 3"
    assert builds == [3]
    (path,) = tmp_path.rglob("*.world")
    path.write_bytes(path.read_bytes()[:-1])
    assert Snapshots(folder=tmp_path).image(3) == b"world 3"
    assert builds == [3, 3]
    path.unlink()
    assert Snapshots(folder=tmp_path).image(3) == b"world 3"
    assert builds == [3, 3, 3]
    assert [file.name for file in tmp_path.rglob("*") if file.is_file()] == ["3.world"]


def test_the_disk_cache_is_keyed_by_the_generators_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "build", lambda seed: b"old")
    Snapshots(folder=tmp_path).image(3)
    monkeypatch.setattr(building, "build", lambda seed: b"new")
    monkeypatch.setattr(state, "generator_digest", lambda: "another generator")
    assert Snapshots(folder=tmp_path).image(3) == b"new"


def test_memory_holds_at_most_so_many_images_and_drops_the_least_used(monkeypatch: pytest.MonkeyPatch) -> None:
    builds: list[int] = []
    monkeypatch.setattr(building, "build", lambda seed: builds.append(seed) or b"x")
    kept = Snapshots(limit=2)
    for seed in (1, 2, 1, 3, 1, 2):
        kept.image(seed)
    assert builds == [1, 2, 3, 2]


def test_the_cache_folder_follows_the_users_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("REBIND_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert state.cache_folder() == tmp_path / "rebind" / "apps"
    monkeypatch.setenv("REBIND_CACHE", str(tmp_path / "own"))
    assert state.cache_folder() == tmp_path / "own" / "apps"


def test_states_of_different_images_are_compared_whole(worlds: Snapshots) -> None:
    """What was written before a state became an image is a difference from the image it came from."""
    before, after = worlds.restore(7), worlds.restore(7)
    after.execute("UPDATE contacts SET comment = 'x' WHERE id = (SELECT id FROM contacts LIMIT 1)")
    assert set(diff(before, state.connect(after.serialize()))) == {"contacts"}


def test_a_write_that_changed_nothing_is_no_difference(worlds: Snapshots) -> None:
    before, after = worlds.restore(7), worlds.restore(7)
    after.execute("UPDATE contacts SET comment = comment")
    assert diff(before, after) == {}
