"""Types of the JSON of dead letters."""

from typing import TypedDict

from duetime.client.types import Moment


class DeadFilter(TypedDict, total=False):
    """Selects dead tasks. A field that is None or left out matches every task."""

    namespace: str | None
    error_type: str | None
    handler: str | None
    fingerprint: str | None  # of a group
    died_after: Moment | None  # then or later
    died_before: Moment | None


class DeadGroup(TypedDict):
    """Dead tasks of the same cause."""

    fingerprint: str  # redrive and discard take it
    error_type: str | None
    target: str
    message: str  # what the messages have in common: … is in place of the rest
    count: int
    first: str  # death
    last: str
    sample_id: str  # the task that died last
    namespaces: list[str]  # at most 20


class DeadGroups(TypedDict):
    """The groups of the dead tasks that one call has read, the largest first."""

    items: list[DeadGroup]
    looked_at: int
    complete: bool
    next_cursor: str | None  # None when complete


class NotRedriven(TypedDict):
    id: str
    reason: str


class Redriven(TypedDict):
    """The result of a redrive; after a dry run, what it would be."""

    redriven: int
    dry_run: bool
    not_redriven: list[NotRedriven]
