"""Builds the sites' database and static files, in a process of its own:
`python -m rebind.envs.sites.content.build FOLDER`.

The same code and packages give the same content, whatever the machine.
"""

from __future__ import annotations

import os
import random
import sqlite3
import sys
import uuid
from pathlib import Path


def build(folder: Path) -> None:
    """Writes `world.sqlite3` and `static/` into an empty folder."""
    os.environ["REBIND_SITES_DB"] = str(folder / "world.sqlite3")
    os.environ["REBIND_SITES_STATIC"] = str(folder / "static")
    os.environ["DJANGO_SETTINGS_MODULE"] = "rebind.envs.sites.project.settings"
    from rebind.envs.sites.project import clock

    rng = random.Random("the sites")
    random.seed("the sites' own libraries")
    uuid.uuid4 = lambda: uuid.UUID(int=rng.getrandbits(128), version=4)  # ids that some tables keep
    clock.install()
    clock.now = lambda: clock.START
    from django.utils import timezone

    timezone.now = clock.now
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", run_syncdb=True, verbosity=0)
    _fill(rng)
    call_command("collectstatic", interactive=False, verbosity=0)
    _close(folder / "world.sqlite3")


def _fill(rng: random.Random) -> None:
    from django.contrib.sites.models import Site
    from django.core.management import call_command
    from django.db import transaction

    from rebind.envs.sites.content.desk import desk
    from rebind.envs.sites.content.forum import forum
    from rebind.envs.sites.content.people import people
    from rebind.envs.sites.content.shop import shop
    from rebind.envs.sites.content.wiki import wiki

    with transaction.atomic():
        Site.objects.update_or_create(pk=1, defaults={"domain": "northgate.example", "name": "Northgate"})
        call_command("loaddata", "emailtemplate.json", verbosity=0)
        everyone = people(rng)
        customers, agents = everyone["customers"], everyone["agents"]
        shop(rng, customers)
        forum(rng, customers)
        wiki(rng, [*everyone["manager"], *agents])
        desk(rng, [*everyone["manager"], *agents], customers)


def _close(path: Path) -> None:
    """One file, without a journal beside it; images with one cannot be read from memory."""
    from django.db import connections

    connections.close_all()
    db = sqlite3.connect(path)
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.execute("PRAGMA journal_mode=DELETE")
    db.execute("VACUUM")
    db.close()


if __name__ == "__main__":
    build(Path(sys.argv[1]))
