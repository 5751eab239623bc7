"""relay and notify: pass on what became of a task, and do what must follow.

Passing on is best effort by design: whatever a sink misses can be read from the table. What must
follow is a debt of the task, and whatever is not paid here the scanner pays.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Protocol

from lambdas.core.events import StatusChange

log = logging.getLogger(__name__)


class Sink(Protocol):
    def notify(self, change: StatusChange) -> None: ...


Pay = Callable[[Sequence[str]], object]  # the debts of these tasks


class Relay:
    def __init__(self, sinks: Sequence[Sink], pay: Pay) -> None:
        self._sinks = sinks
        self._pay = pay

    def relay(self, changes: Sequence[StatusChange]) -> None:
        owing = [change.task_id for change in changes if change.owes]
        if owing:
            self._try_to_pay(owing)
        for change in changes:
            for sink in self._sinks:
                self._notify(sink, change)

    def _try_to_pay(self, task_ids: Sequence[str]) -> None:
        try:
            self._pay(task_ids)
        except Exception:
            log.exception("not paid", extra={"step": "relay", "task_ids": task_ids})

    def _notify(self, sink: Sink, change: StatusChange) -> None:
        """One sink that fails stops neither the others nor the next change."""
        try:
            sink.notify(change)
        except Exception:
            log.exception("notify failed", extra={"step": "notify", "task_id": change.task_id})
