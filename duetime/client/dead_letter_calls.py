"""Calls about dead letters."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from duetime.client.bulk import BulkResult, OnPart, Total
from duetime.client.calls import Call, Item, ask, items, pages
from duetime.client.dead_letter_types import DeadFilter, DeadGroups, Redriven
from duetime.client.requests import given
from duetime.client.types import TaskPage

DEAD = "/v1/dead-letters"
BATCH = 100  # tasks of one request: it must end well within its timeout


def page(which: DeadFilter, *, limit: int | None, cursor: str | None) -> Call[TaskPage]:
    return ask("GET", DEAD, query={**which, "limit": limit, "cursor": cursor})


def every(which: DeadFilter) -> Call[None]:
    return items(DEAD, {**which})


def groups(which: DeadFilter, *, cursor: str | None) -> Call[DeadGroups]:
    return ask("GET", f"{DEAD}/groups", query={**which, "cursor": cursor})


def redrive_parts(
    which: DeadFilter, *, ids: Sequence[str] | None, everything: bool, dry_run: bool
) -> Call[None]:
    """Yields the answer to each request."""
    body = given({**which, "dry_run": dry_run, "all": True if everything else None})
    if ids is None:
        body["limit"] = BATCH
        yield from pages(lambda at: _redrive(body | given({"cursor": at})))
        return
    for part in _batches(ids):
        yield Item((yield from _redrive({**body, "ids": part})))


def discard(
    which: DeadFilter,
    *,
    ids: Sequence[str] | None,
    everything: bool,
    dry_run: bool,
    cursor: str | None,
    on_part: OnPart,
) -> Call[BulkResult]:
    query = given({**which, "all": "true" if everything else None})
    query["dry_run"] = "true" if dry_run else "false"
    total = Total(dry_run=dry_run, on_part=on_part)
    if ids is not None:
        for part in _batches(ids):
            total.add((yield from _discard({**query, "ids": ",".join(part)})))
        return total.sum
    while True:
        cursor = total.add((yield from _discard({**query, "cursor": cursor})))
        if cursor is None:
            return total.sum


def _redrive(body: dict[str, Any]) -> Call[Any]:
    return ask("POST", f"{DEAD}/redrive", body=body)


def _discard(query: dict[str, Any]) -> Call[Any]:
    return ask("DELETE", DEAD, query=query)


def _batches(ids: Sequence[str]) -> Iterator[list[str]]:
    names = list(dict.fromkeys(ids))
    for start in range(0, len(names), BATCH):
        yield names[start : start + BATCH]


def redrive_total(parts: Iterable[Redriven], *, dry_run: bool) -> Redriven:
    total = Redriven(redriven=0, dry_run=dry_run, not_redriven=[])
    for part in parts:
        total["redriven"] += part["redriven"]
        total["not_redriven"] += part["not_redriven"]
    return total
