"""GET /v1/tasks: a page of tasks, in one of two orders, whole or as summaries."""

from collections.abc import Callable
from enum import StrEnum
from functools import partial
from typing import Any

from duetime.api.filters import filter_of_query
from duetime.api.http import FieldError, Request, Response, invalid
from duetime.api.paging import fitting_response, read_page
from duetime.api.query import Query
from duetime.api.summaries import summary_json
from duetime.core.lifecycle import FINISHED
from duetime.core.listings import Listing, ListOrder, Page
from duetime.core.ports import Ports
from duetime.core.task_filter import TaskFilter
from duetime.core.task_json import moment_json, task_json


class Fields(StrEnum):
    ALL = "all"
    SUMMARY = "summary"


def task_list(ports: Ports, request: Request) -> Response:
    query = Query(request)
    now = ports.clock.now()
    wanted = filter_of_query(query, now)
    listing = Listing(
        filter=wanted,
        order=query.one_of("order", ListOrder) or ListOrder.NEWEST,
        due_from=max(now, wanted.due_since or 0),
        summary=query.one_of("fields", Fields) is Fields.SUMMARY,
        limit=query.limit(),
        cursor=query.text("cursor"),
    )
    query.done()
    if listing.order is ListOrder.SOONEST:
        _check_soonest(listing.filter)
    if listing.filter.ids:
        return _named(ports, listing)
    read = ports.store.page if wanted.run_id is None else _of_run(ports, listing)
    return fitting_response(lambda of: _body(of, read_page(read, of)), listing)


def _of_run(ports: Ports, listing: Listing) -> Callable[[Listing], Page]:
    from duetime.api.run_tasks import page_of_run  # most lists are not of a run

    if listing.order is not ListOrder.NEWEST:
        raise invalid([FieldError("order", "goes without a run: its tasks are listed by step")])
    return partial(page_of_run, ports)


def _named(ports: Ports, listing: Listing) -> Response:
    """Returns the tasks that the query names by their ids, on one page."""
    if listing.order is not ListOrder.NEWEST or listing.cursor is not None:
        raise invalid([FieldError("q", "has an id, which goes with neither order nor cursor")])
    wanted = listing.filter
    found = ports.store.get(list(dict.fromkeys(wanted.ids))).values()
    tasks = sorted(filter(wanted.wants, found), key=lambda task: task.id, reverse=True)
    page = Page(tasks=tasks[: listing.limit], cursor=None)
    return Response(status=200, body=_body(listing, page))


def _body(listing: Listing, page: Page) -> dict[str, Any]:
    render = summary_json if listing.summary else task_json
    body = {"items": [render(task) for task in page.tasks], "next_cursor": page.cursor}
    if listing.order is ListOrder.SOONEST:
        body["looked_from"] = moment_json(page.looked_from)
        body["looked_until"] = moment_json(page.looked_until)
    return body


def _check_soonest(wanted: TaskFilter) -> None:
    """Refuses a list that would always be empty."""
    if wanted.statuses and wanted.statuses <= FINISHED:
        message = "order=soonest lists tasks that are still to start: leave out what has ended"
        raise invalid([FieldError("status", message)])
