"""Dead letters: tasks that ended DEAD. List them, run them again or discard them."""

import builtins
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Unpack, cast

from duetime.client import bulk
from duetime.client.bulk import BulkResult, OnPart, given, ignore, pages
from duetime.client.transport import Transport, page_at, read_items
from duetime.client.types import DeadFilter, Redriven, Task, TaskPage

BATCH = 100  # tasks of one call: it must end well within its timeout


class DeadLetters:
    """The task that died last comes first."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def page(
        self, *, limit: int | None = None, cursor: str | None = None, **which: Unpack[DeadFilter]
    ) -> TaskPage:
        """Returns one page."""
        query = {**which, "limit": limit, "cursor": cursor}
        return cast(TaskPage, self._transport.call("GET", "/v1/dead-letters", query=query))

    def list(self, **which: Unpack[DeadFilter]) -> Iterator[Task]:
        """Yields every dead task that matches; reads page by page."""
        return read_items(lambda at: self.page(**which, **page_at(at)))

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
        return add_up(parts, dry_run=dry_run)

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
        body = given({**which, "all": True if everything else None, "dry_run": dry_run})
        if ids is not None:
            return (self._redrive({**body, "ids": part}) for part in _batches(ids))
        body["limit"] = BATCH
        return pages(lambda at: self._redrive({**body, **given({"cursor": at})}), None)

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
        query = given({**which, "all": "true" if everything else None})
        query["dry_run"] = "true" if dry_run else "false"
        parts = pages(lambda at: self._discard({**query, "cursor": at}), cursor)
        if ids is not None:
            parts = (self._discard({**query, "ids": ",".join(part)}) for part in _batches(ids))
        return bulk.add_up(parts, dry_run=dry_run, on_part=on_part)

    def _discard(self, query: dict[str, Any]) -> Any:
        return self._transport.call("DELETE", "/v1/dead-letters", query=query)

    def _redrive(self, body: dict[str, Any]) -> Any:
        return self._transport.call("POST", "/v1/dead-letters/redrive", body=body)


def _batches(ids: Sequence[str]) -> Iterator[builtins.list[str]]:
    names = builtins.list(dict.fromkeys(ids))
    for start in range(0, len(names), BATCH):
        yield names[start : start + BATCH]


def add_up(parts: Iterable[Redriven], *, dry_run: bool) -> Redriven:
    total = Redriven(redriven=0, dry_run=dry_run, not_redriven=[])
    for part in parts:
        total["redriven"] += part["redriven"]
        total["not_redriven"] += part["not_redriven"]
    return total
