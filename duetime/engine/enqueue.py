"""enqueue: the delivery of a stored task goes out to its lane. Shared by every role that sends."""

from collections.abc import Mapping, Sequence

from lambdas.core.delivery import delivery_of
from lambdas.core.ports import Ports
from lambdas.core.steps.cancel import cancel
from lambdas.core.steps.claim import release
from lambdas.core.task import Task
from lambdas.core.times import Millis

AT_ONCE: Mapping[str, Millis] = {}


def enqueue(ports: Ports, tasks: Sequence[Task], not_before: Mapping[str, Millis] = AT_ONCE) -> int:
    """Send, and give back to the scanner what was refused or whose fate is unknown. A retry that
    was asked to stop while it still ran ends here instead. Returns how many were sent.

    `not_before` tells, by task id, which are to reach an executor only later than their due time.
    If the sender is cut off in between, the watch that stands behind every delivery does it."""
    now = ports.clock.now()
    stopped = [cancel(task, now=now) for task in tasks if task.cancel_requested]
    if stopped:
        ports.store.apply(stopped)
    deliveries = [
        delivery_of(task, now, not_before.get(task.id, 0))
        for task in tasks
        if not task.cancel_requested
    ]
    if not deliveries:
        return 0
    accepted = ports.lanes.send(deliveries, now)
    refused = [d for d, sent in zip(deliveries, accepted, strict=True) if not sent]
    if refused:
        now = ports.clock.now()
        ports.store.apply([release(ports.rules, delivery, now=now) for delivery in refused])
    return len(deliveries) - len(refused)
