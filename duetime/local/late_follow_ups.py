"""Follow-ups that the relay of the local runner puts off.

The role that ends an attempt, or a wait, of a step runs the follow-up itself, right after its
write. When deployed, the relay sees that write about a second later. Here it sees it at once, so
it would race with that role for the row of the run, and each would do the work of both. Instead it
looks a second later, and runs what the other role has left.
"""

import logging
from collections import deque
from collections.abc import Callable, Sequence
from time import monotonic

from duetime.core.events import StatusChange
from duetime.core.lifecycle import Status

log = logging.getLogger(__name__)

DELAY = 1.0  # seconds

Changes = Sequence[StatusChange]


class LateFollowUps:
    """Runs the follow-ups of ended tasks, some at once and some later. Only the thread of the relay
    calls it. What is not due when the runner stops is done at its next start.

    Args:
        run: Runs the follow-ups of the tasks that have ended with these changes.
        clock: Returns seconds."""

    def __init__(
        self, run: Callable[[Changes], object], clock: Callable[[], float] = monotonic
    ) -> None:
        self._run = run
        self._clock = clock
        self._later: deque[tuple[float, Changes]] = deque()

    @property
    def wait(self) -> float | None:
        """Seconds until something is due; None: not before the next change."""
        return max(self._later[0][0] - self._clock(), 0) if self._later else None

    def __call__(self, changes: Changes) -> None:
        later = [change for change in changes if _has_its_role(change)]
        if later:
            self._later.append((self._clock() + DELAY, later))
        now = [change for change in changes if not _has_its_role(change)]
        if now:
            self._run(now)

    def run_due(self) -> None:
        due: list[StatusChange] = []
        while self._later and self._later[0][0] <= self._clock():
            due += self._later.popleft()[1]
        if not due:
            return
        try:
            self._run(due)
        except Exception:
            task_ids = [change.task_id for change in due]
            log.exception("follow-up failed", extra={"step": "relay", "task_ids": task_ids})


def _has_its_role(change: StatusChange) -> bool:
    """Whether the role that made the change runs the follow-up: an executor after an attempt of a
    step, or the role that ends its wait. Other follow-ups are left to the relay."""
    return change.run_id is not None and change.before in (Status.RUNNING, Status.WAITING)
