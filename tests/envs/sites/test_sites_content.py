"""What the sites hold: at a scale where search and paging matter, the same in every build."""

from __future__ import annotations

import sqlite3
import subprocess
import sys

import pytest

from rebind.envs.sites.families.view import SiteView
from rebind.envs.sites.snapshot import child_environment, world_digest, world_image


@pytest.mark.parametrize(
    ("table", "least"),
    [
        ("catalogue_product", 500),
        ("order_order", 200),
        ("forum_conversation_topic", 150),
        ("forum_conversation_post", 1500),
        ("helpdesk_ticket", 400),
        ("wiki_article", 100),
        ("inventory_asset", 300),
    ],
)
def test_there_is_enough_of_everything(table: str, least: int) -> None:
    """Each table has at least the rows that the sites promise."""
    view = SiteView(sqlite3.connect(world_image()))
    assert view.value(f"SELECT count(*) FROM {table}") >= least


def test_the_content_is_the_same_in_another_process() -> None:
    """The digest of the content does not depend on the process that computes it."""
    script = "from rebind.envs.sites.snapshot import world_digest; print(world_digest())"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=child_environment()
    )
    assert done.stdout.strip() == world_digest()
