"""What must always hold of bulk operations: each shift moves a task at most once, a cancel by a
filter touches only tasks that the filter selects, and only dead tasks are discarded."""

from collections import Counter
from collections.abc import Callable

from duetime.core.change import Change
from duetime.core.lifecycle import Status, Step
from duetime.core.task import Task
from duetime.core.times import Millis
from tests.simulation.engine import Process


class BulkInvariants:
    """`blame` gets each violation, and the id of its task."""

    def __init__(self, blame: Callable[[str, str], None]) -> None:
        self._blame = blame
        self.shifts: dict[Millis, str] = {}  # by how much → the key
        self.discards: set[str] = set()  # the ids that an operator discards
        self._moved: Counter[tuple[str, str]] = Counter()

    def changed(self, process: Process, change: Change, before: Task, after: Task) -> None:
        if change.step is Step.DEFER and process.name.startswith("bulk"):
            self._check_shift(before, after)
        if change.step in (Step.CANCEL, Step.REQUEST_CANCEL) and process.name.startswith("bulk"):
            self._check_cancel(before)
        if change.step is Step.DISCARD:
            self._check_discard(before, after)

    def _check_shift(self, before: Task, after: Task) -> None:
        key = self.shifts.get(after.due_at - before.due_at)
        if key is None:
            self._blame(f"shifted by {after.due_at - before.due_at} ms", after.id)
            return
        self._moved[after.id, key] += 1
        if self._moved[after.id, key] > 1:
            self._blame(f"moved twice by {key}", after.id)
        if before.spec.tags.get("bulk") != "shift":
            self._blame("shifted, although the filter does not select it", after.id)

    def _check_cancel(self, before: Task) -> None:
        selected = before.status in (Status.PENDING, Status.ENQUEUED)
        if before.cancel_requested:  # a shift enqueues a retry with a cancel request: it ends
            return
        if not selected or before.spec.tags.get("bulk") != "cancel":
            self._blame(
                f"cancelled while {before.status}: the filter does not select it", before.id
            )

    def _check_discard(self, before: Task, after: Task) -> None:
        if before.status is not Status.DEAD or before.id not in self.discards:
            self._blame(f"discarded while {before.status}, or unasked", after.id)
        if (after.token, after.wake) != (before.token, before.wake):
            self._blame("discarded, and its token or wake changed", after.id)
