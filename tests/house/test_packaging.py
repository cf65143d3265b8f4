"""The wheel, the sdist and the editable install carry the same files."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
IGNORED = shutil.ignore_patterns(".*", "build", "dist", "runs", "*.egg-info", "__pycache__")
PACKAGES = ("agents", "banks", "envs", "eval", "memory", "prompts")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """(wheel from the checkout, sdist, wheel from that sdist)."""
    out = tmp_path_factory.mktemp("dist")
    checkout = out / "checkout"  # a copy: setuptools leaves a build folder that would leak into later wheels
    shutil.copytree(ROOT, checkout, symlinks=True, ignore=IGNORED)
    _build("--wheel", "--outdir", str(out / "direct"), str(checkout))
    _build("--sdist", "--outdir", str(out), str(checkout))
    sdist = next(out.glob("*.tar.gz"))
    (out / "unpacked").mkdir()
    subprocess.run(["tar", "-xzf", sdist, "-C", out / "unpacked"], check=True)  # tarfile's safe way needs Python 3.11.4
    source = next((out / "unpacked").iterdir())
    _build("--wheel", "--outdir", str(out / "again"), str(source))
    return next((out / "direct").glob("*.whl")), sdist, next((out / "again").glob("*.whl"))


def _build(*args: str) -> None:
    command = [sys.executable, "-m", "build", "--no-isolation", *args]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


def _members(wheel: Path) -> dict[str, int]:
    with zipfile.ZipFile(wheel) as archive:
        return {i.filename: i.CRC for i in archive.infolist() if i.filename.startswith("rebind/")}


def _tracked() -> set[str]:
    """Package files git knows or would add, as their names inside the import root."""
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard", *PACKAGES, "src/rebind"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split("\n")
    return {f"rebind/{name.removeprefix('src/rebind/')}" for name in listed if (ROOT / name).is_file()}


def test_wheel_holds_every_file_of_the_checkout_and_nothing_else(built: tuple[Path, Path, Path]) -> None:
    assert set(_members(built[0])) == _tracked()


def test_wheel_from_the_sdist_is_the_wheel_from_the_checkout(built: tuple[Path, Path, Path]) -> None:
    assert _members(built[2]) == _members(built[0])


def test_wheel_installs_one_top_level_name(built: tuple[Path, Path, Path]) -> None:
    with zipfile.ZipFile(built[0]) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}
    assert {t for t in tops if not t.endswith(".dist-info")} == {"rebind"}


def test_every_package_folder_is_reached_through_a_link() -> None:
    for name in PACKAGES:
        link = ROOT / "src" / "rebind" / name
        assert link.is_symlink()
        assert link.resolve() == ROOT / name
