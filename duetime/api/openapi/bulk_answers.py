"""Answers of operations on many tasks, as duetime.api.openapi.answers has those of one."""

from duetime.api.openapi.answers import AnswerModel


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
