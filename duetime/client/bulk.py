"""Bulk operations: as many calls as they take, and their total."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypedDict


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


def given(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}


def pages(call: Callable[[str | None], Any], cursor: str | None) -> Iterator[Any]:
    """Yields the answers of calls until one has no `next_cursor`. `call` makes the one at a
    cursor."""
    while True:
        answer = call(cursor)
        yield answer
        cursor = answer["next_cursor"]
        if cursor is None:
            return


def add_up(parts: Iterable[Any], *, dry_run: bool, on_part: OnPart) -> BulkResult:
    """Returns the total of all answers. `on_part` gets the total after each."""
    total = BulkResult(matched=0, changed=0, dry_run=dry_run, not_changed=[], next_cursor=None)
    for part in parts:
        total = BulkResult(
            matched=total["matched"] + part["matched"],
            changed=total["changed"] + part["changed"],
            dry_run=dry_run,
            not_changed=[*total["not_changed"], *part["not_changed"]],
            next_cursor=part["next_cursor"],
        )
        on_part(total)
    return total
