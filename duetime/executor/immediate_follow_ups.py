"""Follow-ups that an executor runs as soon as it has recorded an outcome."""

import logging
from collections.abc import Sequence

from duetime.core.lifecycle import Status
from duetime.core.ports import Ports
from duetime.core.task import Task

log = logging.getLogger(__name__)


def run_follow_ups_at_once(ports: Ports, tasks: Sequence[Task]) -> None:
    """Runs the follow-ups of steps, and starts what suspended tasks wait for. If this fails, the
    relay and the scanner do it."""
    ended = [t for t in tasks if t.has_follow_up and t.spec.occurrence is None]
    suspended = [t for t in tasks if t.status is Status.WAITING]
    if not ended and not suspended:
        return
    from duetime.engine.followups import run_follow_ups
    from duetime.engine.workflows.waits import start_waited_runs

    try:
        start_waited_runs(ports, suspended)
        run_follow_ups(ports, ended)
    except Exception:
        ids = [task.id for task in (*ended, *suspended)]
        log.exception("follow-up failed", extra={"step": "record", "task_ids": ids})
