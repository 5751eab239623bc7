"""Lists, page by page, each short enough for one answer."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeVar

from lambdas.api.encoding import encode
from lambdas.api.http import FieldError, Response, invalid
from lambdas.api.render import task_json
from lambdas.core.ports import DeadListing, Listing, Page

if TYPE_CHECKING:
    from lambdas.core.schedules.ports import ScheduleListing

ANSWER_LIMIT = 2 * 1024 * 1024  # bytes of a list; a Lambda answers with 6 MB, quotes escaped

L = TypeVar("L", Listing, DeadListing, "ScheduleListing")
P = TypeVar("P")
Told = tuple[Sequence[dict[str, Any]], str | None]  # the items, and where the next page begins


def task_page(read: Callable[[L], Page], listing: L) -> Response:
    return fitting_page(read, listing, _tasks)


def list_page(items: Sequence[dict[str, Any]], cursor: str | None) -> Response:
    return Response(status=200, body={"items": items, "next_cursor": cursor})


def fitting_page(read: Callable[[L], P], listing: L, tell: Callable[[P], Told]) -> Response:
    """A page may be short, so one that is too much for one answer is read again, shorter."""
    items, cursor = tell(read_page(read, listing))
    sizes = accumulate(len(encode(item)) for item in items)
    fitting = sum(1 for size in sizes if size <= ANSWER_LIMIT)
    if fitting < len(items):
        items, cursor = tell(read_page(read, replace(listing, limit=max(fitting, 1))))
    return list_page(items, cursor)


def read_page(read: Callable[[L], P], listing: L) -> P:
    """A store takes no cursor that it has not made."""
    try:
        return read(listing)
    except ValueError as error:
        raise invalid([FieldError("cursor", str(error))]) from None


def _tasks(page: Page) -> Told:
    return [task_json(task) for task in page.tasks], page.cursor
