"""Tasks that ended DEAD: who they are, and another life for many of them."""

import builtins
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Unpack, cast

from duetime.client.shapes import DeadFilter, Redriven, Task, TaskPage
from duetime.client.wire import PAGE, Wire

AT_ONCE = 100  # tasks of one call: few enough to be answered well within its timeout


class DeadLetters:
    """The task that died last comes first."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def page(
        self, *, limit: int | None = None, cursor: str | None = None, **which: Unpack[DeadFilter]
    ) -> TaskPage:
        """One page."""
        query = {**which, "limit": limit, "cursor": cursor}
        return cast(TaskPage, self._wire.call("GET", "/v1/dead-letters", query=query))

    def list(self, **which: Unpack[DeadFilter]) -> Iterator[Task]:
        """Every dead task that matches, read page by page."""
        cursor = None
        while True:
            page = self.page(**which, limit=PAGE, cursor=cursor)
            yield from page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def redrive(
        self,
        *,
        ids: Sequence[str] | None = None,
        everything: bool = False,
        dry_run: bool = False,
        **which: Unpack[DeadFilter],
    ) -> Redriven:
        """Give another life to these ids, or to all that match a filter, or to everything: one
        of the three. With `dry_run` nothing is changed, and `redriven` is how many would be."""
        parts = self.redrive_in_parts(ids=ids, everything=everything, dry_run=dry_run, **which)
        return summed(parts, dry_run=dry_run)

    def redrive_in_parts(
        self,
        *,
        ids: Sequence[str] | None = None,
        everything: bool = False,
        dry_run: bool = False,
        **which: Unpack[DeadFilter],
    ) -> Iterator[Redriven]:
        """Like redrive, and tells what each of the calls has come to that it takes, so that an
        error in the midst does not hide what was done before."""
        body: dict[str, Any] = {name: value for name, value in which.items() if value is not None}
        body["dry_run"] = dry_run
        if everything:
            body["all"] = True
        if ids is None:
            yield from self._redrive_pages({**body, "limit": AT_ONCE})
            return
        names = builtins.list(dict.fromkeys(ids))
        for start in range(0, len(names), AT_ONCE):
            yield self._redrive({**body, "ids": names[start : start + AT_ONCE]})

    def _redrive_pages(self, body: dict[str, Any]) -> Iterator[Redriven]:
        while True:
            answer = self._redrive(body)
            yield answer
            if answer["next_cursor"] is None:
                return
            body = {**body, "cursor": answer["next_cursor"]}

    def _redrive(self, body: dict[str, Any]) -> Any:
        return self._wire.call("POST", "/v1/dead-letters/redrive", body=body)


def summed(parts: Iterable[Redriven], *, dry_run: bool) -> Redriven:
    total = Redriven(redriven=0, dry_run=dry_run, not_redriven=[])
    for part in parts:
        total["redriven"] += part["redriven"]
        total["not_redriven"] += part["not_redriven"]
    return total
