"""The requests that a purge takes, and their answers."""

from collections.abc import Iterable, Sequence
from typing import NotRequired, TypedDict

from duetime.client.calls import Call, ask, pages
from duetime.client.requests import given

PURGE_BATCH = 500  # tasks of one request: it must end well within its timeout


class Purged(TypedDict):
    """The result of a purge. `matched` tasks may leave, and `removed` have left."""

    matched: int
    removed: int
    dry_run: bool
    next_cursor: NotRequired[str | None]


def purge_parts(
    *, older_than: float, status: Sequence[str] | None, namespace: str | None, dry_run: bool
) -> Call[None]:
    """Yields the answer to each request."""
    which = given({"older_than": older_than, "status": status, "namespace": namespace})
    body = {**which, "dry_run": dry_run, "limit": PURGE_BATCH}
    return pages(lambda at: ask("POST", "/v1/purge", body=body | given({"cursor": at})))


def purge_total(parts: Iterable[Purged], *, dry_run: bool) -> Purged:
    total = Purged(matched=0, removed=0, dry_run=dry_run)
    for part in parts:
        total["matched"] += part["matched"]
        total["removed"] += part["removed"]
    return total
