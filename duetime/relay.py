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
    """Receives every status change. One with a method `notify_all` gets those that come together
    with one call, which must not fail because of a single change."""

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
        notify_all = getattr(sink, "notify_all", None)
        if notify_all is not None and len(changes) > 1:
            try:
                notify_all(changes)
            except Exception:
                task_ids = [change.task_id for change in changes]
                log.exception("sink not notified", extra={"step": "notify", "task_ids": task_ids})
            return
        for change in changes:
            try:
                sink.notify(change)
            except Exception:
                ids = {"task_id": change.task_id, "attempt": change.attempt}
                log.exception("sink not notified", extra={"step": "notify", **ids})
