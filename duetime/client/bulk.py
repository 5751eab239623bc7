"""Bulk operations: as many requests as they take, and their total."""

from collections.abc import Callable, Mapping
from typing import Any, TypedDict

from duetime.client.calls import Call, ask
from duetime.client.requests import given


class NotChanged(TypedDict):
    id: str
    reason: str


class BulkResult(TypedDict):
    """The result of a bulk operation; after a dry run, what it would be."""

    matched: int
    changed: int
    dry_run: bool
    not_changed: list[NotChanged]
    next_cursor: str | None  # where to go on; None: it is done


OnPart = Callable[[BulkResult], None]


def ignore(_: BulkResult) -> None:
    """The `on_part` of a caller that only wants the total."""


class Total:
    """Adds up answers. `on_part` gets the total after each."""

    def __init__(self, *, dry_run: bool, on_part: OnPart) -> None:
        self.sum = BulkResult(
            matched=0, changed=0, dry_run=dry_run, not_changed=[], next_cursor=None
        )
        self._on_part = on_part

    def add(self, part: Any) -> str | None:
        """Returns the cursor of the next part."""
        total = self.sum
        self.sum = BulkResult(
            matched=total["matched"] + part["matched"],
            changed=total["changed"] + part["changed"],
            dry_run=total["dry_run"],
            not_changed=[*total["not_changed"], *part["not_changed"]],
            next_cursor=part["next_cursor"],
        )
        self._on_part(self.sum)
        return self.sum["next_cursor"]


def bulk(
    operation: str,
    fields: Mapping[str, Any],
    *,
    dry_run: bool,
    cursor: str | None,
    on_part: OnPart,
) -> Call[BulkResult]:
    body = given(fields) | {"dry_run": dry_run}
    total = Total(dry_run=dry_run, on_part=on_part)
    while True:
        part = body | given({"cursor": cursor})
        cursor = total.add((yield from ask("POST", f"/v1/tasks/{operation}", body=part)))
        if cursor is None:
            return total.sum
