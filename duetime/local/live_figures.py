"""What a `stats` frame says about the attempts since the previous one."""

import threading
from collections.abc import Sequence
from typing import Any

from duetime.core.events import StatusChange
from duetime.core.lifecycle import Outcome, Status
from duetime.core.times import Millis

FAILURES = frozenset({Outcome.FAILED, Outcome.TIMED_OUT, Outcome.LEASE_EXPIRED})


class Figures:
    """One thread counts, another one takes."""

    def __init__(self) -> None:
        self._counting = threading.Lock()
        self._drifts: list[Millis] = []  # of the attempts that have started
        self._failed = 0

    def count(self, changes: Sequence[StatusChange]) -> None:
        with self._counting:
            for change in changes:
                if change.after is Status.RUNNING and change.drift_ms is not None:
                    self._drifts.append(change.drift_ms)
                elif change.before is Status.RUNNING and change.outcome in FAILURES:
                    self._failed += 1

    def take(self) -> dict[str, Any]:
        """Returns the figures, and begins again."""
        with self._counting:
            drifts, failed = self._drifts, self._failed
            self._drifts, self._failed = [], 0
        drifts.sort()
        return {
            "started": len(drifts),
            "failed": failed,
            "drift_ms": {"p50": _percentile(drifts, 50), "p99": _percentile(drifts, 99)},
        }


def _percentile(ordered: Sequence[Millis], percent: int) -> Millis | None:
    """Returns the smallest value that is not exceeded by so many percent of the values."""
    if not ordered:
        return None
    return ordered[max(-(-len(ordered) * percent // 100), 1) - 1]
