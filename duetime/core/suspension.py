"""A suspension: what a WAITING task waits for.

A task waits without a message and without an executor: for a run that it has started (a nested
workflow or a map), or for a callback. What it waits for resumes it. A wait that has failed leaves
its error here, and the task is sent once more, so that an executor buries it like any other task.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from duetime.core.times import Millis
from duetime.core.value import value


class WaitsFor(StrEnum):
    RUN = "run"  # a nested run, or the run of a map
    CALLBACK = "callback"


@value(frozen=True, kw_only=True, slots=True)
class Suspension:
    kind: WaitsFor
    id: str  # of the run; of a callback, the hash of its token
    run_attempt: int = 0  # of the run: the task waits for this attempt, or a later one
    until: Millis | None = None  # when the wait expires
    error_type: str | None = None  # this and the message once the wait has failed
    error_message: str | None = None

    @property
    def failed(self) -> bool:
        return self.error_type is not None


def encode_suspension(suspension: Suspension) -> list[Any]:
    of = suspension
    written = [of.kind.value, of.id, of.run_attempt, of.until]
    return [*written, of.error_type, of.error_message] if of.failed else written


def decode_suspension(written: Sequence[Any]) -> Suspension:
    kind, waits_for, run_attempt, until, *error = written
    error_type, error_message = error or (None, None)
    return Suspension(
        kind=WaitsFor(kind),
        id=waits_for,
        run_attempt=run_attempt,
        until=until,
        error_type=error_type,
        error_message=error_message,
    )
