"""The environment that `webarena-verified` lives in."""

from __future__ import annotations

from pathlib import Path

from rebind.envs.adapters.packaged import Packaged
from rebind.envs.adapters.venvs import Place

PLACE = Place(
    "webarena-verified",
    "1.2.3",
    # What its evaluators import: what it declares, and what that declares, but for beautifulsoup4 and
    # importlib_resources. Nothing of this asks a model; geocoder could go on the network, and is not called.
    (
        "webarena-verified==1.2.3",
        "annotated-types==0.8.0",
        "attrs==26.1.0",
        "certifi==2026.10.19.post1",
        "charset-normalizer==3.5.3",
        "click==8.5.1",
        "compact-json==1.8.1",
        "decorator==5.3.1",
        "flexcache==0.3",
        "flexparser==0.4",
        "future==1.0.0",
        "geocoder==1.38.1",
        "geographiclib==2.1",
        "geopy==2.4.1",
        "idna==3.20",
        "jellyfish==1.3.0",
        "jsonpath-ng==1.7.0",
        "Pint==0.25",
        "platformdirs==4.14.9",
        "ply==3.11",
        "price-parser==0.5.0",
        "probableparsing==0.0.1",
        "pydantic==2.12.0",
        "pydantic_core==2.41.1",
        "python-crfsuite==0.9.12",
        "python-dateutil==2.9.0.post0",
        "pytimeparse2==1.7.1",
        "PyYAML==6.0.4",
        "RapidFuzz==3.14.6",
        "ratelim==0.1.6",
        "requests==2.34.2",
        "six==1.17.0",
        "thefuzz==0.22.1",
        "typing-inspection==0.4.5",
        "typing_extensions==4.16.0",
        "Unidecode==1.4.0",
        "url-normalize==2.2.1",
        "urllib3==2.8.0",
        "us==3.2.0",
        "usaddress==0.5.16",
        "usaddress-scourgify==0.6.0",
        "wcwidth==0.9.4",
        "word2number==1.1",
        "yaml-config==0.1.5",
    ),
)
_PACKAGED = Packaged(PLACE, "webarena-verified", "webarena-verified", Path(__file__).resolve().parent / "side")
start, missing, install = _PACKAGED.start, _PACKAGED.missing, _PACKAGED.install


def dataset() -> Path:
    """The package's tasks. Raises UserError where it is not installed."""
    return _PACKAGED.file("webarena_verified/assets/dataset/webarena-verified.json", "the package's tasks")
