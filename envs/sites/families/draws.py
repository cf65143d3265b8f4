"""Draws that several families of the sites share."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from rebind.envs.apps.families.draw import Bound, Draw, one_of
from rebind.envs.apps.families.effects import Match
from rebind.envs.sites.families.view import CannotBuild, SiteView


def query(sql: str, *names: str) -> Draw:
    """A value of the first column that the query finds; its `?` are the bound values of those names, in order."""

    def drawn(view: SiteView, rng: random.Random, bound: Bound) -> Any:
        return one_of(rng, view.column(sql, *(getattr(bound, name) for name in names)), sql)

    return drawn


def queries(count: int, sql: str, *names: str) -> Draw:
    """A list of `count` values as `query` draws them, all different."""

    def drawn(view: SiteView, rng: random.Random, bound: Bound) -> list[Any]:
        found = view.column(sql, *(getattr(bound, name) for name in names))
        if len(found) < count:
            raise CannotBuild(f"fewer than {count}: {sql}")
        return [found[i] for i in sorted(rng.sample(range(len(found)), count))]

    return drawn


def money(value: float) -> Match:
    """An amount, however the database writes it."""
    return lambda given: abs(float(given) - value) < 0.005


def either(*values: Any) -> Match:
    """One of several values."""
    return lambda given: given in values


def lookup(sql: str, *names: str) -> Callable[[SiteView, Bound], Any]:
    """For `Grounded`: the only value that the query finds for the bound values of those names."""
    return lambda view, bound: view.value(sql, *(getattr(bound, name) for name in names))


def dollars(value: float) -> str:
    """An amount as pages show it."""
    return f"${value:,.2f}"


def listed(values: Sequence[Any]) -> str:
    """ "a", "b" and "c", each in quotes."""
    quoted = [f'"{value}"' for value in values]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)


CUSTOMER = query("SELECT username FROM auth_user WHERE is_staff = 0 ORDER BY id")
"""A customer's user name."""
PRODUCT = query(
    "SELECT title FROM catalogue_product p JOIN partner_stockrecord s ON s.product_id = p.id WHERE s.num_in_stock > 5 "
    "GROUP BY title HAVING count(*) = 1 ORDER BY title"
)
"""The title of a product in stock."""
NO_PRODUCT = query(
    "SELECT series || ' ' || thing FROM (SELECT DISTINCT substr(title, 1, instr(title, ' ') - 1) AS series FROM "
    "catalogue_product), (SELECT DISTINCT substr(title, instr(title, ' ') + 1) AS thing FROM catalogue_product) "
    "WHERE series || ' ' || thing NOT IN (SELECT title FROM catalogue_product) ORDER BY 1"
)
"""A title that sounds like one of the shop's and is not."""
_OPEN_TICKETS = (
    "SELECT title FROM helpdesk_ticket WHERE status IN (1, 2) GROUP BY title HAVING count(*) = 1 AND "
    "(SELECT count(*) FROM helpdesk_ticket t WHERE t.title = helpdesk_ticket.title) = 1 ORDER BY title"
)
TICKET = query(_OPEN_TICKETS)
"""The title of an open ticket that no other ticket has."""
NO_TICKET = query(
    "SELECT trouble || ' (' || room || ')' FROM (SELECT DISTINCT substr(title, 1, instr(title, ' (') - 1) AS trouble "
    "FROM helpdesk_ticket), (SELECT DISTINCT substr(title, instr(title, ' (') + 2, length(title) - "
    "instr(title, ' (') - 2)"
    " AS room FROM helpdesk_ticket) WHERE trouble || ' (' || room || ')' NOT IN (SELECT title FROM helpdesk_ticket) "
    "ORDER BY 1"
)
"""A title that no ticket has."""
ASSET = query("SELECT tag FROM inventory_asset ORDER BY id")
"""The tag of an asset."""
AGENT = query("SELECT first_name || ' ' || last_name FROM auth_user WHERE is_staff = 1 ORDER BY id")
"""Someone of the service desk, by full name."""
TICKET_ID = lookup("SELECT id FROM helpdesk_ticket WHERE title = ?", "ticket")


def tickets(count: int) -> Draw:
    """Titles of open tickets, each as `TICKET` draws them."""
    return queries(count, _OPEN_TICKETS)


def differs(view: SiteView, table: str, key: int, **values: Any) -> None:
    """Raises `CannotBuild` where the record already has one of the values: nothing would be left to do."""
    row = view.row(f"SELECT * FROM {table} WHERE id = ?", key)
    for name, value in values.items():
        if row[name] == value:
            raise CannotBuild(f"{table} {key} has {name} {value!r} already")
