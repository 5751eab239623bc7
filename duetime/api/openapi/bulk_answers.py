"""Answers of operations on many tasks, as duetime.api.openapi.answers has those of one."""

from duetime.api.openapi.answers import AnswerModel, Time


class NotRedriven(AnswerModel):
    """A task that a redrive left alone."""

    id: str
    reason: str


class RedriveResult(AnswerModel):
    """What a redrive did."""

    redriven: int
    """How many tasks were redriven; in a dry run, how many would be."""
    dry_run: bool
    not_redriven: list[NotRedriven]
    next_cursor: str | None
    """Send it as `cursor` to go on; null when all are done."""


class DeadGroup(AnswerModel):
    """Dead tasks of the same cause."""

    fingerprint: str
    """Of the cause. `redrive` and `discard` take it as a filter."""
    error_type: str | None
    target: str
    """The handler, or the resource that was called."""
    message: str
    """What the messages have in common: `…` is in place of the rest."""
    count: int
    first: Time
    """The earliest death that was read."""
    last: Time
    sample_id: str
    """The task that died last."""
    namespaces: list[str]
    """The namespaces of the tasks, at most 20."""


class DeadGroups(AnswerModel):
    """Dead tasks by their cause."""

    items: list[DeadGroup]
    looked_at: int
    """How many dead tasks were read."""
    complete: bool
    """Whether these are all."""
    next_cursor: str | None
    """Send it as `cursor` for the groups of the next ones; null when these are all."""


class NotChanged(AnswerModel):
    """A task that a bulk operation left as it is."""

    id: str
    reason: str
    """Why, in words."""


class BulkResult(AnswerModel):
    """What a bulk operation did."""

    matched: int
    """How many tasks the request is about."""
    changed: int
    """How many of them were changed; in a dry run, how many would be."""
    dry_run: bool
    not_changed: list[NotChanged]
    next_cursor: str | None
    """Send it as `cursor` to go on; null when all are done."""


class PurgeResult(AnswerModel):
    """What a purge did."""

    matched: int
    """How many tasks the request is about."""
    removed: int
    """How many of them are removed; 0 in a dry run."""
    dry_run: bool
    next_cursor: str | None
    """Send it as `cursor` to go on; null when all are done."""
