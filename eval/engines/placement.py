"""Which machine of a cluster an episode may run on: what its environment takes up, and what the machines offer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rebind.banks.worlds import world_of
from rebind.errors import UserError
from rebind.types import Placed

Resources = Mapping[str, float]
_OTHERWISE: Resources = {"CPU": 1.0}
_BUILT_IN = {"CPU": "num_cpus", "GPU": "num_gpus", "memory": "memory"}
"""Resources that Ray has an option for."""


def needs(env_id: str) -> Resources:
    """What one episode takes up, as its world says."""
    world = world_of(env_id)
    return world.resources if isinstance(world, Placed) else _OTHERWISE


def options(wanted: Resources) -> dict[str, Any]:
    """The same as options of a Ray task."""
    own = {name: amount for name, amount in wanted.items() if name not in _BUILT_IN}
    return {"num_cpus": 0, **{_BUILT_IN[n]: amount for n, amount in wanted.items() if n not in own}, "resources": own}


def check(env_ids: Iterable[str], nodes: Sequence[Resources]) -> None:
    """Refuses environments that no machine has room for: their episodes would wait for ever.

    Args:
        nodes: what each machine of the cluster offers.

    Raises:
        UserError: names the environment, what it lacks, and how to offer it.
    """
    for env_id in env_ids:
        wanted = needs(env_id)
        if any(all(node.get(name, 0.0) >= amount for name, amount in wanted.items()) for node in nodes):
            continue
        own = {name: 4 for name in wanted if name not in _BUILT_IN}
        how = f", on those that can run it --resources='{json.dumps(own)}' (as many as may run at once)" if own else ""
        raise UserError(
            f"no node of the Ray cluster has room for an episode of {env_id}, which takes {dict(wanted)}; start nodes "
            f"that have it: ray start --address=HEAD:PORT --num-cpus=N{how}"
        )
