"""Pictures of the applications."""

from __future__ import annotations

from pathlib import Path

import pytest

from rebind.envs.sites import pictures


def test_a_picture_is_made_of_each_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each page that is named gives a PNG file of that name."""
    monkeypatch.setattr(pictures, "PAGES", {"catalog": "/office/catalog/", "charts": "/office/charts/"})
    made = pictures.screenshots(tmp_path / "images")
    assert [path.name for path in made] == ["catalog.png", "charts.png"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in made)
