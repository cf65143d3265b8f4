"""Declared effects: which records a task may add, change or remove, and with what values.

Effects take their changes out of a pool; what is left in it at the end is collateral damage. An effect with a `mark`
("id: text") is a milestone as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from rebind.envs.apps.families.answers import plain
from rebind.envs.apps.families.difference import Change
from rebind.envs.apps.families.view import View
from rebind.envs.apps.state import Key, Row

Match = Any
"""A value the column must equal, or a predicate on it (`has`, `says`, `anything`, or one's own)."""


def has(*parts: str) -> Callable[[Any], bool]:
    """A text that contains every part, whatever its case and spacing: a greeting around a message is no error."""
    wanted = [plain(part) for part in parts]
    return lambda value: isinstance(value, str) and all(part in plain(value) for part in wanted)


def says(text: str) -> Callable[[Any], bool]:
    """A text that equals this one but for case, spacing, quotes and final punctuation."""
    return lambda value: isinstance(value, str) and plain(value) == plain(text)


def anything(_value: Any) -> bool:
    return True


def fits(row: Row, where: dict[str, Match]) -> bool:
    """Whether a row's columns match. Raises KeyError for a column the table does not have."""
    return all(test(row[name]) if callable(test) else row[name] == test for name, test in where.items())


def _values(table: str, where: dict[str, Match]) -> str:
    return f"{table} ({', '.join(f'{n} as asked' if callable(v) else f'{n} {v!r}' for n, v in where.items())})"


class Pool:
    """The changes of an episode not yet accounted for."""

    def __init__(self, changes: Iterable[Change]) -> None:
        self._left: dict[tuple[str, Key], tuple[Change, frozenset[str]]] = {
            (change.table, change.key): (change, change.columns) for change in changes
        }

    def of(self, table: str) -> list[Change]:
        return [change for change, _ in self._left.values() if change.table == table]

    def find(self, table: str, key: Key) -> Change | None:
        return self._left.get((table, key), (None, None))[0]

    def take(self, change: Change, columns: Iterable[str] | None = None) -> None:
        """Accounts for a change, or for some of a changed record's columns."""
        left = self._left[change.table, change.key][1].difference(columns) if columns is not None else frozenset[str]()
        if left:
            self._left[change.table, change.key] = (change, left)
        else:
            del self._left[change.table, change.key]

    def leftovers(self) -> tuple[str, ...]:
        """What nothing accounted for, in words."""
        return tuple(
            f"{change}" if columns == change.columns else f"{change} (not expected: {', '.join(sorted(columns))})"
            for change, columns in self._left.values()
        )


class Effect(Protocol):
    mark: str | None
    required: bool

    def settle(self, pool: Pool) -> bool:
        """Takes its changes out of the pool; False where they are not all there."""
        ...

    def __str__(self) -> str: ...


class Part:
    """A record added together with another that it points to (an attachment, an attendee, an order and its items)."""

    def __init__(self, table: str, link: str, /, *, parts: tuple[Part, ...] = (), **where: Match) -> None:
        """`link`: the column that holds the id of the record it belongs to. `parts`: what in turn belongs to it."""
        self.table, self.link, self.parts, self.where = table, link, parts, where


class Added:
    """`times` records added to a table, each matching `where` and with all its `parts`."""

    def __init__(
        self,
        table: str,
        /,
        *,
        parts: tuple[Part, ...] = (),
        times: int = 1,
        mark: str | None = None,
        required: bool = True,
        **where: Match,
    ) -> None:
        self.table, self.parts, self.times, self.where = table, parts, times, where
        self.mark, self.required = mark, required

    def settle(self, pool: Pool) -> bool:
        found = 0
        while found < self.times and (whole := _added(pool, self.table, self.where, self.parts, [])):
            for change in whole:
                pool.take(change)
            found += 1
        return found == self.times

    def __str__(self) -> str:
        with_parts = "".join(f", and with it {_values(part.table, part.where)}" for part in self.parts)
        return f"{self.times} added to {_values(self.table, self.where)}{with_parts}"


def _added(
    pool: Pool, table: str, where: dict[str, Match], parts: tuple[Part, ...], taken: list[Change]
) -> list[Change] | None:
    """An added record that matches, and its parts', leaving out those taken already; None where there is none."""
    for change in pool.of(table):
        if change.before is None and change.after and change not in taken and fits(change.after, where):
            whole = _with_parts(pool, change, parts, taken)
            if whole is not None:
                return whole
    return None


def _with_parts(pool: Pool, owner: Change, parts: tuple[Part, ...], taken: list[Change]) -> list[Change] | None:
    whole = [owner]
    for part in parts:
        below = {**part.where, part.link: owner.key[0]}
        found = _added(pool, part.table, below, part.parts, [*taken, *whole])
        if found is None:
            return None
        whole += found
    return whole


class Changed:
    """One record whose columns now match; its other columns stay."""

    def __init__(
        self, table: str, key: str | int | Key, /, *, mark: str | None = None, required: bool = True, **to: Match
    ) -> None:
        self.table, self.key, self.to = table, key if isinstance(key, tuple) else (key,), to
        self.mark, self.required = mark, required

    def settle(self, pool: Pool) -> bool:
        change = pool.find(self.table, self.key)
        if change is None or change.before is None or change.after is None or not fits(change.after, self.to):
            return False
        pool.take(change, self.to)
        return True

    def __str__(self) -> str:
        return f"{'/'.join(map(str, self.key))} changed in {_values(self.table, self.to)}"


class Removed:
    """One record removed."""

    def __init__(self, table: str, key: str | Key, /, *, mark: str | None = None, required: bool = True) -> None:
        self.table, self.key = table, key if isinstance(key, tuple) else (key,)
        self.mark, self.required = mark, required

    def settle(self, pool: Pool) -> bool:
        change = pool.find(self.table, self.key)
        if change is None or change.after is not None:
            return False
        pool.take(change)
        return True

    def __str__(self) -> str:
        return f"{self.table} {'/'.join(map(str, self.key))} removed"


def paid(start: View, account: str, payments: Sequence[tuple[str, int, str]], mark: str) -> list[Effect]:
    """The effects of payments (counterparty, cents, reference) from one bank account: a transaction each, with the
    milestone `mark` numbered ("paid: …" gives paid-1, paid-2 …), and the lower balance."""
    name, _, text = mark.partition(": ")
    balance = start.value("SELECT balance FROM bank_accounts WHERE id = ?", account)
    booked = [
        Added("transactions", account_id=account, counterparty=who, amount=-cents, reference=has(reference),
              category=anything, mark=f"{name}-{i}: {text} ({who})")
        for i, (who, cents, reference) in enumerate(payments, 1)
    ]  # fmt: skip
    return [*booked, Changed("bank_accounts", account, balance=balance - sum(cents for _, cents, _ in payments))]


@dataclass(frozen=True)
class Settled:
    """An effect and whether it came about."""

    effect: Effect
    met: bool


def settle(effects: Iterable[Effect], changes: Iterable[Change]) -> tuple[tuple[Settled, ...], tuple[str, ...]]:
    """Which effects came about, and the collateral damage in words. Effects are settled in their order."""
    pool = Pool(changes)
    settled = tuple(Settled(effect, effect.settle(pool)) for effect in effects)
    return settled, pool.leftovers()
