"""relay and notify: pass on what became of a task.

Best effort by design: whatever a sink misses can be read from the table.
"""

import logging
from collections.abc import Sequence
from typing import Protocol

from lambdas.core.events import StatusChange

log = logging.getLogger(__name__)


class Sink(Protocol):
    def notify(self, change: StatusChange) -> None: ...


class Relay:
    def __init__(self, sinks: Sequence[Sink]) -> None:
        self._sinks = sinks

    def relay(self, changes: Sequence[StatusChange]) -> None:
        for change in changes:
            for sink in self._sinks:
                self._notify(sink, change)

    def _notify(self, sink: Sink, change: StatusChange) -> None:
        """One sink that fails stops neither the others nor the next change."""
        try:
            sink.notify(change)
        except Exception:
            log.exception("notify failed", extra={"step": "notify", "task_id": change.task_id})
