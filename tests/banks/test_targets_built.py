"""Targets: one a level where the world allows it, each passing every test, and each checkable again."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import psutil
import pytest

from rebind.banks import shift
from rebind.banks.accept import Acceptance, changes, leaks
from rebind.banks.compare import side_by_side
from rebind.banks.files import MANIFEST, write_lines, write_manifest
from rebind.banks.judges import Judge
from rebind.banks.revalidate import verify_targets
from rebind.banks.seals import open_seals
from rebind.banks.shift import build_targets
from rebind.banks.store import Bank
from rebind.banks.targets import TargetSet
from rebind.errors import TargetsError
from rebind.types import SHIFT_LEVELS, Binding, Record, Seal, Target, World


@pytest.fixture
def source(bank: Path) -> tuple[Record, Seal]:
    opened = Bank.open(bank)
    return opened.record(opened.ids[0]), open_seals(bank)[opened.ids[0]]


def test_records_give_up_to_four_targets_of_four_levels(targets: Path, bank: Path) -> None:
    opened = TargetSet.open(targets)
    levels = Counter(t.seal.level for t in opened.targets())
    assert set(levels) == set(SHIFT_LEVELS)
    assert opened.manifest["by_level"] == dict(levels)
    assert len(opened.tasks) >= 3.5 * len(Bank.open(bank).ids)
    assert len({t.key for t in opened.tasks}) == len(opened.tasks)
    assert max(Counter((t.seal.source, t.seal.level) for t in opened.targets()).values()) == 1


@pytest.mark.parametrize("workers", [1, 2])
def test_every_target_is_valid_when_checked_again(targets: Path, workers: int) -> None:
    found = verify_targets(targets, workers=workers)
    assert (found.invalid, found.differs, found.reasons) == (0, None, {})
    assert found.targets == len(TargetSet.open(targets).tasks)


def test_tasks_show_nothing_sealed(targets: Path) -> None:
    visible = (targets / "targets.jsonl").read_text()
    for target in TargetSet.open(targets).targets():
        for sealed in (target.seal.canary, target.seal.family, target.seal.source or ""):
            assert sealed
            assert sealed not in visible


def test_the_relation_to_the_source_is_in_the_seal(targets: Path, bank: Path) -> None:
    seals = open_seals(bank)
    for target in TargetSet.open(targets).targets():
        source = seals[target.seal.source or ""]
        assert target.seal.family == source.family
        assert {c.name for c in changes(source, target.seal)} == set(target.seal.changed)
        assert bool(target.seal.changed) == (target.seal.level != "none")


def test_worker_processes_give_the_same_bytes(targets: Path, bank: Path, tmp_path: Path) -> None:
    build_targets(bank, tmp_path / "again", workers=2)
    for name in ("targets.jsonl", "seals.jsonl"):
        assert (tmp_path / "again" / name).read_bytes() == (targets / name).read_bytes()


def test_a_stopped_build_goes_on_and_ends_in_the_same_bytes(
    bank: Path, targets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, work, made = tmp_path / "stopped", shift.make_targets, list[str]()

    def stops(judge: Judge, record: str) -> shift.Made:
        made.append(record)
        if len(made) == 4:
            raise KeyboardInterrupt
        return work(judge, record)

    monkeypatch.setattr(shift, "make_targets", stops)
    with pytest.raises(KeyboardInterrupt):
        build_targets(bank, out)
    (part,) = out.iterdir()
    part.write_bytes(part.read_bytes()[:-20])
    build_targets(bank, out)
    assert made[4:] == list(Bank.open(bank).ids[2:])
    assert {f.name: f.read_bytes() for f in out.iterdir() if f.name != MANIFEST} == {
        f.name: f.read_bytes() for f in targets.iterdir() if f.name != MANIFEST
    }


def test_the_workers_of_a_killed_build_end(bank: Path, tmp_path: Path) -> None:
    """They would work through the whole bank, for nobody."""
    build = "import sys; from pathlib import Path; from rebind.banks.shift import build_targets; "
    build += "build_targets(Path(sys.argv[1]), Path(sys.argv[2]), workers=2)"
    process = subprocess.Popen([sys.executable, "-c", build, str(bank), str(tmp_path / "out")])
    workers: list[psutil.Process] = []
    while process.poll() is None and len(workers) < 2:
        children = psutil.Process(process.pid).children()
        workers = [child for child in children if "spawn_main" in " ".join(child.cmdline())]
        time.sleep(0.01)
    process.kill()
    process.wait()
    _, alive = psutil.wait_procs(workers, timeout=60)
    assert len(workers) == 2
    assert not alive


def test_a_targets_folder_is_not_built_over(targets: Path, bank: Path) -> None:
    with pytest.raises(TargetsError, match="already holds targets"):
        build_targets(bank, targets)


@pytest.mark.parametrize("name", ["targets.jsonl", "seals.jsonl"])
def test_an_edited_file_makes_all_targets_invalid_and_is_named(targets: Path, tmp_path: Path, name: str) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(targets, copy)
    (copy / name).write_text((copy / name).read_text().replace("a", "b", 1))
    found = verify_targets(copy)
    assert found.differs == name
    assert found.invalid == found.targets > 0
    with pytest.raises(TargetsError, match=f"{name} differs from the manifest"):
        TargetSet.open(copy).targets()


def test_an_edited_manifest_is_refused(targets: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(targets, copy)
    (copy / "manifest.json").write_text((copy / "manifest.json").read_text().replace('"targets": ', '"targets": 1'))
    with pytest.raises(TargetsError, match="was edited"):
        TargetSet.open(copy)


def test_a_forged_target_with_right_hashes_is_still_found_invalid(targets: Path, bank: Path, tmp_path: Path) -> None:
    """Labels a no-shift target as a small shift and writes a new manifest over it."""
    opened = TargetSet.open(targets)
    forged = [
        t.model_copy(update={"seal": t.seal.model_copy(update={"level": "small"})}) if t.seal.level == "none" else t
        for t in opened.targets()
    ]
    write_lines(
        tmp_path / "targets.jsonl", ({"key": t.task.key, "task": t.task.model_dump(mode="json")} for t in forged)
    )
    write_lines(tmp_path / "seals.jsonl", ({"key": t.task.key, "seal": t.seal.model_dump(mode="json")} for t in forged))
    content = {k: v for k, v in opened.manifest.items() if k not in ("files", "digest")}
    write_manifest(tmp_path, content, ("targets.jsonl", "seals.jsonl"))
    found = verify_targets(tmp_path, bank_path=bank)
    assert found.differs is None
    assert found.reasons == {"level": opened.manifest["by_level"]["none"]}


def test_a_records_own_calls_pass_without_shift_and_fail_with_it(apps: World, bank: Path, targets: Path) -> None:
    opened, acceptance = Bank.open(bank), Acceptance(apps)
    outcomes = {level: set[bool]() for level in SHIFT_LEVELS}
    for target in TargetSet.open(targets).targets():
        assert target.seal.level is not None
        record = opened.record(target.seal.source or "")
        outcomes[target.seal.level].add(acceptance.replay(record, target.seal).success)
    assert outcomes == {"none": {True}, "small": {False}, "medium": {False}, "large": {False}}


def test_a_goal_that_spells_an_old_value_is_not_kept(apps: World, source: tuple[Record, Seal]) -> None:
    record, seal = source
    target = apps.shift(seal, "large", 1)
    old = str(changes(seal, target.seal)[0].source)
    task = target.task.model_copy(update={"goal": f"{target.task.goal} ({old.upper()})"})
    spelt = Target(task=task, seal=target.seal)
    assert leaks(seal, target) == ()
    assert leaks(seal, spelt) == (changes(seal, target.seal)[0].name,)
    assert Acceptance(apps).problem(record, seal, spelt) == "source-value-in-goal"


def test_a_target_that_the_records_own_calls_solve_is_not_kept(apps: World, source: tuple[Record, Seal]) -> None:
    """The source's own task, called a small shift for a binding that changes nothing."""
    record, seal = source
    idle = Binding(name="idle", kind="parameter", value="of no effect")
    twin = seal.model_copy(update={"bindings": (*seal.bindings, idle), "level": "small"})
    task = apps.sample(seal.family, int(str(seal.rollout["seed"]))).task if seal.rollout else None
    assert task is not None
    assert task.key == seal.task_key
    assert Acceptance(apps).problem(record, seal, Target(task=task, seal=twin)) == "literal-replay-passes"


