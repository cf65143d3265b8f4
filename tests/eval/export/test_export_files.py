"""An export appears whole or not at all, and never in the place of something else."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from support.ledgers import MadeRun, call
from typer.testing import CliRunner

from rebind.cli.app import app
from rebind.errors import LedgerError, UserError
from rebind.eval.export import atif, inspect, parquet
from rebind.eval.export.files import MARK, export_folder, file_name


@pytest.fixture
def run(tmp_path: Path) -> Path:
    made = MadeRun(conditions=("none",), simulated=True)
    target = made.target("Do it.", made.record("source"))
    made.episode(target, "none", steps=[call("mail_list")])
    return made.write(tmp_path / "run")


def test_an_earlier_export_of_the_same_format_is_replaced_and_nothing_is_left_over(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    atif.export(run, out)
    first = {p.name: p.read_bytes() for p in out.iterdir()}
    atif.export(run, out)
    assert {p.name: p.read_bytes() for p in out.iterdir()} == first
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out", "run"]
    assert json.loads((out / MARK).read_bytes())["format"] == "atif"


@pytest.mark.parametrize("held", ["notes.txt", MARK])
def test_a_folder_that_is_no_export_is_refused_and_left_alone(run: Path, tmp_path: Path, held: str) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / held).write_text("{}", encoding="utf-8")
    with pytest.raises(UserError, match="is no atif export of Rebind"):
        atif.export(run, out)
    assert [p.name for p in out.iterdir()] == [held]


def test_an_export_of_another_format_or_with_foreign_files_is_refused(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    atif.export(run, out)
    with pytest.raises(UserError, match="no parquet export"), export_folder(out, "parquet", {}):
        pass
    (out / "mine.txt").touch()
    with pytest.raises(UserError, match="did not write"):
        atif.export(run, out)
    assert (out / "mine.txt").exists()


def test_a_run_folder_is_never_taken_for_an_output(run: Path) -> None:
    before = sorted(p.name for p in run.iterdir())
    with pytest.raises(UserError):
        atif.export(run, run)
    assert sorted(p.name for p in run.iterdir()) == before


def test_an_export_that_fails_leaves_the_earlier_one_and_no_half(tmp_path: Path) -> None:
    with export_folder(tmp_path / "out", "atif", {}) as folder:
        (folder / "a.json").write_text("1", encoding="utf-8")
    with pytest.raises(IsADirectoryError), export_folder(tmp_path / "out", "atif", {}) as folder:
        folder.joinpath("a.json").write_bytes((tmp_path / "out").read_bytes())
    assert (tmp_path / "out" / "a.json").read_text(encoding="utf-8") == "1"
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_an_empty_folder_may_be_filled(run: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    assert atif.export(run, tmp_path / "out")["episodes"] == 1


@pytest.mark.parametrize(("module", "extra"), [(inspect, "inspect"), (parquet, "parquet")])
def test_a_missing_extra_is_named_with_what_to_install(
    run: Path, tmp_path: Path, module: Any, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rebind.eval.export.files.find_spec", lambda name: None)
    assert importlib.util.find_spec("json")
    with pytest.raises(UserError, match=rf"pip install 'rebind\[{extra}\]'"):
        module.export(run, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_command_prints_a_summary_as_json_and_says_where_it_wrote(run: Path, tmp_path: Path) -> None:
    shown = CliRunner().invoke(app, ["export", "atif", str(run), "--out", str(tmp_path / "out"), "--json"])
    assert shown.exit_code == 0
    summary = json.loads(shown.stdout)
    assert (summary["format"], summary["episodes"], summary["simulated"]) == ("ATIF-v1.7", 1, True)
    otel = CliRunner().invoke(app, ["export", "otel", str(run), "--out", str(tmp_path / "o.jsonl"), "--json"])
    assert json.loads(otel.stdout)["spans"] == 3


def test_a_folder_without_a_run_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="name the folder of a run"):
        atif.export(tmp_path / "nowhere", tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_file_name_holds_nothing_but_letters_digits_dots_and_lines() -> None:
    assert file_name("rebind/Apps-v0", "q c:r", 3) == "rebind_Apps-v0__q_c_r__3"
