"""enqueue: sends the deliveries of stored tasks to their lanes."""

import logging
from collections.abc import Mapping, Sequence

from duetime.core.delivery import delivery_of
from duetime.core.ports import Ports
from duetime.core.steps.cancel import cancel
from duetime.core.steps.claim import release
from duetime.core.task import Task
from duetime.core.times import Millis

NO_DELAYS: Mapping[str, Millis] = {}


def enqueue(
    ports: Ports,
    tasks: Sequence[Task],
    not_before: Mapping[str, Millis] = NO_DELAYS,
    grants: Mapping[str, Millis] = NO_DELAYS,
) -> int:
    """Sends the deliveries, and releases those that were refused or whose fate is unknown to the
    scanner. A retry with a cancel request is cancelled instead. Returns how many were sent.

    `not_before` maps task ids to times: such a task starts no earlier. `grants` maps them to the
    times that their rate limits have granted. If the process dies before the release, the watch of
    the task sends the delivery again."""
    now = ports.clock.now()
    stopped = [cancel(task, now=now) for task in tasks if task.cancel_requested]
    if stopped:
        ports.store.apply(stopped)
    deliveries = [
        delivery_of(task, now, not_before.get(task.id, 0), grants.get(task.id))
        for task in tasks
        if not task.cancel_requested
    ]
    if not deliveries:
        return 0
    accepted = ports.lanes.send(deliveries, now)
    refused = [d for d, sent in zip(deliveries, accepted, strict=True) if not sent]
    if refused:
        now = ports.clock.now()
        ports.store.apply([release(ports.wake_policy, delivery, now=now) for delivery in refused])
    return len(deliveries) - len(refused)


log = logging.getLogger(__name__)


def try_enqueue(ports: Ports, tasks: Sequence[Task]) -> None:
    """Enqueues stored tasks, and logs an error instead of raising it. The tasks are stored, so the
    caller must not report a failure: the client would submit them again. The watch of each task
    sends what was not sent here."""
    if not tasks:
        return
    try:
        enqueue(ports, tasks)
    except Exception:
        log.exception(
            "enqueue failed: left to the watch", extra={"count": len(tasks), "step": "enqueue"}
        )
