"""All APIs of the app world: importing this package fills `registry.REGISTRY`; `api_docs_show` documents each.

Conventions that hold for all of them: a tool is named app + "_" + verb. All apps but supervisor and api_docs need an
`access_token` from `supervisor_login`. Listings take `page` (from 1) and `page_size` (10, at most 20), answer
`{"items", "page", "pages", "total"}` and show short items; `*_show` shows all of one. Money is in cents, dates are
2026-03-14, times 2026-03-14T09:30. Refusals: 401 (token missing or wrong), 404 (no such id), 422 (which parameter, why,
the nearest known word).
"""

from importlib import import_module
from pathlib import Path

for _name in sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py")):
    import_module(f"{__name__}.{_name}")
