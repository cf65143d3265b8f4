"""A Ray cluster of several nodes on this machine, each of them processes of its own, for tests and benchmarks of what a
run does when one of them is gone."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tenacity import Retrying, stop_after_attempt

from rebind.eval.engines.ray import import_ray

_STORE = 100 * 2**20
"""Bytes of each node's object store."""
_SETTINGS = {
    "health_check_initial_delay_ms": 1000,  # a node that is gone is taken for dead after two seconds, not half a minute
    "health_check_period_ms": 500,
    "health_check_failure_threshold": 4,
    "worker_niceness": 0,  # Ray's own is 15: on a machine that does other work, importing takes minutes then
}
_patiently = Retrying(stop=stop_after_attempt(4), reraise=True)
"""A node that is not up within 20 s gives up, which on such a machine happens."""


class SmallCluster:
    """The head, which has one CPU, and the nodes that were added."""

    def __init__(self, cluster: Any) -> None:
        """For `small_cluster` alone."""
        self._cluster = cluster

    @property
    def address(self) -> str:
        """HOST:PORT of the head."""
        return str(self._cluster.address)

    def connect(self) -> None:
        """Connects this process, until the cluster ends: its runs then share the nodes' processes."""
        import_ray().init(address=self.address, log_to_driver=False, logging_level="ERROR")
        self._warm(self._cluster.head_node)

    def add(self) -> Any:
        """Starts a node of one CPU, with a process that has imported what an episode needs. `connect` comes first."""
        node = _patiently(self._cluster.add_node, num_cpus=1, object_store_memory=_STORE)
        self._warm(node)
        return node

    def kill(self, node: Any) -> None:
        """Kills every process of a node at once (SIGKILL), as a power cut does."""
        for one in _tree([p.process.pid for kind in node.all_processes.values() for p in kind]):
            with suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)

    def _warm(self, node: Any) -> None:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        ray = import_ray()
        there = NodeAffinitySchedulingStrategy(node.node_id, soft=False)
        ray.get(ray.remote(_imported).options(num_cpus=1, scheduling_strategy=there).remote())


@contextmanager
def small_cluster() -> Iterator[SmallCluster]:
    """A cluster for the length of the context. Raises `UserError` where Ray is not installed."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import_ray()
    from ray.cluster_utils import Cluster

    head = {
        "num_cpus": 1,
        "object_store_memory": _STORE,
        "include_dashboard": False,
        "include_log_monitor": False,
        "no_monitor": True,  # nothing here scales by itself
        "_system_config": _SETTINGS,
    }
    cluster = _patiently(Cluster, initialize_head=True, head_node_args=head)
    try:
        yield SmallCluster(cluster)
    finally:
        import_ray().shutdown()
        cluster.shutdown()


def _imported() -> str:
    """Imports all that an episode needs; says where."""
    from rebind.agents.provider import litellm
    from rebind.eval.engines.remote import play

    litellm()
    return play.__module__


def _tree(roots: list[int]) -> list[int]:
    """Processes and all that they started (proc(5), `children`), the first ones first."""
    found = list(roots)
    for pid in found:
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            with suppress(OSError):
                found += [int(word) for word in children.read_text(encoding="ascii").split()]
    return found
