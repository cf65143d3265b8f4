"""Verification of a ledger: the Merkle root of RFC 6962, and every way to change a file without it showing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from rebind.canon import digest
from rebind.errors import LedgerError
from rebind.eval.bench.tampering import rechained
from rebind.eval.ledger import LEDGER_FILE, MANIFEST_FILE, Ledger, read_events, verify
from rebind.eval.ledger.chain import GENESIS, MerkleTree, walk
from rebind.types import Cell

CELL = Cell(target="f" * 64, condition="qcr", seed=1)


def merkle(leaves: list[bytes]) -> bytes:
    """RFC 6962, section 2.1, word for word."""
    if not leaves:
        return hashlib.sha256().digest()
    if len(leaves) == 1:
        return hashlib.sha256(b"\x00" + leaves[0]).digest()
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    return hashlib.sha256(b"\x01" + merkle(leaves[:k]) + merkle(leaves[k:])).digest()


@settings(deadline=None)
@given(st.lists(st.binary(max_size=40), max_size=70))
def test_the_merkle_root_is_that_of_the_recursive_definition(leaves: list[bytes]) -> None:
    tree = MerkleTree()
    for leaf in leaves:
        tree.add(leaf)
    assert tree.root() == merkle(leaves).hex()


def write(folder: Path, events: int = 12, seal: bool = True) -> Path:
    (folder / "study.lock").write_text('{"study": 1}')
    with Ledger.open(folder) as ledger:
        for n in range(events):
            rest = {"calls": [n, None], "action": {"tool": "é", "args": {}}, "empty": {}}
            ledger.append("step", {"index": n, "observation": f"é {n}", "score": n / 7, **rest}, CELL, 1)
        if seal:
            ledger.seal()
    return folder / LEDGER_FILE


def committed(data: dict[str, Any], seed: bytes) -> dict[str, str]:
    """The documented form of an event's data in its hash, word for word."""
    salts = iter(hashlib.shake_128(seed).digest(16 * 99)[at : at + 16] for at in range(0, 16 * 99, 16))

    def value(one: Any) -> str:
        return hashlib.sha256(b"\0" + next(salts) + rfc8785.dumps(one)).hexdigest()

    def field(one: Any) -> str:
        if isinstance(one, dict) and one:
            members: Any = {key: value(one[key]) for key in sorted(one)}
        elif isinstance(one, list) and one:
            members = [value(member) for member in one]
        else:
            return value(one)
        return hashlib.sha256(b"\1" + rfc8785.dumps(members)).hexdigest()

    return {key: field(data[key]) for key in sorted(data)}


def test_each_event_carries_the_hash_of_its_other_fields_and_of_salted_digests_of_its_data(tmp_path: Path) -> None:
    write(tmp_path)
    before = GENESIS
    for n, line in enumerate((tmp_path / LEDGER_FILE).read_bytes().splitlines()):
        event = json.loads(line)
        stored, salt, redacted = event.pop("hash"), event.pop("salt"), event.pop("redacted")
        assert (event["n"], event["prev"], redacted) == (n, before, [])
        event["data"] = committed(event["data"], bytes.fromhex(salt))
        assert stored == digest(event)
        before = stored


def test_no_two_events_share_their_salts(tmp_path: Path) -> None:
    write(tmp_path, events=30)
    assert len({str(event.salt) for event in read_events(tmp_path)}) == 30


def test_a_line_is_the_canonical_form_of_its_event(tmp_path: Path) -> None:
    for line in write(tmp_path).read_bytes().splitlines():
        assert rfc8785.dumps(json.loads(line)) == line


def test_an_untouched_run_verifies_and_its_root_is_over_the_event_hashes(tmp_path: Path) -> None:
    write(tmp_path)
    found = verify(tmp_path)
    assert (found.ok, found.events, found.manifest, found.first_bad, found.note) == (True, 12, "matches", None, "")
    assert found.merkle_root == merkle([bytes.fromhex(e.hash) for e in read_events(tmp_path)]).hex()


def test_without_a_manifest_the_chain_alone_is_checked_and_that_is_said(tmp_path: Path) -> None:
    path = write(tmp_path, seal=False)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    found = verify(tmp_path)
    assert (found.ok, found.events, found.manifest) == (True, 11, "absent")
    assert "chain alone" in found.note


def test_every_flipped_bit_of_a_byte_is_found_at_its_line(tmp_path: Path) -> None:
    path = write(tmp_path, events=3)
    good = path.read_bytes()
    for at in range(len(good)):
        path.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :])
        found = verify(tmp_path)
        assert not found.ok, at
        assert found.first_bad == good[:at].count(b"\n") + 1, at


