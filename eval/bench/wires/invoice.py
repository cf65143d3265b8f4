"""Holds a ledger against the provider's invoice. All of it is computed here anew, from the bytes of the ledger and from
what the provider says it sent; nothing of the code under test is asked."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from rebind.agents.simulated import tokens
from rebind.eval.bench.wires.provider import Line
from rebind.types import Usage

Json = dict[str, Any]
_EMPTY_TRIES = 3
"""An answer that is empty so often in a row is the model's own."""
_CENT = 1e-9
"""Dollars by which two sums of the same prices may differ."""


@dataclass(frozen=True)
class Price:
    """Dollars a token."""

    prompt: float
    read: float
    written: float
    completion: float


@dataclass
class _Episode:
    """One attempt at a cell, as the ledger has it."""

    cell: str
    attempt: int
    support: Json | None = None
    calls: list[Json] = field(default_factory=list)
    account: Json | None = None

    @property
    def rows(self) -> Iterator[tuple[str, Json]]:
        """Model calls with their place: the writer's, then the actor's."""
        writer = self.support["completions"] if self.support else []
        yield from ((f"writer {n}", row) for n, row in enumerate(writer))
        yield from ((f"call {n}", row) for n, row in enumerate(self.calls))


@dataclass
class _Counted:
    """One answered call, with what the invoice says of it."""

    actor: bool
    told: Usage
    memory: int | None
    replayed: bool
    line: Line


@dataclass
class Check:
    """The outcome. `counts`: how many calls, attempts, replays, and responses of each kind there were."""

    episodes: int = 0
    violations: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


class Auditor:
    """Goes through a ledger and an invoice side by side."""

    def __init__(self, invoice: Sequence[Line], prices: Mapping[str, Price]) -> None:
        """`prices` by the model's name in requests; a name that is not there has no price."""
        self._lines, self._prices = iter(invoice), prices
        self._left = len(invoice)
        self._originals: dict[tuple[str, str], Line] = {}
        """By cell and place: what a replay stands for."""
        self._first: dict[tuple[str, str], tuple[str, int | None, str]] = {}
        """By cell: prompt of the first call, M as the ledger has it, and where that is."""
        self.check = Check()

    def audit(self, ledger: Path) -> Check:
        """Checks every episode, and that the invoice has no line that the ledger has not."""
        for episode in _episodes(ledger):
            self.check.episodes += 1
            self._episode(episode)
        if self._left:
            self._say("", f"the provider served {self._left} requests that are not in the ledger")
        self._memory()
        return self.check

    def _say(self, where: str, problem: str) -> None:
        self.check.violations.append(f"{where}: {problem}")

    def _episode(self, episode: _Episode) -> None:
        where = f"{episode.cell}#{episode.attempt}"
        counted: list[_Counted] = []
        failed: list[tuple[str, Line]] = []
        answered: list[tuple[str, Line]] = []
        name = episode.calls[0]["model"] if episode.calls else ""
        for place, row in episode.rows:
            self.check.counts["calls"] += 1
            line = self._row(f"{where} {place}", episode.cell, place, row, failed)
            if line is None:
                continue
            actor = place.startswith("call")
            counted.append(_Counted(actor, line.told, row.get("mem_tokens"), row["replayed"], line))
            if not row["replayed"]:
                answered.append((name, line))
        if episode.account is None:
            self._say(where, "the episode has no account")
            return
        if episode.calls and not any(c.replayed for c in counted):
            self._prefix(where, [c.line.prompt for c in counted if c.actor])
        if actors := [c for c in counted if c.actor]:
            self._first.setdefault((episode.cell, name), (actors[0].line.prompt, actors[0].memory, where))
        expected = _account(counted, [line for _, line in failed])
        expected["cost"] = self._cost([line for _, line in answered], [line for _, line in failed], name)
        self._compare(where, expected, episode.account)

    def _row(self, where: str, cell: str, place: str, row: Json, failed: list[tuple[str, Line]]) -> Line | None:
        """Holds one call's attempts against the next lines of the invoice; the line that answered, if one did."""
        if row["replayed"]:
            self.check.counts["replayed"] += 1
            original = self._originals[cell, place]
            if row["attempts"]:
                self._say(where, "a replay has attempts")
            if row["usage"] != original.told.model_dump():
                self._say(where, f"a replay has usage {row['usage']}, its original {original.told!r}")
            return original
        self.check.counts["retried"] += len(row["attempts"]) > 1
        empties = 0
        for number, attempt in enumerate(row["attempts"], 1):
            if (line := next(self._lines, None)) is None:
                self._say(where, f"attempt {number} is not on the invoice")
                return None
            self._left -= 1
            self._seen(line)
            empties += line.fate == "empty"
            answers = line.fate == "answered" or (line.fate == "empty" and empties == _EMPTY_TRIES)
            self._attempt(f"{where} attempt {number}", attempt, line, answers)
            if not answers:
                failed.append((place, line))
            elif row["usage"] != line.told.model_dump():
                self._say(where, f"usage is {row['usage']}, the invoice says {line.told!r}")
            else:
                self._originals[cell, place] = line
                return line
        return None

    def _attempt(self, where: str, attempt: Json, line: Line, answers: bool) -> None:
        if attempt["status"] != line.status:
            self._say(where, f"status {attempt['status']}, the provider sent {line.status}")
        if attempt["usage"] != line.told.model_dump():
            self._say(where, f"usage is {attempt['usage']}, the provider told {line.told!r} ({line.fate})")
        if attempt["raw_usage"] != line.sent:
            self._say(where, f"the raw usage is {attempt['raw_usage']}, the provider sent {line.sent}")
        if (attempt["error"] is None) != answers:
            self._say(where, f"{line.fate}, and its error is {attempt['error']!r}")

    def _seen(self, line: Line) -> None:
        streamed = "streamed" if line.streamed else "whole"
        self.check.counts.update(["attempts", streamed, f"fate {line.fate}", *(f"usage {k}" for k in line.kinds)])

    def _prefix(self, where: str, prompts: list[str]) -> None:
        """Each prompt begins with all of the one before, so that a provider's cache can serve it."""
        for number, (before, after) in enumerate(pairwise(prompts), 1):
            self.check.counts["prompts that extend the last"] += 1
            if not after.startswith(before):
                self._say(where, f"the prompt of call {number} does not begin with the one before")

    def _memory(self) -> None:
        """M is what the prompt is longer by than without support: than the `none` episode's of the same target."""
        for (cell, name), (prompt, memory, where) in self._first.items():
            target, _, seed = cell.split("/")
            bare = self._first.get((f"{target}/none/{seed}", name))
            if bare is None:
                continue
            self.check.counts["supports measured"] += 1
            longer = len(tokens(prompt)) - len(tokens(bare[0]))
            if memory != longer:
                self._say(where, f"the support has {memory} tokens in the ledger, the prompt is {longer} longer")

    def _cost(self, answered: list[Line], failed: list[Line], name: str) -> float | None:
        price = self._prices.get(name)
        billed = [*answered, *(line for line in failed if line.told.prompt is not None)]
        if any(price is None or line.told.prompt is None or line.told.completion is None for line in billed):
            return None
        return sum(_dollars(line, price) for line in billed if price)

    def _compare(self, where: str, expected: Json, account: Json) -> None:
        for part, value in expected.items():
            found = account[part]
            same = found == value
            if part == "cost" and found is not None and value is not None:
                same = abs(found - value) < _CENT
            self.check.counts[f"{part} null"] += value is None
            if not same:
                self._say(where, f"{part} is {found} in the ledger and {value} by the invoice")


