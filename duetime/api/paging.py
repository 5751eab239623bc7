"""Cursor paging: pages of tasks, dead letters and schedules that fit into one answer."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeVar

from duetime.api.encoding import encode
from duetime.api.http import FieldError, Response, invalid
from duetime.core.listings import DeadListing, EndedListing, Listing, Page
from duetime.core.task_json import task_json

if TYPE_CHECKING:
    from duetime.core.limits.ports import LimitListing
    from duetime.core.schedules.ports import ScheduleListing
    from duetime.core.workflows.ports import RunListing

ANSWER_LIMIT = 2 * 1024 * 1024  # bytes of a list; a Lambda answers with 6 MB, quotes escaped

L = TypeVar(
    "L", Listing, DeadListing, EndedListing, "ScheduleListing", "LimitListing", "RunListing"
)
P = TypeVar("P")
JsonPage = tuple[Sequence[dict[str, Any]], str | None]  # the items and the cursor of the next page


def task_page(read: Callable[[L], Page], listing: L) -> Response:
    return page_response(read, listing, _task_items)


def page_response(read: Callable[[L], P], listing: L, render: Callable[[P], JsonPage]) -> Response:
    def body(of: L) -> dict[str, Any]:
        return _list_body(*render(read_page(read, of)))

    return fitting_response(body, listing)


def fitting_response(body: Callable[[L], dict[str, Any]], listing: L) -> Response:
    """Returns the answer to a list, encoded. A page that is too large for one answer is read again
    with a lower limit: a client must expect short pages anyway. `body` reads a page with its
    `items`."""
    response = Response(status=200, body=body(listing))
    if len(response.encoded()) <= ANSWER_LIMIT:
        return response
    items = response.body["items"]
    fitting = _fitting_limit(items)
    if fitting == len(items):
        return response
    return Response(status=200, body=body(replace(listing, limit=fitting)))


def _fitting_limit(items: Sequence[dict[str, Any]]) -> int:
    """Returns how many items fit into one answer, at least one."""
    sizes = accumulate(len(encode(item)) for item in items)
    return max(sum(1 for size in sizes if size <= ANSWER_LIMIT), 1)


def list_response(items: Sequence[dict[str, Any]], cursor: str | None) -> Response:
    return Response(status=200, body=_list_body(items, cursor))


def _list_body(items: Sequence[dict[str, Any]], cursor: str | None) -> dict[str, Any]:
    return {"items": items, "next_cursor": cursor}


@contextmanager
def refusing_bad_cursors() -> Iterator[None]:
    """Reports a cursor that the store has not made as an error in the request."""
    try:
        yield
    except ValueError as error:
        raise invalid([FieldError("cursor", str(error))]) from None


def read_page(read: Callable[[L], P], listing: L) -> P:
    with refusing_bad_cursors():
        return read(listing)


def _task_items(page: Page) -> JsonPage:
    return [task_json(task) for task in page.tasks], page.cursor
