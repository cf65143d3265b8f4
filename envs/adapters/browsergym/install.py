"""What BrowserGym imports, pinned: it wants another Playwright than ours, so it lives in environments of its own."""

from __future__ import annotations

from pathlib import Path

from rebind.envs.adapters.packaged import Packaged
from rebind.envs.adapters.venvs import Place

_CORE = "browsergym-core==0.14.3"
_IMPORTED = (
    "beautifulsoup4==4.14.2",
    "certifi==2026.10.19.post1",
    "charset-normalizer==3.5.3",
    "cloudpickle==3.1.2",
    "Farama-Notifications==0.0.4",
    "greenlet==3.0.3",
    "gymnasium==1.2.2",
    "idna==3.20",
    "lxml==5.4.0",
    "numpy==2.4.1",
    "pillow==12.1.0",
    "playwright==1.44.0",
    "pyee==11.1.0",
    "pyparsing==3.2.5",
    "requests==2.34.2",
    "soupsieve==2.8",
    "tqdm==4.70.1",
    "typing_extensions==4.16.0",
    "urllib3==2.8.0",
)


def packaged(package: str, version: str, world: str, *others: str) -> Packaged:
    """A benchmark's package with BrowserGym and `others`, all pinned; the side of this folder answers for it."""
    requirements = (f"{package}=={version}", _CORE, *sorted((*_IMPORTED, *others), key=str.lower))
    return Packaged(Place(package, version, requirements), package, world, Path(__file__).resolve().parent / "side")
