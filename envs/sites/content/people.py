"""Everyone with an account: one manager, six desk agents, and customers, who also write in the forum."""

from __future__ import annotations

import random
from typing import Any

from rebind.envs.sites.content.words import FIRST, LAST

MANAGER = "nora.lind"
AGENTS = ("amir.haddad", "bea.olsen", "carl.weiss", "dina.popov", "erik.sand", "faye.morton")
SHOPPERS = ("ada.fischer", "ben.osei", "cora.silva", "dan.keller", "eva.marsh")
"""Customers that every world has, for tasks whose account does not matter."""
CUSTOMERS = 60


def people(rng: random.Random) -> dict[str, list[Any]]:
    """Accounts by part: "manager", "agents", "customers"."""
    from django.contrib.auth.models import User
    from helpdesk.models import UserSettings

    made = {"manager": [_account(MANAGER, staff=True, root=True)]}
    made["agents"] = [_account(name, staff=True, root=True) for name in AGENTS]
    names = list(SHOPPERS)
    while len(names) < CUSTOMERS:
        name = f"{rng.choice(FIRST)}.{rng.choice(LAST)}".lower()
        if name not in names:
            names.append(name)
    made["customers"] = [_account(name) for name in names]
    everyone = [user for part in made.values() for user in part]
    User.objects.bulk_create(everyone)
    UserSettings.objects.bulk_create([UserSettings(user=user) for user in everyone])
    return made


def _account(name: str, staff: bool = False, root: bool = False) -> Any:
    from django.contrib.auth.models import User

    from rebind.envs.sites.project.clock import START

    first, last = name.title().split(".")
    return User(
        username=name,
        first_name=first,
        last_name=last,
        email=f"{name}@northgate.example",
        is_staff=staff,
        is_superuser=root,
        password="!",  # nobody signs in by password: the environment signs in
        date_joined=START,
    )
