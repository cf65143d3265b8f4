"""A study on two Ray nodes, one of which is killed while both have an episode under way."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from rebind.banks.files import silent
from rebind.eval.audit import audit, holds
from rebind.eval.bench.ray_cluster import SmallCluster
from rebind.eval.ledger import read_events, verify
from rebind.eval.models import Opener
from rebind.eval.plan import Plan
from rebind.eval.runner import run_study
from rebind.eval.watch import Watch

_MIDWAY = range(1, 5)
"""Steps of an episode after which it is surely begun and, with a model that takes half a second, surely not at its end
within the second that a ledger may be late."""
_POLL = 0.1


def node_loss(plan: Plan, folder: Path, opener: Opener, cluster: SmallCluster) -> dict[str, Any]:
    """Runs a plan of at least four cells, two at once, on the head of a connected cluster and a node that it starts.

    Returns:
        `complete` (every cell has a valid episode, `rebind ledger verify` and `rebind audit` find nothing, and a node
        was killed), `killed`, `cells`, `abandoned` (attempts that were lost and made again).
    """
    run = plan.study.run.model_copy(update={"engine": "ray", "ray_address": cluster.address, "workers": 2})
    plan = replace(plan, study=plan.study.model_copy(update={"run": run}))
    victim = cluster.add()
    killed, over = threading.Event(), threading.Event()

    def kill_midway() -> None:
        seen = Watch(folder)
        while not over.wait(_POLL):
            seen.refresh()
            under_way = list(seen.running.values())
            if len(under_way) == run.workers and all(episode.step in _MIDWAY for episode in under_way):
                cluster.kill(victim)
                killed.set()
                return

    killer = threading.Thread(target=kill_midway, daemon=True)
    killer.start()
    try:
        run_study(plan, folder, silent, opener)
    finally:
        over.set()
        killer.join()
    events = list(read_events(folder))
    valid = Counter(e.cell for e in events if e.kind == "episode" and e.data["outcome"] == "valid")
    found = verify(folder)
    whole = valid == Counter(cell.id for cell in plan.cells) and found.ok and found.manifest == "matches"
    return {
        "complete": whole and holds(audit(folder)) and killed.is_set(),
        "killed": killed.is_set(),
        "cells": len(plan.cells),
        "abandoned": sum(e.kind == "note" and "abandoned" in e.data for e in events),
    }
