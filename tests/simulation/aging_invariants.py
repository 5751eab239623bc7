"""What must always hold of aging: a task that waits in its lane moves up in time, one lane at a
time, and only while it waits."""

from collections.abc import Callable

from duetime.core.change import Change
from duetime.core.lanes import Lane
from duetime.core.lifecycle import Status, Step
from duetime.core.task import Task
from duetime.core.times import HOUR, MINUTE, SECOND, Millis
from duetime.core.wakes import WakeKind
from tests.simulation.engine import Process

# One of them in each world; 0: tasks do not age. The hour is a deployment's.
AGE_AFTERS: list[Millis] = [0, 2 * MINUTE, 6 * MINUTE, HOUR]
SPREAD: Millis = 10 * SECOND  # a task is promoted a little earlier, so that watches are spread
UP = {Lane.LOW: Lane.MEDIUM, Lane.MEDIUM: Lane.HIGH}
IN_ITS_LANE = (Status.ENQUEUED, Status.RETRYING)


class AgingInvariants:
    """`blame` gets each violation, and the id of its task."""

    def __init__(self, age_after: Millis, blame: Callable[[str, str], None]) -> None:
        self.promotions = 0
        self._age_after = age_after
        self._blame = blame

    def changed(self, process: Process, change: Change, before: Task, after: Task) -> None:
        if change.step is Step.PROMOTE:
            self._check_promotion(process, before, after)
        elif after.promoted not in (before.promoted, None):
            self._blame(f"{change.step} promoted it", after.id)
        wake, waits = after.wake, after.status in IN_ITS_LANE
        if wake is not None and waits and wake.lane is not after.lane:
            self._blame(f"is in the lane {after.lane}, and its wake in {wake.lane}", after.id)
        if change.step is Step.WATCH and waits and not after.in_line and after.lane in UP:
            self._check_watch(after)

    def _check_promotion(self, process: Process, before: Task, after: Task) -> None:
        self.promotions += 1
        if not self._age_after:
            self._blame("promoted, and tasks do not age", after.id)
        if before.status not in IN_ITS_LANE:
            self._blame(f"promoted while it was {before.status}", after.id)
        if after.lane is not UP.get(before.lane) or after.spec != before.spec:
            self._blame(f"promoted from {before.lane} to {after.lane}", after.id)
        if process.clock.now() < self._aged_at(before) - SPREAD:
            self._blame("promoted before it had waited for so long", after.id)

    def _check_watch(self, after: Task) -> None:
        """A watch of a task that has waited for long enough promotes it; an earlier one leaves the
        next watch before that."""
        wake = after.wake
        if self._age_after and wake and wake.kind is WakeKind.WATCH:
            late = wake.at - self._aged_at(after)
            if late > 0:
                self._blame(f"waits, and is watched {late} ms after its promotion", after.id)

    def _aged_at(self, task: Task) -> Millis:
        since = max(task.due_at, task.promoted.at) if task.promoted else task.due_at
        return since + self._age_after
