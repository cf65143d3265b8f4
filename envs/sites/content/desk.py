"""The service desk and the office: queues, tickets, knowledge base, assets, service catalog."""

from __future__ import annotations

import datetime
import random
from decimal import Decimal
from typing import Any

from rebind.envs.sites.content import words
from rebind.envs.sites.project.clock import START

TICKETS, ASSETS, REQUESTS = 430, 320, 120


def desk(rng: random.Random, agents: list[Any], customers: list[Any]) -> None:
    from helpdesk.models import Queue

    queues = [
        Queue.objects.create(title=title, slug=slug, allow_public_submission=True, allow_email_submission=False)
        for title, slug in words.QUEUES.items()
    ]
    items = _knowledge(rng, queues)
    _tickets(rng, queues, agents, customers, items)
    _assets(rng, [*agents, *customers])
    _catalog(rng, [*agents, *customers])


def _knowledge(rng: random.Random, queues: list[Any]) -> list[Any]:
    from django.utils.text import slugify
    from helpdesk.models import KBCategory, KBItem

    made = []
    for place, (title, tasks) in enumerate(words.KNOWLEDGE.items()):
        category = KBCategory.objects.create(
            name=title, title=title, slug=slugify(title), description=f"Answers about {title.lower()}.",
            queue=queues[place % len(queues)], public=True,
        )  # fmt: skip
        for order, task in enumerate(tasks.split("|")):
            minutes, phone = rng.randrange(5, 90, 5), rng.randrange(1000, 9999)
            text = (
                f"Open the form, fill it in and send it. It takes {minutes} minutes. In case of trouble call {phone}."
            )
            item = KBItem(category=category, title=f"How to {task}", question=f"How do I {task}?", answer=text,
                          order=order, enabled=True, votes=0, recommendations=0)  # fmt: skip
            item.last_updated = START - datetime.timedelta(days=rng.randrange(3, 300))
            item.save()
            made.append(item)
    return made


def _tickets(rng: random.Random, queues: list[Any], agents: list[Any], customers: list[Any], items: list[Any]) -> None:
    from helpdesk.models import FollowUp, Ticket

    tickets, followups = [], []
    ages = sorted((rng.randrange(60, 60 * 24 * 120) for _ in range(TICKETS)), reverse=True)
    for age in ages:
        queue, who = rng.choice(queues), rng.choice(customers)
        at = START - datetime.timedelta(minutes=age)
        state = rng.choice((1, 1, 1, 2, 3, 4, 4))
        title = f"{rng.choice(words.TROUBLES[queue.slug].split('|'))} ({rng.choice(words.ROOMS)})"
        due = (START + datetime.timedelta(days=rng.randrange(-10, 40))).replace(hour=0)
        tickets.append(
            Ticket(
                title=title, queue=queue, created=at, modified=at, submitter_email=who.email, status=state,
                assigned_to=rng.choice([None, *agents]), on_hold=False, priority=rng.randrange(1, 6),
                description=" ".join(rng.sample(words.SENTENCES, 2)),
                resolution="Done." if state in (3, 4) else None, due_date=due, secret_key=f"{rng.getrandbits(64):016x}",
            )
        )  # fmt: skip
    Ticket.objects.bulk_create(tickets)
    for age, ticket in zip(ages, tickets, strict=True):
        for n in range(rng.randrange(0, 4)):
            followups.append(
                FollowUp(
                    ticket=ticket, date=START - datetime.timedelta(minutes=age - 15 * (n + 1)), title="Comment",
                    comment=rng.choice(words.REPLIES), public=n % 2 == 0, user=rng.choice(agents),
                )
            )  # fmt: skip
    FollowUp.objects.bulk_create(followups)
    _dates(ages, tickets)


def _dates(ages: list[int], tickets: list[Any]) -> None:
    """Saving a ticket stamps it with the present."""
    from django.db import connection

    moments = [START - datetime.timedelta(minutes=age) for age in ages]
    with connection.cursor() as cursor:
        cursor.executemany(
            "UPDATE helpdesk_ticket SET created = %s, modified = %s WHERE id = %s",
            [(at, at, ticket.pk) for at, ticket in zip(moments, tickets, strict=True)],
        )


def _assets(rng: random.Random, users: list[Any]) -> None:
    from rebind.envs.sites.inventory.models import KINDS, SITES, STATES, Asset

    made = []
    for n in range(ASSETS):
        kind = rng.choice(KINDS)
        model, state = rng.choice(words.MODELS[kind].split("|")), rng.choice((*STATES, "In use"))
        bought = START.date() - datetime.timedelta(days=rng.randrange(30, 1500))
        made.append(
            Asset(
                tag=f"NG-{kind[:2].upper()}-{1001 + n}", name=f"{model}", kind=kind, site=rng.choice(SITES),
                state=state, assigned_to=rng.choice(users) if state == "In use" else None,
                serial=f"{rng.getrandbits(40):010X}", purchased=bought,
                warranty_until=bought + datetime.timedelta(days=rng.choice((365, 730, 1095))),
                price=Decimal(rng.randrange(80, 2400)),
            )
        )  # fmt: skip
    Asset.objects.bulk_create(made)


def _catalog(rng: random.Random, users: list[Any]) -> None:
    from rebind.envs.sites.inventory.models import REQUEST_STATES, SITES, CatalogItem, ItemRequest

    items = []
    for category, entries in words.CATALOG.items():
        for entry in entries.split("|"):
            name, price, options = entry.split(":")
            items.append(
                CatalogItem.objects.create(
                    name=name, category=category, price=Decimal(price), options=options.replace(",", "\n"),
                    description=f"{rng.choice(words.QUALITIES)}. Delivered in {rng.randrange(2, 21)} days.",
                )
            )  # fmt: skip
    made = []
    for age in sorted((rng.randrange(1, 200) for _ in range(REQUESTS)), reverse=True):
        item, at = rng.choice(items), START - datetime.timedelta(days=age)
        made.append(
            ItemRequest(
                item=item, quantity=rng.randrange(1, 6), option=(rng.choice(item.options.split("\n")) or ""),
                needed_by=at.date() + datetime.timedelta(days=30), deliver_to=rng.choice(SITES),
                state=rng.choice(REQUEST_STATES), requested_by=rng.choice(users), requested_at=at,
                justification=rng.choice(words.REPLIES),
            )
        )  # fmt: skip
    ItemRequest.objects.bulk_create(made)
