"""How binding values are drawn from a world. Each function returns a draw: `(view, rng, bound) -> value`.

`bound` holds the values fixed so far (all others, where a shift redraws one). A draw raises `CannotBuild` where the
world offers nothing.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from types import SimpleNamespace
from typing import Any, TypeAlias, TypeVar

from rebind.envs.apps.families.view import CannotBuild, View

Bound: TypeAlias = SimpleNamespace
"""Binding values by name, as attributes."""
Draw: TypeAlias = Callable[[Any, random.Random, Bound], Any]

T = TypeVar("T")


def one_of(rng: random.Random, options: Sequence[T], what: str) -> T:
    if not options:
        raise CannotBuild(f"no {what}")
    return options[rng.randrange(len(options))]


def words(options: str) -> tuple[str, ...]:
    """Texts written as one, divided by bars: "red | dark green | blue"."""
    return tuple(option.strip() for option in options.split("|"))


def choice(options: str | Sequence[Any]) -> Draw:
    """One of fixed values; texts may be written as `words` has them."""
    fixed = words(options) if isinstance(options, str) else options
    return lambda _view, rng, _bound: one_of(rng, fixed, "option")


def several(count: int, options: str) -> Draw:
    """A list of `count` of fixed texts (see `words`), in their given order."""
    fixed = words(options)
    return lambda _view, rng, _bound: [fixed[i] for i in sorted(rng.sample(range(len(fixed)), count))]


def phrase(template: str, **options: str) -> Draw:
    """A text from a template, one of the options (see `words`) in every field."""
    fixed = {name: words(some) for name, some in options.items()}
    return lambda _view, rng, _bound: template.format(**{name: one_of(rng, some, name) for name, some in fixed.items()})


def integer(low: int, high: int, step: int = 1) -> Draw:
    """A number from low to high, both included. Money is drawn so too, in cents."""
    return lambda _view, rng, _bound: rng.randrange(low, high + 1, step)


def day(first: int, last: int) -> Draw:
    """An ISO date, so many days from the world's today."""
    return lambda view, rng, _bound: (
        date.fromisoformat(view.today) + timedelta(days=rng.randint(first, last))
    ).isoformat()


def column(sql: str) -> Draw:
    """A value of the first column that the query finds in the world."""
    return lambda view, rng, _bound: one_of(rng, view.column(sql), sql)


def person(where: str = "1", *, apart: tuple[str, ...] = ()) -> Draw:
    """The full name of a contact (an SQL condition on `contacts`), unique among contacts, apart from those bound."""
    return lambda view, rng, bound: one_of(rng, _people(view, bound, where, apart), f"contact with {where}")


def people(count: int, where: str = "1", *, apart: tuple[str, ...] = ()) -> Draw:
    """A list of full names, each as `person` draws them."""

    def draw(view: View, rng: random.Random, bound: Bound) -> list[str]:
        fitting = _people(view, bound, where, apart)
        if len(fitting) < count:
            raise CannotBuild(f"fewer than {count} contacts with {where}")
        return sorted(rng.sample(fitting, count))

    return draw


def _people(view: View, bound: Bound, where: str, apart: tuple[str, ...]) -> list[str]:
    names = view.column("SELECT first_name || ' ' || last_name FROM contacts ORDER BY id")
    fitting = view.column(f"SELECT first_name || ' ' || last_name FROM contacts WHERE {where} ORDER BY id")
    used: set[str] = set()
    for name in apart:
        value = getattr(bound, name, [])
        used |= {value} if isinstance(value, str) else set(value)
    return [name for name in fitting if names.count(name) == 1 and name not in used]


def namesake(by: str = "company", where: str = "1", *, apart: tuple[str, ...] = ()) -> Draw:
    """A contact (an SQL condition on `contacts`) whose first name others share, as "First from Company", or with
    `by="city"` as "First in City", which is unique. `View.person` and `oracle.person` understand both."""
    word = {"company": "from", "city": "in"}[by]

    def draw(view: View, rng: random.Random, bound: Bound) -> str:
        people = view.rows(f"SELECT first_name AS first, {by} AS place, {where} AS fits FROM contacts ORDER BY id")
        firsts, named = Counter(p["first"] for p in people), Counter((p["first"], p["place"]) for p in people)
        used = {getattr(bound, name, None) for name in apart}
        fitting = [
            f"{p['first']} {word} {p['place']}"
            for p in people
            if p["fits"] and p["place"] and firsts[p["first"]] > 1 and named[p["first"], p["place"]] == 1
        ]
        return one_of(rng, [name for name in fitting if name not in used], f"namesake by {by} with {where}")

    return draw


def cents(amount: int) -> str:
    """An amount as a goal shows it: "$45.00"."""
    return f"${amount / 100:,.2f}"


def listing(names: Sequence[str]) -> str:
    """ "a, b and c"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else list(names))