def _episodes(ledger: Path) -> Iterator[_Episode]:
    open_: dict[tuple[str, int], _Episode] = {}
    for line in ledger.read_bytes().splitlines():
        event = json.loads(line)
        if event["cell"] is None:
            continue
        episode = open_.setdefault((event["cell"], event["attempt"]), _Episode(event["cell"], event["attempt"]))
        match event["kind"]:
            case "support":
                episode.support = event["data"]
            case "call":
                episode.calls.append(event["data"])
            case "episode":
                episode.account = event["data"]["tokens"]
                yield open_.pop((event["cell"], event["attempt"]))
            case _:
                pass


def _account(counted: Sequence[_Counted], failed: Sequence[Line]) -> Json:
    """The account of an episode, by the invoice (design, Tokens)."""
    parts: dict[str, list[int | None]] = defaultdict(list)
    once: int | None = 0
    before, dropped = 0, False
    for one in counted:
        p, c, m = one.told.prompt, one.told.completion, one.memory
        parts["cached"].append(one.told.cached)
        if not one.actor:
            parts["i_syn"].append(p)
            parts["o_syn"].append(c)
            continue
        parts["i_mem"].append(m)
        parts["i_base"].append(None if p is None or m is None else p - m)
        parts["o_act"].append(c)
        if once is None or p is None or c is None:
            once = None
            continue
        dropped = dropped or p < before
        once += max(0, p - before) + c
        before = p + c
    names = ("i_base", "i_mem", "i_syn", "o_syn", "o_act", "cached")
    sums: Json = {name: _sum(parts[name]) for name in names}
    wrote = (sums["i_syn"], sums["o_syn"])
    sums["once"] = None if once is None or None in wrote else once + sum(wrote)
    sums["once_dropped"] = dropped
    sums["wasted"] = sum((line.told.prompt or 0) + (line.told.completion or 0) for line in failed)
    return sums


def _sum(counts: Sequence[int | None]) -> int | None:
    return None if None in counts else sum(count for count in counts if count is not None)


def _dollars(line: Line, price: Price) -> float:
    told = line.told
    read = told.cached or 0
    fresh = (told.prompt or 0) - read - line.written
    output = (told.completion or 0) * price.completion
    return fresh * price.prompt + read * price.read + line.written * price.written + output
