"""Without the extra: nothing is imported, and what is missing is said."""

from __future__ import annotations

import subprocess
import sys

import pytest

from rebind.envs import world
from rebind.envs.sites import snapshot


def test_asking_whether_the_sites_can_run_imports_no_django() -> None:
    """Listing environments stays quick."""
    script = (
        "import sys; from rebind.envs import world; world('sites').unavailable(); world('desk').unavailable();"
        "print([m for m in ('django', 'oscar', 'machina', 'helpdesk', 'wiki', 'playwright') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_missing_package_is_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra is what to install."""
    monkeypatch.setattr(snapshot, "find_spec", lambda name: None if name == "machina" else object())
    assert world("sites").unavailable() == "the package django-machina is missing: pip install 'rebind[sites]'"
