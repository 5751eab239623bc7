"""A unique key: of the tasks with one key in a namespace, at most one is live."""

from enum import StrEnum

from duetime.core.value import value


class HeldWhile(StrEnum):
    """How long a task holds its key."""

    PENDING = "pending"  # until its first attempt starts
    RUNNING = "running"  # until it ends


class OnConflict(StrEnum):
    """What a submission does if another task holds the key."""

    RETURN_EXISTING = "return_existing"
    REPLACE = "replace"  # cancels the other task if it has not started
    REJECT = "reject"


@value(frozen=True, kw_only=True, slots=True)
class Unique:
    key: str
    held_while: HeldWhile = HeldWhile.RUNNING
    on_conflict: OnConflict = OnConflict.RETURN_EXISTING
