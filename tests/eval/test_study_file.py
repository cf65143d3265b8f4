"""A study file is read strictly, and what is wrong with it is said in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from rebind.errors import BankError, StudyError
from rebind.eval.study import Study, load_study

MINIMAL = 'name = "s"\nenvironments = ["apps"]\n[bank]\npath = "bank"\n[targets]\npath = "targets"\n'


def _load(folder: Path, text: str) -> Study:
    path = folder / "study.toml"
    path.write_text(text, encoding="utf-8")
    return load_study(path)


def test_a_minimal_study_gets_the_papers_decoding_and_all_five_conditions(tmp_path: Path) -> None:
    study = _load(tmp_path, MINIMAL)
    assert study.conditions == ("none", "full", "summary", "qcr", "skill")
    assert (study.decoding.temperature, study.decoding.top_p, study.decoding.max_tokens) == (0.2, 0.95, 4096)
    assert study.retrieval.k == 5


def test_relative_paths_are_resolved_against_the_files_folder(tmp_path: Path) -> None:
    assert _load(tmp_path, MINIMAL).bank.path == tmp_path / "bank"


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        ("[modle]\nactor = 'x'\n", "unknown key 'modle'; did you mean 'model'?"),
        ("[decoding]\ntemprature = 1\n", "unknown key 'decoding.temprature'; did you mean 'temperature'?"),
        ("[run]\nworkers = 0\n", "run.workers: Input should be greater than or equal to 1 (got 0)"),
        ("[model]\nplacement = 'middle'\n", "model.placement"),
    ],
)
def test_a_wrong_key_or_value_is_named_with_the_nearest_known_one(tmp_path: Path, extra: str, said: str) -> None:
    with pytest.raises(StudyError, match=r"study\.toml") as caught:
        _load(tmp_path, MINIMAL + extra)
    assert said in str(caught.value)


def test_a_missing_key_is_named(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="key 'bank' is missing"):
        _load(tmp_path, 'name = "s"\nenvironments = ["apps"]\n[targets]\npath = "t"\n')


def test_a_seed_named_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="seeds names a value twice"):
        _load(tmp_path, "seeds = [1, 1]\n" + MINIMAL)


@pytest.mark.parametrize("text", ["name = ", "\x00", 'name = "a"\nname = "b"'])
def test_what_is_no_toml_is_said_to_be_unreadable(tmp_path: Path, text: str) -> None:
    with pytest.raises(StudyError, match="cannot be read"):
        _load(tmp_path, text)


def test_a_missing_file_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="rebind demo --write"):
        load_study(tmp_path / "none.toml")


def test_an_unknown_shipped_bank_suggests_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(BankError, match="did you mean 'demo/bank'"):
        _load(tmp_path, MINIMAL.replace('"bank"', '"shipped:demo/bnak"'))
