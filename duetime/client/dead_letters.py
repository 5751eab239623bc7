"""Dead letters: tasks that ended DEAD. List them, run them again or discard them."""

from collections.abc import Iterator, Sequence
from typing import Unpack

from duetime.client import dead_letter_calls as calls
from duetime.client.bulk import BulkResult, OnPart, ignore
from duetime.client.dead_letter_types import DeadFilter, DeadGroups, Redriven
from duetime.client.transport import Transport
from duetime.client.types import Task, TaskPage


class DeadLetters:
    """The task that died last comes first."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def page(
        self, *, limit: int | None = None, cursor: str | None = None, **which: Unpack[DeadFilter]
    ) -> TaskPage:
        """Returns one page."""
        return self._transport.run(calls.page(which, limit=limit, cursor=cursor))

    def list(self, **which: Unpack[DeadFilter]) -> Iterator[Task]:
        """Yields every dead task that matches; reads page by page."""
        return self._transport.iterate(calls.every(which))

    def groups(self, *, cursor: str | None = None, **which: Unpack[DeadFilter]) -> DeadGroups:
        """Returns the dead tasks that match by their cause: the error type, the target, and the
        message without quoted text and words with a digit.

        It reads at most 5,000, the latest deaths first. Unless it is `complete`, call it again with
        `next_cursor` for the groups of the next ones."""
        return self._transport.run(calls.groups(which, cursor=cursor))

    def redrive(
        self,
        *,
        ids: Sequence[str] | None = None,
        everything: bool = False,
        dry_run: bool = False,
        **which: Unpack[DeadFilter],
    ) -> Redriven:
        """Runs dead tasks again: those with these ids, those that match a filter, or everything.
        Give exactly one of the three. With `dry_run` nothing changes, and `redriven` is how many
        would be redriven."""
        parts = self.redrive_in_parts(ids=ids, everything=everything, dry_run=dry_run, **which)
        return calls.redrive_total(parts, dry_run=dry_run)

    def redrive_in_parts(
        self,
        *,
        ids: Sequence[str] | None = None,
        everything: bool = False,
        dry_run: bool = False,
        **which: Unpack[DeadFilter],
    ) -> Iterator[Redriven]:
        """Like redrive, and yields the answer to each of the calls that it takes, so that a later
        error does not hide what was done before."""
        call = calls.redrive_parts(which, ids=ids, everything=everything, dry_run=dry_run)
        return self._transport.iterate(call)

    def discard(
        self,
        *,
        ids: Sequence[str] | None = None,
        everything: bool = False,
        dry_run: bool = False,
        cursor: str | None = None,
        on_part: OnPart = ignore,
        **which: Unpack[DeadFilter],
    ) -> BulkResult:
        """Gives dead tasks up: those with these ids, those that match a filter, or everything.
        Give exactly one of the three. A discarded task is CANCELLED, and cannot be revived.

        It takes as many calls as needed. After each, `on_part` gets the total so far, whose
        `next_cursor` continues an operation that was stopped. A `dry_run` only counts."""
        call = calls.discard(
            which, ids=ids, everything=everything, dry_run=dry_run, cursor=cursor, on_part=on_part
        )
        return self._transport.run(call)
