"""What becomes of tasks as records of the logger `duetime.events`: one for each event."""

import logging

from duetime.local.event_lines import shown_end
from lambdas.core.events import StatusChange
from lambdas.core.lifecycle import Status

EVENTS = logging.getLogger("duetime.events")
MESSAGES = {
    Status.RUNNING: "task running",
    Status.SUCCEEDED: "task succeeded",
    Status.RETRYING: "attempt failed",
    Status.DEAD: "task died",
    Status.CANCELLED: "task cancelled",
    Status.EXPIRED: "task expired",
}


class LoggedEvents:
    a_second = 100

    def show(self, change: StatusChange) -> None:
        revived = change.before is Status.DEAD
        ended = "result" if change.after is Status.SUCCEEDED else "reason"
        fields = {
            "task_id": change.task_id,
            "attempt": change.attempt,
            "status": str(change.after),
            "task_name": change.name,
            "target": change.target,
            "namespace": change.namespace,
            "lane": str(change.lane),
            "drift_ms": change.drift_ms,
            "took_ms": change.took_ms,
            ended: None if revived else shown_end(change) or None,
        }
        told = {name: value for name, value in fields.items() if value is not None}
        EVENTS.info("task revived" if revived else MESSAGES[change.after], extra=told)

    def show_left_out(self, count: int) -> None:
        EVENTS.info("events left out", extra={"count": count})
