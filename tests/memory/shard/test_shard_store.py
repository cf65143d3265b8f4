"""The store: crash-safe appends, changes of rights that are in force at once in every process, an audit trail."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.shards import DIMENSIONS, an_item, ask, embed

from rebind.memory.shard.audit import Auditor
from rebind.memory.shard.generation import MANIFEST, create
from rebind.memory.shard.log import StoreError
from rebind.memory.shard.routing import ShardBm25
from rebind.memory.shard.scope import MayRead, Scope
from rebind.memory.shard.segment import Item
from rebind.memory.shard.store import Store
from rebind.memory.shard.tier_b import ReadSettings, TierB

ADA = Scope(predicates=(MayRead(principal="ada"),))
_WRITER = """
import sys
sys.path[:0] = {path!r}
from support.shards import an_item, embed
from pathlib import Path
from rebind.memory.shard.store import Store
store = Store(Path({folder!r}))
for n in range({first}, 100000):
    item = an_item(n, f"shard{{n % 3}}", f"apple boat {{n}}")
    print(n, store.append([item], embed([item.text])), flush=True)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    create(tmp_path / "store", DIMENSIONS, "hashed words")
    return tmp_path / "store"


def _add(store: Store, *items: Item) -> None:
    store.append(items, embed([item.text for item in items]))


def _found(store: Store, text: str = "apple", scope: Scope = ADA) -> set[str]:
    tier = TierB(store.admit, ShardBm25(), ReadSettings(b_probe=8), store.admission)
    return {hit.id for hit in tier.read(ask(text), scope).hits}


def test_what_was_appended_is_found_after_reopening_and_after_compaction(folder: Path) -> None:
    store = Store(folder)
    _add(store, an_item(0, "a", "apple boat"), an_item(1, "b", "cedar", family="session"))
    _add(store, an_item(2, "a", "apple dance", speaker="eve", days=None))
    before = _found(store)
    assert before >= {"i0000", "i0002"}
    assert _found(Store(folder)) == before
    other = Store(folder)
    written = store.written("a")
    assert store.compact() == 1
    assert _found(other) == _found(store) == before
    assert [item for item, _ in Store(folder).written("a")] == [item for item, _ in written]
    assert store.verify() == []


def test_a_writer_killed_at_any_moment_loses_nothing_acknowledged_and_leaves_no_half_item(folder: Path) -> None:
    """kill -9 in the middle of appending, three times over one store."""
    path = [str(Path(__file__).parents[2])]
    acknowledged = -1
    for turn in range(3):
        code = _WRITER.format(path=path, folder=str(folder), first=acknowledged + 1)
        writer = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        assert writer.stdout is not None
        for _ in range(5 + turn):
            acknowledged = int(writer.stdout.readline().split()[0])
        os.kill(writer.pid, signal.SIGKILL)
        rest = writer.stdout.read().split("\n")
        acknowledged = max([acknowledged, *(int(line.split()[0]) for line in rest if line.count(" ") == 1 and line)])
        writer.wait()
        store = Store(folder)
        kept = {item.id for shard in store.shards() for item, _ in store.written(shard)}
        assert {f"i{n:04}" for n in range(acknowledged + 1)} <= kept
        acknowledged = len(kept) - 1  # a line may be on the disk whose acknowledgement was not heard
        assert kept == {f"i{n:04}" for n in range(len(kept))}


def test_agents_that_write_at_once_lose_nothing_and_a_reader_sees_only_what_is_whole(folder: Path) -> None:
    """Three processes append to the same shards while this one reads: the chain holds, each has all its items."""
    path, count = [str(Path(__file__).parents[2])], 12
    code = _WRITER.replace("100000", "{last}")
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", code.format(path=path, folder=str(folder), first=first, last=first + count)],
            stdout=subprocess.DEVNULL,
        )
        for first in (0, 100, 200)
    ]
    reader = Store(folder)
    seen: set[str] = set()
    while any(writer.poll() is None for writer in writers):
        found = _found(reader)
        assert len(seen) == 0 or found
        seen |= found
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    store = Store(folder)
    kept = {item.id for shard in store.shards() for item, _ in store.written(shard)}
    assert kept == {f"i{first + n:04}" for first in (0, 100, 200) for n in range(count)}
    assert store.events == 3 * count
    assert seen <= kept


def test_a_torn_last_line_is_not_read_and_the_next_writer_cuts_it_off(folder: Path) -> None:
    store = Store(folder)
    _add(store, an_item(0, "a", "apple"))
    log = folder / "log-0.jsonl"
    whole = log.read_bytes()
    log.write_bytes(whole + whole[:40])
    again = Store(folder)
    assert _found(again) == {"i0000"}
    _add(again, an_item(1, "a", "apple boat"))
    assert _found(Store(folder)) == {"i0000", "i0001"}


def test_an_edited_event_is_refused(folder: Path) -> None:
    store = Store(folder)
    store.grant("ada", "red")
    store.grant("bob", "red")
    log = folder / "log-0.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"ada"', b'"eve"', 1))
    with pytest.raises(StoreError, match="event 1 was edited"):
        Store(folder)


