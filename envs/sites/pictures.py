"""A picture of every application with its content: what `rebind envs screenshots` makes for the documentation."""

from __future__ import annotations

from pathlib import Path

from rebind.envs.sites.content.people import MANAGER
from rebind.envs.sites.look import look

PAGES = {
    "shop": "/shop/catalogue/",
    "shop-dashboard": "/shop/dashboard/orders/",
    "forum": "/forum/",
    "wiki": "/wiki/",
    "service-desk": "/desk/dashboard/",
    "service-desk-tickets": "/desk/tickets/",
    "inventory": "/inventory/inventory/asset/",
    "service-catalog": "/office/catalog/",
    "charts": "/office/charts/",
}
"""What is shown, by the name of its picture."""


def screenshots(out: Path) -> list[Path]:
    """Saves a PNG file of each page in `PAGES` to the folder `out`.

    Raises:
        EnvironmentFailure: the sites or the browser did not start. UserError: there is no browser.
    """
    out.mkdir(parents=True, exist_ok=True)
    files = [out / f"{name}.png" for name in PAGES]
    look(MANAGER, list(PAGES.values()), files)
    return files
