"""Banks and targets on shared storage: read whole and checked, pushed once, never half of one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.s3 import s3, url  # noqa: F401  # fixtures

from rebind.banks.files import MANIFEST
from rebind.banks.remote import fetched, push
from rebind.banks.shipped import locate, shipped
from rebind.banks.storage import Remote, StorageError, url_of
from rebind.banks.store import Bank, verify
from rebind.banks.targets import TargetSet
from rebind.errors import UserError


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("s3://bucket/some/folder/", "s3://bucket/some/folder"),
        (Path("s3://bucket/some/folder"), "s3://bucket/some/folder"),
        (Path("GS://bucket/x"), "gs://bucket/x"),
        ("file:///tmp/x", "file:///tmp/x"),
        (Path("file:///tmp/x"), "file:///tmp/x"),
        ("shipped:demo/bank", None),
        ("runs/mine", None),
        ("/runs/mine", None),
        ("C:/runs/mine", None),
    ],
)
def test_a_url_is_told_from_a_path_also_when_it_was_made_one(given: Path | str, meant: str | None) -> None:
    assert url_of(given) == meant


def test_a_pushed_bank_is_found_by_its_url_as_it_was_frozen(url: str) -> None:  # noqa: F811
    digest = push(shipped("demo/bank"), url)
    found = locate(Path(url))
    assert verify(found) is None
    assert Bank.open(found).digest == digest == Bank.open(shipped("demo/bank")).digest
    assert push(found, url) == digest


def test_pushed_targets_are_found_by_their_url(url: str) -> None:  # noqa: F811
    push(shipped("demo/targets"), url)
    there, here = TargetSet.open(locate(Path(url))), TargetSet.open(shipped("demo/targets"))
    assert [t.task.key for t in there.targets()] == [t.task.key for t in here.targets()]


def test_what_was_read_once_is_not_read_again(url: str) -> None:  # noqa: F811
    push(shipped("demo/bank"), url)
    found = fetched(url)
    remote = Remote(url)
    for name in set(remote.entries()) - {MANIFEST}:
        remote.remove(name)
    assert fetched(url) == found


def test_another_bank_is_not_pushed_over_one(url: str) -> None:  # noqa: F811
    push(shipped("demo/bank"), url)
    with pytest.raises(StorageError, match="another frozen folder"):
        push(shipped("demo/targets"), url)


def test_a_file_that_was_changed_on_the_way_is_refused_and_named(url: str) -> None:  # noqa: F811
    push(shipped("demo/bank"), url)
    Remote(url).write("records.jsonl", b"{}\n")
    with pytest.raises(StorageError, match=r"records\.jsonl is not what the manifest says"):
        fetched(url)


def test_a_push_that_was_stopped_is_no_bank(url: str, tmp_path: Path) -> None:  # noqa: F811
    Remote(url).put(shipped("demo/bank") / "records.jsonl", "records.jsonl")
    with pytest.raises(StorageError, match="its push has not ended"):
        fetched(url)
    assert not [p for p in (tmp_path / "cache").rglob("*") if p.is_file()]


def test_a_folder_that_was_edited_is_not_pushed(url: str, tmp_path: Path) -> None:  # noqa: F811
    shutil.copytree(shipped("demo/bank"), tmp_path / "bank")
    (tmp_path / "bank" / "records.jsonl").chmod(0o644)
    (tmp_path / "bank" / "records.jsonl").write_text("{}\n")
    with pytest.raises(StorageError, match=r"records\.jsonl"):
        push(tmp_path / "bank", url)
    assert Remote(url).entries() == {}


def test_a_manifest_cannot_name_files_elsewhere(url: str, tmp_path: Path) -> None:  # noqa: F811
    from rebind.banks.files import write_manifest

    (tmp_path / "made").mkdir()
    (tmp_path / "secret").write_text("mine")
    write_manifest(tmp_path / "made", {"kind": "bank"}, ["../secret"])
    Remote(url).put(tmp_path / "made" / MANIFEST, MANIFEST)
    with pytest.raises(StorageError, match="no file of the folder"):
        fetched(url)


def test_an_unknown_protocol_is_named_with_the_nearest_one() -> None:
    with pytest.raises(UserError, match="no storage is called 'filee'; did you mean 'file'"):
        Remote("filee:///x")


def test_a_bucket_that_is_not_there_is_not_made(s3: None) -> None:  # noqa: F811
    with pytest.raises(StorageError, match="no such bucket"):
        push(shipped("demo/bank"), "s3://rebind-slip/bank")