def test_a_changed_base_file_is_found_by_verification(folder: Path) -> None:
    store = Store(folder)
    _add(store, an_item(0, "a", "apple"))
    store.compact()
    (folder / "base-1" / "names.json").write_bytes(b"[[],[],[],[],[]]")
    assert Store.verify(store) == ["base-1/names.json"]


def test_a_revocation_is_in_force_at_the_next_request_in_a_store_opened_before(folder: Path) -> None:
    writer, reader = Store(folder), Store(folder)
    _add(writer, an_item(0, "a", "apple", label="red"))
    assert _found(reader) == set()
    writer.grant("ada", "red")
    assert _found(reader) == {"i0000"}
    writer.revoke("ada", "red")
    assert _found(reader) == set()


@pytest.mark.parametrize("compacted", [False, True])
def test_relabelling_and_deleting_are_in_force_in_base_and_log_alike(folder: Path, compacted: bool) -> None:
    writer, reader = Store(folder), Store(folder)
    _add(writer, an_item(0, "a", "apple"), an_item(1, "a", "apple boat"), an_item(2, "b", "apple cedar"))
    if compacted:
        writer.compact()
    writer.relabel("a", "red", "i0001")
    assert _found(reader) == {"i0000", "i0002"}
    writer.relabel("b", "blue")
    writer.delete("a", "i0000")
    assert _found(reader) == set()
    writer.grant("ada", "red")
    assert _found(reader) == {"i0001"}
    assert _found(Store(folder)) == {"i0001"}
    writer.compact()
    assert _found(reader) == {"i0001"}


def test_a_right_taken_between_routing_and_ranking_holds_for_what_is_returned(folder: Path) -> None:
    store = Store(folder)
    _add(store, an_item(0, "a", "apple", label="red"))
    store.grant("ada", "red")

    class Revoking(ShardBm25):
        def scores(self, query, admitted, lexical):  # type: ignore[no-untyped-def]  # as in ShardBm25
            Store(folder).revoke("ada", "red")
            return super().scores(query, admitted, lexical)

    tier = TierB(store.admit, Revoking(), ReadSettings(), store.admission)
    assert tier.read(ask("apple"), ADA).hits == ()


def test_the_audit_trail_names_the_event_behind_each_refusal(folder: Path) -> None:
    store = Store(folder)
    _add(store, an_item(0, "a", "apple", label="red"), an_item(1, "b", "apple", label="blue"))
    store.grant("ada", "red")
    number = store.revoke("ada", "red")
    refused = Auditor(store).record("apple", ADA)
    assert {r.label for r in refused} == {"red", "blue"}
    reasons = {r.label: r.reason for r in refused}
    assert f"event {number} (revoke)" in reasons["red"]
    assert "never granted" in reasons["blue"]
    (trail,) = (folder / "audit").iterdir()
    line = json.loads(trail.read_text())
    assert [r["label"] for r in line["refused"]] == ["blue", "red"]
    assert "apple" not in trail.read_text()


def test_bad_input_is_refused_with_a_reason(folder: Path, tmp_path: Path) -> None:
    store = Store(folder)
    _add(store, an_item(0, "a", "apple"))
    with pytest.raises(StoreError, match="ids are unique"):
        _add(store, an_item(0, "a", "boat"))
    with pytest.raises(StoreError, match="is a observation shard"):
        _add(store, an_item(1, "a", "boat", family="session"))
    with pytest.raises(StoreError, match="expected at least one item"):
        store.append([], embed([]))
    with pytest.raises(StoreError, match="there is no shard 'z'"):
        store.delete("z")
    with pytest.raises(StoreError, match="holds no store"):
        Store(tmp_path / "nowhere")
    with pytest.raises(StoreError, match="is not empty"):
        create(folder, DIMENSIONS, "hashed words")
    assert json.loads((folder / MANIFEST).read_text())["generation"] == 0


def test_readers_go_on_while_a_writer_holds_its_turn(folder: Path) -> None:
    store = Store(folder)
    _add(store, an_item(0, "a", "apple"))
    with store._lock:
        began = time.monotonic()
        assert _found(Store(folder)) == {"i0000"}
        assert time.monotonic() - began < 60


def test_a_store_compacted_while_a_request_is_read_answers_by_the_codes_it_began_with(folder: Path) -> None:
    """Compaction numbers names anew; the second check is of what was searched, by the rights of that moment."""
    store, other = Store(folder), Store(folder)
    _add(store, an_item(0, "b", "apple", user="u2", label="blue"), an_item(1, "c", "apple", user="u1", label="red"))
    store.grant("ada", "red")

    class Compacting(ShardBm25):
        revoking = False

        def scores(self, query, admitted, lexical):  # type: ignore[no-untyped-def]  # as in ShardBm25
            other.delete("b")
            other.compact()
            if self.revoking:
                other.revoke("ada", "red")
            _add(other, an_item(0, "b", "apple", user="u2", label="blue"))
            return super().scores(query, admitted, lexical)

    router = Compacting()
    tier = TierB(store.admit, router, ReadSettings(), store.admission)
    assert {hit.id for hit in tier.read(ask("apple"), ADA).hits} == {"i0001"}
    router.revoking = True
    assert tier.read(ask("apple"), ADA).hits == ()
