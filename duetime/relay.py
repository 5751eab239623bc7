"""relay and notify: pass on what became of a task, and do what must follow.

Passing on is best effort by design: whatever a sink misses can be read from the table. What must
follow is a debt of the task, and whatever is not done here the scanner does.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Protocol

from lambdas.core.events import StatusChange

log = logging.getLogger(__name__)


class Sink(Protocol):
    def notify(self, change: StatusChange) -> None: ...


FollowUp = Callable[[Sequence[StatusChange]], object]  # does what follows from these ends


class Relay:
    def __init__(self, sinks: Sequence[Sink], follow_up: FollowUp) -> None:
        self._sinks = sinks
        self._follow_up = follow_up

    def relay(self, changes: Sequence[StatusChange]) -> None:
        ends = [change for change in changes if change.owes or change.schedule_id]
        if ends:
            self._try_to_follow_up(ends)
        for change in changes:
            for sink in self._sinks:
                self._notify(sink, change)

    def _try_to_follow_up(self, ends: Sequence[StatusChange]) -> None:
        try:
            self._follow_up(ends)
        except Exception:
            task_ids = [end.task_id for end in ends]
            log.exception("follow-up failed", extra={"step": "relay", "task_ids": task_ids})

    def _notify(self, sink: Sink, change: StatusChange) -> None:
        """One sink that fails stops neither the others nor the next change."""
        try:
            sink.notify(change)
        except Exception:
            ids = {"task_id": change.task_id, "attempt": change.attempt}
            log.exception("notify failed", extra={"step": "notify", **ids})
