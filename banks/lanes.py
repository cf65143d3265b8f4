"""Work spread over threads, each with an environment of its own, and its results in the order of the jobs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from queue import SimpleQueue
from typing import TypeVar

from rebind.types import Environment, World

J = TypeVar("J")
R = TypeVar("R")


def in_lanes(
    world: World, jobs: Sequence[J], work: Callable[[Environment, J], R], workers: int
) -> Generator[R, None, None]:
    """What `work` makes of each job. An environment stays in the thread that made it, and is closed there. A caller
    that stops early, and a job that raises, let those under way end; what a job raised is raised in its turn."""
    waiting, finished = iter(enumerate(jobs)), SimpleQueue[tuple[int, R | BaseException]]()
    guard, stopped = threading.Lock(), threading.Event()

    def lane() -> None:
        environment: Environment | None = None
        at = -1
        try:
            environment = world.make()
            while not stopped.is_set():
                with guard:
                    taken = next(waiting, None)
                if taken is None:
                    return
                at, job = taken
                finished.put((at, work(environment, job)))
        except BaseException as error:
            stopped.set()
            finished.put((at, error))
        finally:
            if environment is not None:
                environment.close()

    threads = [threading.Thread(target=lane, name=f"lane-{n}") for n in range(min(workers, len(jobs)))]
    for thread in threads:
        thread.start()
    try:
        yield from _in_order(finished, len(jobs))
    finally:
        stopped.set()
        for thread in threads:
            thread.join()


def _in_order(finished: SimpleQueue[tuple[int, R | BaseException]], count: int) -> Iterator[R]:
    early: dict[int, R | BaseException] = {}
    for wanted in range(count):
        while wanted not in early:
            at, result = finished.get()
            early[max(at, wanted)] = result  # an environment that cannot be made fails the next job
        result = early.pop(wanted)
        if isinstance(result, BaseException):
            raise result
        yield result
