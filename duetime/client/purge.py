"""The calls that a purge takes."""

from collections.abc import Iterable, Iterator
from typing import Any

from duetime.client.transport import Transport
from duetime.client.types import Purged

PURGE_BATCH = 500  # tasks of one call: it must end well within its timeout


def purge_pages(transport: Transport, body: dict[str, Any]) -> Iterator[Purged]:
    body = {**body, "limit": PURGE_BATCH}
    while True:
        answer: Any = transport.call("POST", "/v1/purge", body=body)
        yield answer
        if answer["next_cursor"] is None:
            return
        body = {**body, "cursor": answer["next_cursor"]}


def purge_total(parts: Iterable[Purged], *, dry_run: bool) -> Purged:
    total = Purged(matched=0, removed=0, dry_run=dry_run)
    for part in parts:
        total["matched"] += part["matched"]
        total["removed"] += part["removed"]
    return total
