"""The flows of a workflow run: ten steps in a row, and a map of a thousand items.

Like those of a task, they run in full batches or one by one: many runs at once, whose steps share
invocations, or one run after the other. The end of the retention is part of the cost.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from bench.billing.deployment import FULL, LONE, Deployment
from bench.billing.meter import Counts
from bench.billing.moto_setup import deployed
from bench.billing.units import stored_bytes
from duetime.core.value import value

NOOP = {"type": "python", "handler": "bench.noop"}
DELIVERIES = 10_000  # more than any of these flows needs

Steps = Sequence[Mapping[str, Any]]


@value(frozen=True, kw_only=True, slots=True)
class WorkflowFlow:
    """`steps` is how many steps, or items, a run has that do something; `runs` how many runs are
    counted in full batches, and `lone_runs` how many one by one."""

    definition: Steps
    steps: int
    runs: int
    lone_runs: int = 1


def chain(length: int) -> Steps:
    return [
        {"name": f"s{n}", "target": NOOP, "needs": [f"s{n - 1}"] if n else []}
        for n in range(length)
    ]


def mapped(items: int) -> Steps:
    return [{"name": "each", "target": NOOP, "map": {"items": items, "max_concurrency": 100}}]


WORKFLOWS: Mapping[str, WorkflowFlow] = {
    "dag_10": WorkflowFlow(definition=chain(10), steps=10, runs=20, lone_runs=3),
    "map_1000": WorkflowFlow(definition=mapped(1_000), steps=1_000, runs=1),
}


def count_workflow(flow: WorkflowFlow, *, alone: bool = False) -> Counts:
    """Returns what one run of a flow uses: the mean of several in a new deployment."""
    runs = flow.lone_runs if alone else flow.runs
    with deployed(LONE if alone else FULL) as deployment:
        before = stored_bytes(deployment.meter.items())
        for together in [1] * runs if alone else [runs]:
            _run(deployment, flow, together)
        stored = stored_bytes(deployment.meter.items()) - before
        deployment.expire()
        counts = deployment.meter.take_counts()
    counts["stored"] = stored
    return Counter({name: count / runs for name, count in counts.items()})


def _run(deployment: Deployment, flow: WorkflowFlow, runs: int) -> None:
    """Starts runs, and delivers and relays until nothing is left to do."""
    for _ in range(runs):
        deployment.start_run(flow.definition)
    delivered = 0
    for _ in range(DELIVERIES):
        some = deployment.deliver()
        deployment.relay()
        delivered += some
        if not some:
            break
    maps = sum(1 for step in flow.definition if "map" in step)
    expected = runs * (flow.steps + maps)
    if delivered != expected:
        raise RuntimeError(f"delivered {delivered} messages, not {expected}")
