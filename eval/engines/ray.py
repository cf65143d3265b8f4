"""The engine of a cluster: episodes are tasks of an existing Ray cluster, whose nodes have Rebind installed.

This process stays the only writer of the ledger. A task streams its events to it (`relay`); the bank and what episodes
have in common are put into the object store once; requests are limited by one actor for all nodes (`gate`). An attempt
whose node or process is lost is noted as abandoned, as one that a killed run left open is, and made again.
"""

from __future__ import annotations

import os
import socket
import threading
import time
import uuid
from contextlib import closing, suppress
from dataclasses import replace
from typing import Any

from rebind.agents.local import PREFIX as LOCAL
from rebind.banks.parcel import pack
from rebind.envs import world
from rebind.errors import InfraError, UserError
from rebind.eval.engines.gate import ACT, WAIT, Gate, tell
from rebind.eval.engines.placement import check, needs, options
from rebind.eval.engines.remote import Job, play
from rebind.eval.episode import Bench
from rebind.eval.lock import installed
from rebind.eval.models import Opener, names_of
from rebind.eval.study import Study
from rebind.types import Cell, Episode

_LOSSES = 8
"""Attempts at one cell that may be lost in one run: an episode that takes its node down would do so for ever."""
_ANSWERS_WITHIN = 10.0
"""Seconds for a cluster's head to take a connection."""
_ENDS_WITHIN = 10.0
"""Seconds for the tasks under way to be cancelled."""


class _Lost(Exception):
    """The node or process of an attempt is gone. `begun`: its start is in the ledger."""

    def __init__(self, why: str, begun: bool) -> None:
        super().__init__(why)
        self.begun = begun


