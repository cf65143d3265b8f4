"""τ-bench's recorded runs on the tools of τ²."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path
from typing import Any

import pytest
from support.originals import data, installed

from rebind.banks.files import silent
from rebind.envs.adapters.tau2.install import PLACE
from rebind.errors import UserError
from rebind.eval.bench.tau_replay import run_tau_replay


@pytest.fixture(scope="module")
def result() -> dict[str, Any]:
    installed(PLACE)
    return run_tau_replay(data("tau-bench"), silent)


def test_recorded_verdicts_come_out_again(result: dict[str, Any]) -> None:
    """Every recorded verdict, gold database and observation of the two replayable runs is reproduced."""
    airline, retail = result["airline"], result["retail"]
    assert (airline["agree"], airline["of"]) == (182, 182)
    assert (retail["agree"], retail["of"]) == (65, 65)
    for run in (airline, retail):
        assert run["replayable"]
        for part in ("gold_hash", "observations"):
            assert run[part]["equal"] == run[part]["of"] > 0
        for part in ("outputs", "verdicts"):
            assert run[part]["agree"] == run[part]["of"] > 0


def test_injected_faults_are_named(result: dict[str, Any]) -> None:
    """The run with injected faults is not replayable; the reasons count faults, reshaped rewards, other databases."""
    faulty = result["retail_faults"]
    assert not faulty["replayable"]
    assert [reason.split()[0] for reason in faulty["why_not"]] == ["123", "115", "78"]
    assert faulty["observations"]["of"] - faulty["observations"]["equal"] == 123


def test_wrong_database_is_noticed(tmp_path: Path) -> None:
    """On databases of another year the airline's gold databases are not the recorded ones; files may be unpacked."""
    installed(PLACE)
    shutil.copytree(data("tau-bench"), tmp_path / "tau", symlinks=True)
    for path in (tmp_path / "tau").rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    users = tmp_path / "tau" / "envs" / "airline" / "users.json.gz"
    shutil.copy(users, tmp_path / "tau" / "envs_2024-11" / "airline" / "users.json.gz")
    for name in ("retail-tool-calling", "retail-faults-503"):
        (tmp_path / "tau" / "runs" / f"{name}.json.gz").unlink()
    packed = tmp_path / "tau" / "runs" / "airline-gpt-4o.json.gz"
    packed.with_suffix("").write_bytes(gzip.decompress(packed.read_bytes()))
    packed.unlink()
    found = run_tau_replay(tmp_path / "tau", silent)["airline"]
    assert found["gold_hash"]["equal"] < found["gold_hash"]["of"]
    assert not found["replayable"]
    assert any("recorded on other databases" in why for why in found["why_not"])


def test_folder_without_runs_is_refused(tmp_path: Path) -> None:
    """A folder without any run is refused, naming what it should hold."""
    with pytest.raises(UserError, match="airline-gpt-4o"):
        run_tau_replay(tmp_path, silent)