def test_a_task_that_a_record_solves_is_no_target(bank: Path, targets: Path) -> None:
    """An agent would be handed the solution of the very task."""
    judge = Judge(Bank.open(bank), open_seals(bank))
    target = TargetSet.open(targets).targets()[0]
    source = target.seal.source or ""
    assert judge.problem(source, target) is None
    twin = judge.seals[source].model_copy(update={"task_key": target.task.key})
    seals = {**judge.seals, "another record": twin}
    assert Judge(judge.bank, seals).problem(source, target) == "in-bank"


def test_source_and_target_stand_side_by_side(targets: Path, bank: Path) -> None:
    opened = TargetSet.open(targets)
    target = next(t for t in opened.targets() if t.seal.level == "small")
    pair = side_by_side(opened, target.task.key[:16])
    (change,) = pair.changed
    assert pair.target_goal == target.task.goal
    assert pair.source_goal == Bank.open(bank).record(pair.record_id).instruction
    assert change.name == target.seal.changed[0]
    assert change.source != change.target == target.seal.values()[change.name]
    assert {b.name for b in pair.same} | {change.name} == set(target.seal.values())
    assert pair.world_changed is False


def test_a_key_that_names_no_target_is_refused(targets: Path) -> None:
    with pytest.raises(TargetsError, match=r"0 targets of .* have a key that begins with 'nothing'"):
        side_by_side(TargetSet.open(targets), "nothing")


def test_files_hold_one_json_object_a_line(targets: Path) -> None:
    for name in ("targets.jsonl", "seals.jsonl"):
        keys = [json.loads(line)["key"] for line in (targets / name).read_text().splitlines()]
        assert keys == sorted(keys)
