"""Work on a bank's targets spread over processes, each with the bank, its seals and an environment of its own."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

from rebind.banks.accept import Acceptance
from rebind.banks.seals import open_seals
from rebind.banks.store import Bank
from rebind.banks.worlds import world_of
from rebind.orphans import end_with_parent
from rebind.types import Seal, Target

J = TypeVar("J")
R = TypeVar("R")


@dataclass
class Judge:
    """What a process needs to judge targets."""

    bank: Bank
    seals: Mapping[str, Seal]
    _acceptances: dict[str, Acceptance] = field(default_factory=dict)

    def acceptance(self, env: str) -> Acceptance:
        """The tests in an environment, which is made when it is first asked for."""
        if env not in self._acceptances:
            self._acceptances[env] = Acceptance(world_of(env))
        return self._acceptances[env]

    @cached_property
    def solved(self) -> frozenset[str]:
        """Keys of the tasks that the bank's records solve."""
        return frozenset(seal.task_key for seal in self.seals.values())

    def problem(self, record_id: str, target: Target) -> str | None:
        """Why a target of a record cannot be kept; None where it can. "in-bank": a record solves this very task, and an
        agent could be handed its solution. Other reasons are those of `Acceptance.problem`.

        Raises:
            EnvironmentFailure: the environment failed every time.
        """
        if target.task.key in self.solved:
            return "in-bank"
        seal = self.seals[record_id]
        return self.acceptance(seal.env).problem(self.bank.record(record_id), seal, target)


def judged(bank_path: Path, jobs: Sequence[J], work: Callable[[Judge, J], R], workers: int) -> Generator[R, None, None]:
    """What `work`, a function of a module, makes of each job, in their order."""
    if workers <= 1:
        _begin(bank_path)
        yield from map(partial(_call, work), jobs)
        return
    context = multiprocessing.get_context("spawn")  # a fork would copy the threads of torch and faiss half-way
    with ProcessPoolExecutor(workers, context, _begin_worker, (bank_path,)) as pool:
        yield from pool.map(partial(_call, work), jobs)


_judge: Judge | None = None
"""One a process: pool workers cannot be given state otherwise."""


def _begin(bank_path: Path) -> None:
    global _judge  # noqa: PLW0603 — see `_judge`
    _judge = Judge(Bank.open(bank_path), open_seals(bank_path))


def _begin_worker(bank_path: Path) -> None:
    end_with_parent()
    _begin(bank_path)


def _call(work: Callable[[Judge, Any], R], job: Any) -> R:
    assert _judge is not None
    return work(_judge, job)
