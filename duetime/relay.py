"""relay and notify: notifies sinks of status changes, and runs the follow-ups of ended tasks.

Notification is best effort by design: what a sink misses can be read from the task store. A
follow-up that fails here is run by the scanner (see duetime.engine.followups).
"""

import logging
from collections.abc import Callable, Sequence
from typing import Protocol

from duetime.core.events import StatusChange
from duetime.core.lifecycle import FINISHED

log = logging.getLogger(__name__)


class Sink(Protocol):
    """Receives every status change."""

    def notify(self, change: StatusChange) -> None: ...


RunFollowUps = Callable[[Sequence[StatusChange]], object]  # of the tasks that have ended


class Relay:
    def __init__(self, sinks: Sequence[Sink], run_follow_ups: RunFollowUps) -> None:
        self._sinks = sinks
        self._run_follow_ups = run_follow_ups

    def relay(self, changes: Sequence[StatusChange]) -> None:
        self.run_follow_ups(changes)
        for sink in self._sinks:
            self._notify(sink, changes)

    def run_follow_ups(self, changes: Sequence[StatusChange]) -> None:
        """Runs the follow-ups of all ends together: the ends of steps of one run are recorded with
        one write."""
        ends = [
            change
            for change in changes
            if change.after in FINISHED and (change.has_follow_up or change.schedule_id)
        ]
        if ends:
            self._try_follow_ups(ends)

    def notify(self, change: StatusChange) -> None:
        for sink in self._sinks:
            self._notify(sink, [change])

    def _try_follow_ups(self, ends: Sequence[StatusChange]) -> None:
        try:
            self._run_follow_ups(ends)
        except Exception:
            task_ids = [end.task_id for end in ends]
            log.exception("follow-up failed", extra={"step": "relay", "task_ids": task_ids})

    def _notify(self, sink: Sink, changes: Sequence[StatusChange]) -> None:
        """A failing sink affects neither the other sinks nor the next change."""
        for change in changes:
            try:
                sink.notify(change)
            except Exception:
                ids = {"task_id": change.task_id, "attempt": change.attempt}
                log.exception("sink not notified", extra={"step": "notify", **ids})
