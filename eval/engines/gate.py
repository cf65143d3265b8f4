"""One limit of requests to each provider for all processes of a run, and one word on whether episodes still begin.

`Gate` is an actor on the machine of the run's own process: it holds the limiters that `agents.limiter` gives a single
process, so that a "too many" that one process is told slows all of them down, and a Retry-After holds for all.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from typing import Any

from rebind.agents.limiter import Limiter, Told

WAIT, ACT = "wait", "act"
"""Concurrency groups of the actor. Whoever waits for a slot has a thread there; all else is done by one thread, and
never behind those who wait."""


class Gate:
    """The limiters of all providers, and who holds which slot. A holder that is lost gives its slots back."""

    def __init__(self) -> None:
        self._limiters: dict[str, Limiter] = {}
        self._tickets = count()
        self._held: dict[int, tuple[str, ExitStack]] = {}
        """Holder and slot, by ticket."""
        self._lost: set[str] = set()
        self._shut = False
        self._lock = threading.Lock()

    def begin_no_more(self) -> None:
        """No other episode is to begin."""
        self._shut = True

    def may_begin(self) -> bool:
        return not self._shut

    def enter(self, provider: str, most: int, holder: str) -> tuple[int, int, int]:
        """Waits for a slot: the ticket to leave with, what `cut` wants to be told, and the limit."""
        with self._lock:
            limiter = self._limiters.setdefault(provider, Limiter(most))
        slot = ExitStack()
        epoch = slot.enter_context(limiter.slot())
        with self._lock:
            ticket = next(self._tickets)
            self._held[ticket] = holder, slot
            lost = holder in self._lost
        if lost:
            self.leave(ticket)
        return ticket, epoch, limiter.limit

    def leave(self, ticket: int) -> None:
        """Gives a slot back; twice is once."""
        with self._lock:
            _, slot = self._held.pop(ticket, ("", ExitStack()))
        slot.close()

    def lost(self, holder: str) -> None:
        """Gives back what a holder has, and what it still waits for once it gets it."""
        with self._lock:
            self._lost.add(holder)
            tickets = [ticket for ticket, (whose, _) in self._held.items() if whose == holder]
        for ticket in tickets:
            self.leave(ticket)

    def pause(self, provider: str, seconds: float) -> None:
        self._limiters[provider].pause(seconds)

    def cut(self, provider: str, epoch: int, why: str) -> tuple[int, bool]:
        """The limit, and whether it changed."""
        return self._changed(provider, lambda limiter: limiter.cut(epoch, why))

    def grow(self, provider: str) -> tuple[int, bool]:
        """The limit, and whether it changed."""
        return self._changed(provider, Limiter.grow)

    def limited(self) -> dict[str, int]:
        """As `rebind.agents.llm.LLM.limited`, of all processes."""
        with self._lock:
            return {name: one.limit for name, one in self._limiters.items() if one.limit < one.most}

    def _changed(self, provider: str, change: Callable[[Limiter], None]) -> tuple[int, bool]:
        limiter = self._limiters[provider]
        before = limiter.limit
        change(limiter)
        return limiter.limit, limiter.limit != before


class GatedSlots:
    """`rebind.agents.limiter.Slots` of one provider, in one of the processes: it asks the gate."""

    def __init__(self, gate: Any, provider: str, most: int, told: Told, holder: Callable[[], str]) -> None:
        """`gate`: a handle of the actor. `holder`: who asks, at the moment."""
        self.most = self.limit = most
        self._gate, self._provider, self._told, self._holder = gate, provider, told, holder

    @contextmanager
    def slot(self) -> Iterator[int]:
        ticket, epoch, self.limit = self._ask("enter", self.most, self._holder(), group=WAIT)
        try:
            yield epoch
        finally:
            tell(self._gate, "leave", ticket)

    def pause(self, seconds: float) -> None:
        self._ask("pause", seconds)

    def cut(self, epoch: int, why: str) -> None:
        limit, changed = self._ask("cut", epoch, why)
        self._hear(limit, changed, why)

    def grow(self) -> None:
        if self.limit < self.most:
            limit, changed = self._ask("grow")
            self._hear(limit, changed, "answers")

    def _hear(self, limit: int, changed: bool, why: str) -> None:
        self.limit = limit
        if changed:
            self._told(limit, why)

    def _ask(self, what: str, *about: Any, group: str = ACT) -> Any:
        return fetch(tell(self._gate, what, self._provider, *about, group=group))


def tell(gate: Any, what: str, *about: Any, group: str = ACT) -> Any:
    """Calls a method of the actor; gives a reference to what it will answer."""
    return getattr(gate, what).options(concurrency_group=group).remote(*about)


def fetch(reference: Any) -> Any:
    """The value of an object-store reference. A task that calls `ray.get` gives its processor away while it waits, and
    another task begins there; waiting for a future is not noticed."""
    return reference.future().result()