class RayEngine:
    """`rebind.eval.engines.Engine` on a Ray cluster."""

    def __init__(self, study: Study) -> None:
        """Raises `UserError`: no Ray, no cluster at the address, no node with room for one of the environments, or a
        model that lives in this process alone."""
        for name in names_of(study).values():
            if name.startswith(LOCAL):
                raise UserError(
                    f'{name} is a server of the process that started it, so that run.engine = "ray" cannot use it; '
                    "serve a model that every node can reach (vLLM, llama.cpp) and name it in model.api_base"
                )
        self._ray = import_ray()
        self._gate: Any = None
        self._under_way: set[Any] = set()
        self._closing = threading.Event()
        self._env_ids = [world(name).env_id for name in study.environments]
        self._own = not self._ray.is_initialized()
        if self._own:
            _connect(self._ray, study.run.ray_address)
        try:
            check(self._env_ids, [node["Resources"] for node in self._ray.nodes() if node["Alive"]])
        except UserError:
            self.close()
            raise

    def begin(self, bench: Bench, opener: Opener) -> None:
        ray, plan = self._ray, bench.plan
        self._bench = bench
        job = Job(
            plan=replace(plan, cells=()),
            selections=bench.selections,
            opener=opener,
            installed=installed(),
            bank=bench.bank.path,
            digest=bench.bank.digest,
        )
        self._job, self._parcel = ray.put(job), ray.put(pack(bench.bank))
        self._gate = self._make_gate(plan.study.run.workers)
        task = ray.remote(play)
        how = {"num_returns": "streaming", "max_retries": 0, "scheduling_strategy": "SPREAD"}
        self._tasks = {env_id: task.options(**how, **options(needs(env_id))) for env_id in self._env_ids}

    def attempt(self, cell: Cell, number: int) -> Episode | None:
        ledger, why = self._bench.ledger, ""
        for _ in range(_LOSSES):
            try:
                return self._follow(cell, number)
            except _Lost as lost:
                why = str(lost)
                if lost.begun:
                    ledger.append("note", {"abandoned": number, "why": why}, cell, number)
                    ledger.commit()
                    number += 1
        raise InfraError(
            f"cell {cell.id}: its process was lost {_LOSSES} times, the last time because {why}; see the logs of the "
            "Ray nodes (/tmp/ray/session_latest/logs), mend this and give the same command to go on"
        )

    def begin_no_more(self) -> None:
        with suppress(self._ray.exceptions.RayError):  # a cluster that is gone begins nothing
            self._ray.get(tell(self._gate, "begin_no_more"))

    def limited(self) -> dict[str, int]:
        found: dict[str, int] = self._ray.get(tell(self._gate, "limited"))
        return found

    def close(self) -> None:
        """Cancels what is under way; leaves the cluster, unless the program was connected to it before."""
        self._closing.set()
        for stream in list(self._under_way):
            self._ray.cancel(stream, force=True)
        until = time.monotonic() + _ENDS_WITHIN
        while self._under_way and time.monotonic() < until:
            time.sleep(0.02)
        if self._own:
            self._ray.shutdown()
        elif self._gate is not None:
            self._ray.kill(self._gate)

    def _make_gate(self, workers: int) -> Any:
        """The gate, on this machine's node: it lasts as long as this process can be reached."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        here = NodeAffinitySchedulingStrategy(self._ray.get_runtime_context().get_node_id(), soft=False)
        actor = self._ray.remote(concurrency_groups={WAIT: workers, ACT: 1})(Gate)
        return actor.options(num_cpus=0, scheduling_strategy=here, max_restarts=-1, max_task_retries=-1).remote()

    def _follow(self, cell: Cell, number: int) -> Episode | None:
        """One task, from its start to its end: takes in all that it tells. Raises `_Lost`."""
        env_id = self._bench.targets[cell.target].task.env
        holder, begun = uuid.uuid4().hex, False
        stream = self._tasks[env_id].remote([self._job], [self._parcel], self._gate, cell, number, holder)
        self._under_way.add(stream)
        errors = self._ray.exceptions
        try:
            for reference in stream:
                batch = self._ray.get(reference)
                begun = begun or any(event.kind == "start" for event in batch.events)
                batch.write(self._bench.ledger)
                self._bench.models.door.charge(batch.spent, batch.unpriced)
                if batch.error is not None:
                    raise batch.error
                if batch.episode is not None or batch.withdrawn:
                    episode: Episode | None = batch.episode
                    return episode
            raise _Lost("its stream ended before it did", begun)
        except errors.RayTaskError:  # an error in Rebind itself, with the node's traceback
            raise
        except errors.RayError as error:
            if self._closing.is_set():
                raise
            tell(self._gate, "lost", holder)
            raise _Lost(str(error).partition("\n")[0], begun) from error
        finally:
            self._under_way.discard(stream)


def import_ray() -> Any:
    """The package. Raises `UserError` where it is not installed."""
    try:
        import ray
        import ray.exceptions
    except ImportError:
        raise UserError("run.engine = \"ray\" needs the extra: pip install 'rebind[ray]'") from None
    return ray


def _connect(ray: Any, wanted: str | None) -> None:
    """Raises `UserError` where no cluster answers."""
    address = wanted or os.environ.get("RAY_ADDRESS") or "auto"
    how = 'start one with `ray start --head` and give run.ray_address = "HOST:6379", or RAY_ADDRESS'
    if "://" in address:
        raise UserError(
            f"{address}: a run is a part of the cluster, not a client of it; start it on one of the nodes, with the "
            "address of the head as HOST:PORT"
        )
    if address != "auto":
        host, _, port = address.rpartition(":")
        try:
            with closing(socket.create_connection((host, int(port)), _ANSWERS_WITHIN)):
                pass
        except (OSError, ValueError) as error:
            raise UserError(f"no Ray cluster answers at {address} ({error}); {how}") from None
    try:
        ray.init(address=address, log_to_driver=False, logging_level="ERROR", namespace=f"rebind-{uuid.uuid4().hex}")
    except (ConnectionError, RuntimeError, ray.exceptions.RayError) as error:
        first = str(error).partition("\n")[0]
        raise UserError(f"no Ray cluster at {address} can be used: {first}; {how}") from None
