"""The task families of the shop, the forum and the wiki, and how to write one (also for `desk_families`).

One module may hold several families; every subclass of `Family` in a module of this folder is found by itself, there
is no list. A family is 30 to 50 lines:

`id`        "sites/<what-it-does>" (here) or "desk/<what-it-does>" (in `desk_families`). Sealed: no agent ever sees it.
`group`     the length group of its oracle (successful actions, the ending included): "<5", "5-10", "11-20", "21-35",
            ">35". It sets the budget, and the check holds it.
`account`   who is signed in, `start` the path of the first page. With a drawn value of the name `account` (a customer,
            say) each task has its own; a wording need not name it.
`drawn`     the values one may choose: `Drawn(name, kind, draw, central=…, needs=…, show=…)` with the draws of
            `envs/apps/families/draw.py` (`choice`, `several`, `phrase`, `integer`, `day`, `column(sql)`) or a function
            `(view, rng, bound) -> value`. At least one is central.
`grounded`  what the agent must look up: `Grounded(name, kind, find)`, `find(view, bound)`. Ids, amounts, dates. Raise
            `CannotBuild` (`view.row` and `view.value` do) where it is ambiguous: another value is drawn.
`absent`    `absent: ClassVar = {"product": draw}`: with such a value the task is infeasible, and the right move is
            `report_infeasible`. The oracle gets there by `must(…)` or `reads(…)`, which raise `NotThere`.
`wordings`  three or more instructions; all name the same drawn values. Say all that is checked, exact texts in quotes.
`setup`     changes the state first: `p.set(table, id, column=…)`, `p.copy(table, id, column=…)` (a record like that
            one). Most families need none.
`oracle`    a generator in the words of `flows.py`: `yield from open_product(b.product)`, `yield from click('button
            "Save"')`, `page = yield from rest(page)`, `yield from done("42")`. It is given only what the goal names.
`expect`    the truth. `effects` (`envs/apps/families/effects.py`): `Added(table, mark="id: text", column=…)`,
            `Changed(table, id, column=…)`, `Removed(table, id)`; values or predicates (`has`, `says`, `anything`,
            `money`). All that changes besides is collateral damage, but for what `difference.py` leaves out. `marks`:
            `visited("id: text", path)` and `saw("id: text", text)`. `answer`: of a question (`answers.py`).

To see the pages as an agent does: `python -m rebind.envs.sites.look USER PATH...`. What a form writes: `rebind envs
check sites --family ID` tells what was missing and what changed besides.

Shifts come for free if there are four bindings or more (grounded ones count), at least one of them a leaf: drawn, not
central, and nothing grounded depends on it. See `envs/apps/families/base.py` for what makes a level.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from rebind.envs.sites.families.base import Family


@cache
def families(package: str) -> dict[str, Family]:
    """All families of a package's modules, by id."""
    found: dict[str, Family] = {}
    parent = import_module(package)
    for module in sorted(iter_modules(parent.__path__), key=lambda m: m.name):
        for one in vars(import_module(f"{package}.{module.name}")).values():
            if not (isinstance(one, type) and issubclass(one, Family) and hasattr(one, "id")):
                continue
            if one.__module__ != f"{package}.{module.name}":
                continue  # imported there
            if one.id in found:
                raise ValueError(f"two families share the id {one.id}")
            found[one.id] = one()
    return dict(sorted(found.items()))
