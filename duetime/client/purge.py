"""The calls that a purge takes."""

from collections.abc import Iterable, Iterator
from typing import Any

from duetime.client.bulk import given, pages
from duetime.client.transport import Transport
from duetime.client.types import Purged

PURGE_BATCH = 500  # tasks of one call: it must end well within its timeout


def purge_pages(transport: Transport, body: dict[str, Any]) -> Iterator[Purged]:
    def call(cursor: str | None) -> Any:
        at = given({"cursor": cursor})
        return transport.call("POST", "/v1/purge", body={**body, "limit": PURGE_BATCH, **at})

    return pages(call, None)


def purge_total(parts: Iterable[Purged], *, dry_run: bool) -> Purged:
    total = Purged(matched=0, removed=0, dry_run=dry_run)
    for part in parts:
        total["matched"] += part["matched"]
        total["removed"] += part["removed"]
    return total
