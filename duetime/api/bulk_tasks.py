"""POST /v1/tasks/cancel, /v1/tasks/retry and /v1/tasks/shift: by the filter of a list."""

from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, Field

from duetime.api.bulk import MAX_TASKS, Action, Bulk, Tally
from duetime.api.bulk_actions import IN_THE_PAST, Cancel, Retry, Shift
from duetime.api.filters import FilterIn, with_query
from duetime.api.http import FieldError, Request, Response, invalid
from duetime.api.idempotency import HEADER, key_of
from duetime.api.query import ALL_NAMESPACES, Query
from duetime.api.task_models import read_body
from duetime.api.validation import Word
from duetime.core.lifecycle import FINISHED, TO_START, Status
from duetime.core.listings import DeadListing, Listing
from duetime.core.ports import Ports
from duetime.core.shifts import mark_of
from duetime.core.task import MAX_AHEAD
from duetime.core.task_filter import TaskFilter
from duetime.core.times import SECOND, seconds

MAX_SHIFT = MAX_AHEAD // SECOND
UNFINISHED = frozenset(Status) - FINISHED
NOT_OF_A_RUN = (
    "a run decides about its steps: cancel or retry it by /v1/runs/{id}, or a task by its own id"
)
NOT_SELECTIVE = ("upcoming",)  # alone it would select every task
NOT_NAMED = (*NOT_SELECTIVE, "run_id")

B = TypeVar("B", bound="BulkIn")


class BulkIn(FilterIn):
    dry_run: bool = False
    limit: Annotated[int, Field(ge=1, le=MAX_TASKS)] = MAX_TASKS
    cursor: str | None = None

    def select(self, statuses: frozenset[Status], done: str, ports: Ports) -> TaskFilter:
        """Returns the filter for a change that tasks in these statuses allow. Raises Problem if it
        would select every task, or none."""
        given = [n for n in FilterIn.model_fields if getattr(self, n) is not None]
        if self.namespace == ALL_NAMESPACES:
            given.remove("namespace")
        if not set(given) - set(NOT_SELECTIVE):
            names = ", ".join(n for n in FilterIn.model_fields if n not in NOT_NAMED)
            everything = 'a namespace other than "*", ' if self.namespace else ""
            raise invalid([FieldError("body", f"give a filter: {everything}one of {names}")])
        if self.run_id is not None:
            raise invalid([FieldError("run_id", NOT_OF_A_RUN)])
        if self.status and statuses.isdisjoint(self.status):
            allowed = ", ".join(status for status in Status if status in statuses)
            raise invalid([FieldError("status", f"only a task that is {allowed} can be {done}")])
        chosen = statuses & frozenset(self.status) if self.status else statuses
        return self.filter(ports.clock.now(), statuses=chosen)


def _not_zero(by: float) -> float:
    if seconds(by) == 0:
        raise ValueError("must not be 0")
    return by


class ShiftIn(BulkIn):
    by: Annotated[float, Field(ge=-MAX_SHIFT, le=MAX_SHIFT), AfterValidator(_not_zero)]
    idempotency_key: Word | None = None


def cancel_tasks(ports: Ports, request: Request) -> Response:
    body = _read(BulkIn, ports, request)
    wanted = body.select(UNFINISHED, "cancelled", ports)
    listing = Listing(filter=wanted, summary=True, cursor=body.cursor)
    return _answer(body, _by_list(ports, body, listing, Cancel(ports=ports, wanted=wanted)))


def retry_tasks(ports: Ports, request: Request) -> Response:
    """Reads the index of dead tasks, which has no others, the latest death first: a task that dies
    again meanwhile is above the cursor, so it is not retried twice."""
    body = _read(BulkIn, ports, request)
    wanted = body.select(frozenset({Status.DEAD}), "retried", ports)
    bulk = Bulk(
        clock=ports.clock,
        read=ports.store.dead,
        listing=DeadListing(namespace=wanted.namespace, cursor=body.cursor),
        action=Retry(ports=ports, wanted=wanted),
        dry_run=body.dry_run,
    )
    return _answer(body, bulk.run(body.limit))


def shift_tasks(ports: Ports, request: Request) -> Response:
    body = _read(ShiftIn, ports, request)
    wanted = body.select(frozenset(TO_START), "shifted", ports)
    key = _key(body, request)
    mark = None if key is None else mark_of(key)
    shift = Shift(ports=ports, wanted=wanted, by=seconds(body.by), mark=mark)
    tally = _by_list(ports, body, Listing(filter=wanted, cursor=body.cursor), shift)
    if body.cursor is None and tally.cursor is None:
        _check_some_in_time(tally)
    return _answer(body, tally)


def _check_some_in_time(tally: Tally) -> None:
    """Refuses a shift that moves nothing because it moves every task into the past."""
    if tally.matched and set(tally.reasons.values()) == {IN_THE_PAST} and not tally.changed:
        message = f"would put every matching task ({tally.matched:,}) into the past"
        raise invalid([FieldError("by", message)])


def _by_list(ports: Ports, body: BulkIn, listing: Listing, action: Action) -> Tally:
    """The position of a task in the list never changes, so a cursor goes on where it stopped."""
    bulk = Bulk(
        clock=ports.clock,
        read=ports.store.page,
        listing=listing,
        action=action,
        dry_run=body.dry_run,
    )
    return bulk.run(body.limit)


def _read(model: type[B], ports: Ports, request: Request) -> B:
    Query(request).done()
    body = request.json()
    if isinstance(body, dict) and "q" in body:
        body = with_query(body, ports.clock.now())
        if "id" in body:
            message = "names ids; send a request for each task, or give what they have in common"
            raise invalid([FieldError("q", message)])
    return read_body(model, body)


def _key(body: ShiftIn, request: Request) -> str | None:
    key = key_of(request)
    if key is not None and body.idempotency_key is not None:
        message = f"give it in the body or as {HEADER}, not both"
        raise invalid([FieldError("idempotency_key", message)])
    return key or body.idempotency_key


def _answer(body: BulkIn, tally: Tally) -> Response:
    result: dict[str, Any] = tally.json(dry_run=body.dry_run)
    return Response(status=200, body=result)
