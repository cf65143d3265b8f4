"""Redaction takes values out of a finished ledger; every hash holds, and what is left cannot be changed or guessed."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from rebind.cli.app import app
from rebind.errors import LedgerError
from rebind.eval.ledger import LEDGER_FILE, MANIFEST_FILE, Ledger, read_events, verify
from rebind.eval.ledger.redaction import RedactionSummary, Selector, redact
from rebind.types import Cell, Redacted

CELL = Cell(target="e" * 64, condition="full", seed=2)
PHONE = "+49 30 901820"
STEP: dict[str, Any] = {
    "index": 0,
    "action": {"tool": "call", "args": {"number": PHONE}},
    "observation": f"ringing {PHONE}",
    "calls": [{"tool": "call", "result": {"number": 4930901820}}, {"tool": "hang_up", "result": None}],
    "error": None,
    "thought": "",
}


def finished(folder: Path, *steps: dict[str, Any]) -> Path:
    (folder / "study.lock").write_text("{}")
    with Ledger.open(folder) as ledger:
        ledger.append("plan", {"name": "p"})
        for step in steps or (STEP, {**STEP, "index": 1, "observation": "nobody"}):
            ledger.append("step", step, CELL, 0)
        ledger.seal()
    return folder


def taken_out(folder: Path, *fields: str, pattern: str | None = None) -> RedactionSummary:
    return redact(folder, [Selector.parse(field) for field in fields], pattern)


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / LEDGER_FILE).read_bytes().splitlines()]


def test_a_redacted_field_is_gone_and_everything_else_and_every_hash_is_as_it_was(tmp_path: Path) -> None:
    folder = finished(tmp_path)
    before, manifest = list(read_events(folder)), (folder / MANIFEST_FILE).read_bytes()
    done = taken_out(folder, "step.observation", "step.action.args", "step.calls[0]")
    assert (done.values, done.events, done.redacted) == (6, 2, 6)
    assert PHONE.encode() not in (folder / LEDGER_FILE).read_bytes()
    found = verify(folder)
    assert (found.ok, found.manifest, found.redacted) == (True, "matches", 6)
    assert (folder / MANIFEST_FILE).read_bytes() == manifest
    after = list(read_events(folder))
    assert [e.hash for e in after] == [e.hash for e in before]
    for old, new in zip(before[1:], after[1:], strict=True):
        assert new.redacted == ["/action/args", "/calls/0", "/observation"]
        assert new.data == {
            **old.data, "observation": "[redacted]", "action": {"args": "[redacted]", "tool": "call"},
            "calls": ["[redacted]", old.data["calls"][1]],
        }  # fmt: skip
    assert after[0] == before[0]


def test_a_redacted_line_is_canonical_and_its_marker_is_the_salted_digest_of_the_value(tmp_path: Path) -> None:
    folder = finished(tmp_path)
    line = lines(folder)[1]
    taken_out(folder, "step.observation")
    new = lines(folder)[1]
    salts = hashlib.shake_128(bytes.fromhex(line["salt"])).digest(16 * 8)
    # canonical order: action.args, action.tool, calls[0], calls[1], error, index, observation, thought
    value = b"\0" + salts[96:112] + rfc8785.dumps(STEP["observation"])
    assert new["data"]["observation"] == {"redacted": hashlib.sha256(value).hexdigest()}
    assert new["salt"] == [salts[at : at + 16].hex() for at in range(0, 128, 16) if at != 96]
    for raw in (folder / LEDGER_FILE).read_bytes().splitlines():
        assert rfc8785.dumps(json.loads(raw)) == raw


def test_nothing_left_in_the_file_tells_a_short_value_from_its_digest(tmp_path: Path) -> None:
    folder = finished(tmp_path, {"pin": "4711", "other": 1})
    taken_out(folder, "step.pin")
    line = lines(folder)[1]
    digest = line["data"]["pin"]["redacted"]
    known = [bytes.fromhex(salt) for salt in line["salt"]] + [bytes.fromhex(line[k]) for k in ("hash", "prev")]
    guess = rfc8785.dumps("4711")
    seeds = [hashlib.shake_128(salt).digest(32)[at : at + 16] for salt in known for at in (0, 16)]
    tried = [hashlib.sha256(b"\0" + salt[:16] + guess).hexdigest() for salt in (*known, *seeds, b"")]
    assert digest not in [*tried, hashlib.sha256(guess).hexdigest()]


def test_a_whole_field_can_be_taken_out_after_some_of_its_members(tmp_path: Path) -> None:
    folder = finished(tmp_path)
    taken_out(folder, "step.calls[1]")
    done = taken_out(folder, "step.calls", "step.error")
    assert (done.values, done.redacted) == (4, 4)
    assert verify(folder).redacted == 4
    assert [e.redacted for e in read_events(folder)] == [[], ["/calls", "/error"], ["/calls", "/error"]]


def test_a_pattern_takes_out_the_smallest_value_around_each_match(tmp_path: Path) -> None:
    folder = finished(tmp_path)
    taken_out(folder, pattern=re.escape(PHONE) + "|4930901820")
    assert [e.redacted for e in read_events(folder)] == [
        [],
        ["/action/args", "/calls/0", "/observation"],
        ["/action/args", "/calls/0"],
    ]
    assert verify(folder).ok


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.floats(-1, 1)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab/~.é", max_size=3), inner, max_size=3),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text("kl/~é%", max_size=3), json_values, min_size=1, max_size=4), st.data())
def test_any_values_of_any_data_can_be_taken_out_in_any_order(
    tmp_path_factory: pytest.TempPathFactory, data: dict[str, Any], draw: st.DataObject
) -> None:
    folder = finished(tmp_path_factory.mktemp("run"), data)
    root, out = verify(folder).merkle_root, set[tuple[str | None, ...]]()
    for _ in range(2):
        field = draw.draw(st.sampled_from(sorted(data)))
        members = data[field] if isinstance(data[field], dict | list) else ()
        keys = list(members) if isinstance(members, dict) else [str(n) for n in range(len(members))]
        member = draw.draw(st.sampled_from([None, *keys]))
        if any(path in out for path in ((field,), (field, member))):
            with pytest.raises(LedgerError, match="redacted already"):
                redact(folder, [Selector("step", field, member)])
        else:
            redact(folder, [Selector("step", field, member)])
            out.add((field,) if member is None else (field, member))
        found = verify(folder)
        assert (found.ok, found.merkle_root) == (True, root), found.why


def edited(folder: Path, change: Any) -> str:
    """Changes the second line and says how verification finds it."""
    path = folder / LEDGER_FILE
    raw = path.read_bytes().splitlines(keepends=True)
    line = json.loads(raw[1])
    change(line)
    path.write_bytes(b"".join([raw[0], rfc8785.dumps(line) + b"\n", *raw[2:]]))
    found = verify(folder)
    assert not found.ok
    assert found.first_bad == 2
    return found.why or ""


def put(place: str, value: Any) -> Any:
    def change(line: dict[str, Any]) -> None:
        *way, last = place.split(".")
        for part in way:
            line = line[part]
        line[last] = value

    return change


FORGERIES = {
    "another digest": put("data.observation", {"redacted": "0" * 64}),
    "a value put back": put("data.observation", "quiet"),
    "a marker that is not listed": put("redacted", ["/error"]),
    "a listed value that is there": put("redacted", ["/error", "/observation", "/thought"]),
    "a list in another order": put("redacted", ["/observation", "/error"]),
    "another spelling of a place": put("redacted", ["/error", "/observation", "/observation"]),
    "a salt changed": lambda line: line["salt"].__setitem__(0, "0" * 32),
    "a salt in capitals": lambda line: line["salt"].__setitem__(0, line["salt"][0].upper().replace("0", "A")),
    "a salt too few": lambda line: line["salt"].pop(),
    "a salt too many": lambda line: line["salt"].append("0" * 32),
    "salts swapped": lambda line: line["salt"].reverse(),
    "a salt that takes a byte of its value": lambda line: line["salt"].__setitem__(-1, line["salt"][-1] + "22"),
    "two digests swapped": lambda line: line["data"].update(
        error=line["data"]["observation"], observation=line["data"]["error"]
    ),
    "another value beside it": put("data.thought", "hm"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_redaction_is_found(tmp_path: Path, name: str) -> None:
    folder = finished(tmp_path)
    taken_out(folder, "step.observation", "step.error")
    edited(folder, FORGERIES[name])


def test_an_event_that_was_not_redacted_cannot_pose_as_one(tmp_path: Path) -> None:
    folder = finished(tmp_path)
    edited(folder, put("data.observation", {"redacted": "0" * 64}))


def test_a_value_that_looks_like_a_marker_is_a_value(tmp_path: Path) -> None:
    folder = finished(tmp_path, {"observation": {"redacted": "a" * 64}, "error": "x"})
    taken_out(folder, "step.error")
    assert verify(folder).ok
    event = list(read_events(folder))[1]
    assert event.data == {"observation": {"redacted": "a" * 64}, "error": "[redacted]"}
    assert isinstance(event.data["error"], Redacted)


@pytest.mark.parametrize(
    ("fields", "pattern", "message"),
    [
        (["stpe.observation"], None, "did you mean 'step'"),
        (["step.observatoin"], None, "did you mean 'step.observation'"),
        (["step.calls[7]"], None, "no such member"),
        (["step"], None, "selects nothing"),
        (["step.calls[0].result"], None, "selects nothing"),
        ([], "zzz", "matches 'zzz'"),
        ([], "(", "no regular expression"),
        ([], None, "nothing to redact was named"),
    ],
)
def test_what_selects_nothing_is_a_clear_error_and_changes_nothing(
    tmp_path: Path, fields: list[str], pattern: str | None, message: str
) -> None:
    folder = finished(tmp_path)
    before = (folder / LEDGER_FILE).read_bytes()
    with pytest.raises(LedgerError, match=re.escape(message)):
        taken_out(folder, *fields, pattern=pattern)
    assert (folder / LEDGER_FILE).read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        ["study.lock", "ledger.lock", LEDGER_FILE, MANIFEST_FILE]
    )


def test_an_unfinished_or_running_ledger_is_not_redacted(tmp_path: Path) -> None:
    with Ledger.open(tmp_path) as ledger:
        ledger.append("step", STEP, CELL, 0)
        with pytest.raises(LedgerError, match="being written"):
            taken_out(tmp_path, "step.error")
    with pytest.raises(LedgerError, match="not finished"):
        taken_out(tmp_path, "step.error")


def test_a_redacted_run_can_be_gone_on_with(tmp_path: Path) -> None:
    folder = finished(tmp_path)
    taken_out(folder, "step.observation")
    with Ledger.open(folder) as ledger:
        ledger.append("note", {"more": 1})
        ledger.seal()
    found = verify(folder)
    assert (found.ok, found.events, found.redacted) == (True, 5, 2)


def test_the_command_reads_fields_from_a_file_and_prints_what_it_did(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    folder, listed = finished(tmp_path / "run"), tmp_path / "fields.txt"
    listed.write_text("# personal data\nstep.observation  # what the world said\n\nstep.action.args\n")
    done = CliRunner().invoke(app, ["ledger", "redact", str(folder), "--fields", str(listed), "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout) == {
        "values": 4, "events": 2, "fields": {"step.action": 2, "step.observation": 2}, "redacted": 4,
    }  # fmt: skip
    shown = CliRunner().invoke(app, ["ledger", "verify", str(folder), "--json"])
    assert json.loads(shown.stdout)["redacted"] == 4
