"""All APIs of the app world: importing this package fills `registry.REGISTRY`."""

from importlib import import_module
from pathlib import Path

for _name in sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py")):
    import_module(f"{__name__}.{_name}")
