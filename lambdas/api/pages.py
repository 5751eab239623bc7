"""Lists of tasks, page by page, each short enough for one answer."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, TypeVar

from pydantic_core import to_json

from lambdas.api.http import FieldError, Response, invalid
from lambdas.api.render import task_json
from lambdas.core.ports import DeadListing, Listing, Page

ANSWER_LIMIT = 2 * 1024 * 1024  # bytes of a list; a Lambda answers with 6 MB, quotes escaped

L = TypeVar("L", Listing, DeadListing)


def task_page(read: Callable[[L], Page], listing: L) -> Response:
    page = _fitting_page(read, listing)
    return list_page([task_json(task) for task in page.tasks], page.cursor)


def list_page(items: Sequence[dict[str, Any]], cursor: str | None) -> Response:
    return Response(status=200, body={"items": items, "next_cursor": cursor})


def read_page(read: Callable[[L], Page], listing: L) -> Page:
    """A store takes no cursor that it has not made."""
    try:
        return read(listing)
    except ValueError as error:
        raise invalid([FieldError("cursor", str(error))]) from None


def _fitting_page(read: Callable[[L], Page], listing: L) -> Page:
    """A page may be short, so one that is too much for one answer is read again, shorter."""
    page = read_page(read, listing)
    sizes = accumulate(len(to_json(task_json(task))) for task in page.tasks)
    fitting = sum(1 for size in sizes if size <= ANSWER_LIMIT)
    if fitting == len(page.tasks):
        return page
    return read_page(read, replace(listing, limit=max(fitting, 1)))
