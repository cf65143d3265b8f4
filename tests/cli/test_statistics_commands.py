"""`rebind power`, `rebind usable` and `rebind report --compare` as a person types them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.ledgers import MadeRun


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Two runs of six targets of six sources, two seeds; the second does better under qcr."""
    root, folders = tmp_path_factory.mktemp("runs"), []
    for name, late in (("before", 0), ("after", 4)):
        made = MadeRun(conditions=("none", "qcr"), seeds=(0, 1), simulated=True, name=name)
        for n in range(6):
            made.record(f"r{n}", {"person": "Ben Moss"})
            key = made.target(f"goal {n}", f"r{n}", {"person": "Anna"})
            for seed in (0, 1):
                made.episode(key, "none", n == 5 and seed == 0, seed=seed)
                made.episode(key, "qcr", n < late + seed, seed=seed)
        folders.append(str(made.write(root / name)))
    return folders[0], folders[1]


def test_two_runs_are_compared_as_json_page_and_files(rebind: Any, runs: tuple[str, str], tmp_path: Path) -> None:
    code, out, err = rebind("report", "--compare", *runs, "--out", str(tmp_path / "out"), "--json")
    assert code == 0
    found = json.loads(out)
    assert [s["label"] for s in found["sides"]] == ["before", "after"]
    whole = {"kind": "outcome", "metric": "success", "condition": "qcr", "treatment": "excluded", "dimension": "all"}
    one = [d for d in found["differences"] if all(d[k] == v for k, v in whole.items())]
    assert one[0]["effect"]["mean"] == pytest.approx(4 / 6)
    assert "compare.html" in err
    assert (tmp_path / "out" / "compare.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_several_runs_without_compare_and_one_with_it_are_refused(rebind: Any, runs: tuple[str, str]) -> None:
    code, _, err = rebind("report", *runs)
    assert (code, "--compare" in err) == (2, True)
    code, _, err = rebind("report", "--compare", runs[0])
    assert (code, "two run folders" in err) == (2, True)


def test_power_prints_what_each_contrast_needs(rebind: Any, runs: tuple[str, str]) -> None:
    code, out, _ = rebind("power", runs[1], "--effect", "20", "--json")
    assert code == 0
    found = json.loads(out)
    assert found["simulated"] is True
    need = found["contrasts"][0]["needs"][0]
    assert need["sources"] >= 2
    assert need["targets"] == need["sources"]
    code, out, _ = rebind("power", runs[1], "--effect", "20")
    assert (code, "SIMULATED" in out, "seeds" in out) == (0, True, True)
    code, _, err = rebind("power", runs[1], "--metric", "tokens")
    assert (code, "--metric" in err) == (2, True)


def test_a_template_is_written_labelled_and_scored(rebind: Any, runs: tuple[str, str], tmp_path: Path) -> None:
    blank = tmp_path / "ada.csv"
    assert rebind("usable", "template", runs[0], "--out", str(blank))[0] == 0
    code, _, err = rebind("usable", "score", str(blank), "--run", runs[0])
    assert (code, "column label: empty, as in 6 rows" in err) == (2, True)
    blank.write_text(blank.read_text(encoding="utf-8").replace(",,\n", ",workflow,\n"), encoding="utf-8")
    code, out, _ = rebind("usable", "score", str(blank), "--run", runs[0], "--json")
    assert code == 0
    judges = {j["name"]: j for j in json.loads(out)["judges"]}
    assert judges["ada"]["at"][0]["value"] == 1.0
