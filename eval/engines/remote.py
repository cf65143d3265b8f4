"""What happens on a node: a process of the cluster that plays one episode after the other, with models and warm
environments that it keeps."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from rebind.agents.limiter import Told
from rebind.banks.parcel import find_or_unpack
from rebind.errors import RebindError
from rebind.eval.engines.gate import GatedSlots, fetch, tell
from rebind.eval.engines.relay import Batch, Relay
from rebind.eval.episode import Bench, attempt_cell
from rebind.eval.lock import check_installed
from rebind.eval.models import Opener
from rebind.eval.plan import Plan
from rebind.types import Cell, Episode, Selection


@dataclass(frozen=True)
class Job:
    """What the episodes of a run have in common; sent to each process once."""

    plan: Plan
    """Without its cells."""
    selections: dict[str, Selection]
    opener: Opener
    installed: Mapping[str, JsonValue]
    """Of the run's own machine: what a node has must not differ."""
    bank: Path
    """Where the run's own machine has the bank; another one may have it at the same place."""
    digest: str
    """The bank's."""


class Workplace:
    """The models and environments of a process, for as long as a run lasts."""

    def __init__(self, job: Job, parcel: Any, gate: Any) -> None:
        """`parcel`: reference to the bank's files; `gate`: handle of the run's `Gate`.

        Raises:
            UserError: the node has other code, or lacks what the models need, or was sent another bank.
            InfraError: a model's server did not start.
        """
        check_installed(job.installed)
        bank = find_or_unpack(job.bank, job.digest, lambda: fetch(parcel))
        self._gate, self._holder = gate, ""
        self._open = ExitStack()
        models = self._open.enter_context(job.opener(job.plan))

        def slots(provider: str, most: int, told: Told) -> GatedSlots:
            return GatedSlots(gate, provider, most, told, lambda: self._holder)

        models.door.limiter = slots
        targets = {t.task.key: t for t in job.plan.targets}
        self._bench = Bench(job.plan, bank, Relay(), models, targets, job.selections)
        self._open.callback(self._bench.close)

    def play(self, cell: Cell, number: int, holder: str) -> Iterator[Batch]:
        """One attempt, told as it goes. `holder`: its name at the gate."""
        if not fetch(tell(self._gate, "may_begin")):
            yield Batch(withdrawn=True)
            return
        self._holder, relay, door = holder, Relay(), self._bench.models.door
        self._bench.models.note_limits(relay)
        ended: list[Episode | Exception] = []

        def work() -> None:
            try:
                ended.append(attempt_cell(replace(self._bench, ledger=relay), cell, number))
            except Exception as error:  # told to the run's process, which raises it
                ended.append(error)
            finally:
                relay.end()

        threading.Thread(target=work, name="episode", daemon=True).start()
        spent, unpriced = door.spent, door.unpriced
        for batch in relay.batches():
            told = batch._replace(spent=door.spent - spent, unpriced=door.unpriced - unpriced)
            spent, unpriced = spent + told.spent, unpriced + told.unpriced
            yield told
        if isinstance(ended[0], Episode):
            yield Batch(episode=ended[0])
        elif isinstance(ended[0], RebindError):
            yield Batch(error=ended[0])
        else:
            raise ended[0]

    def close(self) -> None:
        self._open.close()


_places: dict[str, Workplace] = {}
"""Of this process; one, by the job it is for."""


def play(job: Sequence[Any], parcel: Sequence[Any], gate: Any, cell: Cell, number: int, holder: str) -> Iterator[Batch]:
    """One attempt at a cell, as a Ray task: a stream of batches, the last one with its episode or its error.

    Args:
        job, parcel: one object-store reference each, in a list, so that they are fetched where they are needed alone.
    """
    try:
        place = _workplace(job[0], parcel[0], gate)
    except RebindError as error:
        yield Batch(error=type(error)(f"on node {socket.gethostname()}: {error}"))
        return
    yield from place.play(cell, number, holder)


def _workplace(job: Any, parcel: Any, gate: Any) -> Workplace:
    """This process's place for a run; that of an earlier run is given up."""
    key = job.hex()
    if key not in _places:
        while _places:
            _places.popitem()[1].close()
        _places[key] = Workplace(fetch(job), parcel, gate)
    return _places[key]
