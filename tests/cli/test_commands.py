"""Commands print data as JSON when asked, and answer bad input with exit code 2 and one sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rebind.eval.demo import DEMO_STUDY


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("study", "plan", "nowhere.toml"), "does not exist"),
        (("bank", "show", "nowhere"), "nowhere"),
        (("bank", "show", "shipped:demo/bnak"), "did you mean 'demo/bank'"),
        (("targets", "show", "nowhere"), "nowhere"),
        (("targets", "build", "--out", "x"), "give either --bank"),
        (("ledger", "verify", "nowhere"), "nowhere"),
        (("ledger", "show", "nowhere", "--kind", "episodes"), "did you mean 'episode'"),
        (("audit", "nowhere"), "nowhere"),
        (("report", "nowhere"), "nowhere"),
        (("envs", "check", "ap"), "did you mean 'apps'"),
        (("envs", "check", "apps", "--family", "apps/star-newest-mial"), "did you mean"),
        (("bank", "build", "--out", "x", "--env", "apsp"), "did you mean 'apps'"),
        (("demo", "--write", str(DEMO_STUDY)), "exists"),
    ],
)
def test_bad_input_ends_with_code_2_and_one_sentence(
    rebind: Any, args: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = rebind(*args)
    assert code == 2
    assert out == ""
    assert said in err
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []  # nothing half-written


def test_an_unknown_option_ends_with_code_2(rebind: Any) -> None:
    assert rebind("study", "plan", "--jsno")[0] == 2


def test_the_plan_of_the_demo_names_its_cells_as_json(rebind: Any) -> None:
    code, out, _ = rebind("study", "plan", str(DEMO_STUDY), "--json")
    plan = json.loads(out)
    assert code == 0
    assert len(plan["cells"]) == plan["estimate"]["episodes"] > 0


def test_the_shipped_bank_verifies(rebind: Any) -> None:
    code, out, _ = rebind("bank", "verify", "shipped:demo/bank", "--json")
    assert (code, json.loads(out)["ok"]) == (0, True)


def test_a_target_is_shown_beside_its_source_with_old_and_new_values(rebind: Any) -> None:
    _, out, _ = rebind("targets", "show", "shipped:demo/targets", "--json")
    large = next(t for t in json.loads(out) if t["level"] == "large")
    _, out, _ = rebind("targets", "show", "shipped:demo/targets", large["key"], "--json")
    shown = json.loads(out)
    assert shown["changed"]
    assert all(c["source"] != c["target"] for c in shown["changed"])


def test_doctor_says_what_this_machine_has(rebind: Any) -> None:
    code, out, _ = rebind("doctor", "--json")
    assert code == 0
    assert {"Python", "extra local", "extra retrieval", "embedded model"} <= {f["what"] for f in json.loads(out)}


def test_environments_are_listed_with_their_families(rebind: Any) -> None:
    _, out, _ = rebind("envs", "list", "--json")
    apps = next(e for e in json.loads(out) if e["name"] == "apps")
    assert apps["families"] >= 24