Edit = Callable[[list[bytes]], list[bytes]]
EDITS: dict[str, tuple[Edit, int | None]] = {
    "a deleted line": (lambda lines: lines[:4] + lines[5:], 5),
    "two swapped lines": (lambda lines: [*lines[:4], lines[5], lines[4], *lines[6:]], 5),
    "a doubled line": (lambda lines: [*lines[:5], lines[4], *lines[5:]], 6),
    "a cut-off end": (lambda lines: lines[:-2], 11),
    "a cut-off end within a line": (lambda lines: [*lines[:-1], lines[-1][:40]], 12),
    "a missing last newline": (lambda lines: [*lines[:-1], lines[-1][:-1]], 12),
    "an added line": (lambda lines: [*lines, b"{}\n"], 13),
    "an empty line": (lambda lines: [*lines[:3], b"\n", *lines[3:]], 4),
    "a line that is not JSON": (lambda lines: [*lines[:3], b"\xff\xfe\n", *lines[4:]], 4),
    "no lines at all": (lambda lines: [], 1),
    "a forged value with hashes made anew": (
        lambda lines: rechained([*lines[:4], lines[4].replace(b'"index":4', b'"index":5'), *lines[5:]]),
        None,
    ),
    "a removed line with hashes made anew": (lambda lines: rechained(lines[:4] + lines[5:]), 12),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_of_a_finished_run_is_found(tmp_path: Path, name: str) -> None:
    path = write(tmp_path)
    edit, line = EDITS[name]
    path.write_bytes(b"".join(edit(path.read_bytes().splitlines(keepends=True))))
    found = verify(tmp_path)
    assert not found.ok
    assert found.why
    assert found.first_bad == line


def test_a_changed_or_missing_file_that_the_manifest_names_is_found(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "study.lock").write_text('{"study": 2}')
    assert "study.lock" in (verify(tmp_path).why or "")
    (tmp_path / "study.lock").unlink()
    assert "study.lock" in (verify(tmp_path).why or "")


def test_an_edited_manifest_is_found(tmp_path: Path) -> None:
    write(tmp_path)
    path = tmp_path / MANIFEST_FILE
    path.write_text(path.read_text().replace('"events": 12', '"events": 11'))
    found = verify(tmp_path)
    assert (found.ok, found.manifest) == (False, "differs")


LINES: dict[str, Callable[[bytes], bytes]] = {
    "a blank that JSON allows": lambda line: line.replace(b'"n":', b'"n": '),
    "a key twice": lambda line: line.replace(b'"n":1', b'"n":1,"n":1'),
    "another form of a number": lambda line: line.replace(b'"index":1', b'"index":1.0'),
    "another form of the event's number": lambda line: line.replace(b'"n":1', b'"n":1.0'),
    "an escape that is not needed": lambda line: line.replace(b'"score"', b'"\\u0073core"'),
    "fields in another order": lambda line: line.replace(b'"redacted":[],', b"").replace(
        b'"n":', b'"redacted":[],"n":'
    ),
    "a field more": lambda line: line.replace(b'"redacted":[]', b'"note":1,"redacted":[]'),
    "a seed in capitals": lambda line: line[:-36] + line[-36:].upper().replace(b"0", b"A"),
    "a seed cut short": lambda line: line[:-5] + line[-3:],
    "not a number": lambda line: line.replace(b'"index":1', b'"index":NaN'),
    "a lone surrogate": lambda line: line.replace(b'"tool":"', b'"tool":"\\ud800'),
}


@pytest.mark.parametrize("name", LINES)
def test_the_same_event_in_other_bytes_is_an_edit(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, events=3, seal=False)
    lines = path.read_bytes().splitlines(keepends=True)
    changed = LINES[name](lines[1])
    assert changed != lines[1]
    path.write_bytes(b"".join([lines[0], changed, lines[2]]))
    found = verify(tmp_path)
    assert (found.ok, found.first_bad) == (False, 2)


def test_the_root_a_writer_seals_is_the_one_a_full_check_finds(tmp_path: Path) -> None:
    with Ledger.open(tmp_path) as ledger:
        ledger.append("note", {"text": '","hash":"' + "0" * 64})
        sealed = ledger.seal()
    state = walk(tmp_path / LEDGER_FILE)
    assert (sealed.merkle_root, sealed.last_hash) == (state.tree.root(), state.last_hash)


def test_a_folder_without_a_ledger_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="holds no ledger"):
        verify(tmp_path)
    with pytest.raises(LedgerError, match="cannot be read"):
        list(read_events(tmp_path))


def test_reading_names_the_line_that_is_no_event(tmp_path: Path) -> None:
    path = write(tmp_path, seal=False)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], b'{"n":2}\n', *lines[3:]]))
    with pytest.raises(LedgerError, match="line 3"):
        list(read_events(tmp_path))
