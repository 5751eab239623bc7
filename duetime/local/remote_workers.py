"""The HTTP workers of a local runner, wired to its store and its lanes."""

from collections.abc import Callable, Sequence

from duetime.core.ports import Ports
from duetime.core.shares import Weights
from duetime.core.task import Task
from duetime.executor.remote_attempts import RemoteAttempts
from duetime.executor.runs import Run
from duetime.local.backends import Backend
from duetime.local.lease_waits import LeaseWaits


def remote_attempts(
    backend: Backend,
    ports: Ports,
    weights: Weights,
    waits: LeaseWaits,
    *,
    on_start: Callable[[Sequence[Run]], object],
    on_progress: Callable[[Task], object],
) -> RemoteAttempts | None:
    """Returns the attempts of HTTP workers, with those that an earlier runner has leased. None for
    a backend whose queues other executors read, too: workers read them themselves."""
    lanes = backend.memory_lanes
    if lanes is None:
        return None
    lanes.on_change = waits.changed
    remote = RemoteAttempts(ports, lanes, weights, on_start=on_start, on_progress=on_progress)
    remote.adopt(backend.held_by_workers())
    return remote
