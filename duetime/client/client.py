"""The client: its own methods are for tasks, and each other resource is an attribute."""

import builtins
import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, Self, Unpack, cast
from uuid import uuid4

import httpx

from duetime.client.bulk import BulkResult, OnPart, add_up, given, ignore, pages
from duetime.client.dead_letters import DeadLetters
from duetime.client.errors import ApiError, StillGoing, Throttled, Unreachable
from duetime.client.filters import filter_body, filter_query
from duetime.client.purge import purge_pages, purge_total
from duetime.client.schedules import Schedules
from duetime.client.submissions import Submitter
from duetime.client.transport import Transport, page_at, read_items, task_path
from duetime.client.types import (
    Attempt,
    BatchResult,
    ChangeFields,
    Fields,
    Json,
    Order,
    Purged,
    Seconds,
    Submitted,
    Task,
    TaskFields,
    TaskFilter,
    TaskPage,
)
from duetime.core.errors import DuetimeError
from duetime.core.lifecycle import FINISHED


class Client:
    """A client of the Duetime at `url`; by default at DUETIME_URL, or else on this machine.

    >>> client = Client()
    >>> task = client.submit(target={"type": "python", "handler": "duetime.hello"}, delay=10)
    >>> client.wait(task["id"])["status"]
    'SUCCEEDED'
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        sign: str | None = None,
        token: str | None = None,
        timeout: float = 10.0,
        retries: int = 3,
        transport: httpx.BaseTransport | None = None,
        patience: float = 30.0,
        on_silence: Callable[[DuetimeError], None] = lambda _: None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """`sign` (default: DUETIME_SIGN) is the AWS region to sign requests for, with the
        credentials that every AWS tool finds. An API Gateway address names its region already.

        `token` (default: DUETIME_TOKEN) is a bearer token to send instead of a signature.

        `timeout` is how many seconds a request may take.

        `retries` is how often a submission is repeated that gets no answer, or 429, 502, 503 or
        504. Each task is sent with an id, so that it is stored once. 0 turns it off.

        `patience` is how many seconds `follow` and `wait` keep polling while Duetime does not
        answer, since a runner may be restarting. They call `on_silence` once, with the error."""
        self._transport = Transport(url, timeout, transport, sign=sign, token=token)
        self._submitter = Submitter(self._transport, retries=retries, sleep=sleep, chance=chance)
        self.dead_letters = DeadLetters(self._transport)
        self.schedules = Schedules(self._transport)
        self._patience, self._on_silence = patience, on_silence
        self._sleep, self._clock = sleep, clock

    @property
    def url(self) -> str:
        return self._transport.url

    def submit(self, /, **fields: Unpack[TaskFields]) -> Task:
        """Submits a task and returns it as stored.

        With an idempotency key or an `id` that was used before, returns the task stored then. If
        another task holds its unique key, returns that task."""
        return self.submit_once(**fields).task

    def submit_once(self, /, **fields: Unpack[TaskFields]) -> Submitted:
        """Like submit, and also returns whether the task was stored before."""
        return self._submitter.submit(fields)

    def submit_batch(self, tasks: Sequence[TaskFields]) -> "builtins.list[BatchResult]":
        """Submits up to 100 tasks and returns one result for each, in order.

        If one is refused, the others are still stored."""
        return self._submitter.submit_batch(tasks)

    def get(self, task_id: str) -> Task:
        """Returns a task as it is now."""
        return cast(Task, self._transport.call("GET", task_path(task_id)))

    def cancel(self, task_id: str) -> Task:
        """Cancels a task and returns it: CANCELLED, or still RUNNING with `cancel_requested`."""
        return cast(Task, self._transport.call("DELETE", task_path(task_id)))

    def change(self, task_id: str, /, **fields: Unpack[ChangeFields]) -> Task:
        """Changes a task that is not running and returns it: `change(id, delay=172_800)`.

        A time counts from now, as in submit. Raises ApiError with status 409 if the task runs or
        has ended."""
        return cast(Task, self._transport.call("PATCH", task_path(task_id), body=fields))

    def run(self, task_id: str) -> Task:
        """Makes a task that is not running due now, and returns it."""
        return cast(Task, self._transport.call("POST", f"{task_path(task_id)}/run"))

    def retry(self, task_id: str) -> Task:
        """Runs a DEAD task again, with as many attempts as at first. It is RETRYING and due now."""
        return cast(Task, self._transport.call("POST", f"{task_path(task_id)}/retry"))

    def cancel_many(
        self,
        *,
        dry_run: bool = False,
        cursor: str | None = None,
        on_part: OnPart = ignore,
        **which: Unpack[TaskFilter],
    ) -> BulkResult:
        """Cancels every task that matches: `cancel_many(tag="team:growth", status="PENDING")`.

        It takes as many calls as needed. After each, `on_part` gets the total so far, whose
        `next_cursor` continues an operation that was stopped. A `dry_run` only counts."""
        return self._bulk(
            "cancel", filter_body(which), dry_run=dry_run, cursor=cursor, on_part=on_part
        )

    def retry_many(
        self,
        *,
        dry_run: bool = False,
        cursor: str | None = None,
        on_part: OnPart = ignore,
        **which: Unpack[TaskFilter],
    ) -> BulkResult:
        """Runs every DEAD task that matches again. For the parameters see cancel_many."""
        return self._bulk(
            "retry", filter_body(which), dry_run=dry_run, cursor=cursor, on_part=on_part
        )

    def shift_many(
        self,
        *,
        by: Seconds,
        key: str | None = None,
        dry_run: bool = False,
        cursor: str | None = None,
        on_part: OnPart = ignore,
        **which: Unpack[TaskFilter],
    ) -> BulkResult:
        """Moves the due time of every task that matches and is not running by `by` seconds.

        Give a `key` of your own if you may repeat the shift after an error: a repetition with the
        same key moves no task twice. For the other parameters see cancel_many."""
        shift = {"by": by, "idempotency_key": key or uuid4().hex}
        fields = {**filter_body(which), **shift}
        return self._bulk("shift", fields, dry_run=dry_run, cursor=cursor, on_part=on_part)

    def _bulk(
        self,
        operation: str,
        fields: Any,
        *,
        dry_run: bool,
        cursor: str | None,
        on_part: OnPart,
    ) -> BulkResult:
        body = given(fields) | {"dry_run": dry_run}
        path = f"/v1/tasks/{operation}"
        parts = pages(
            lambda at: self._transport.call("POST", path, body=body | given({"cursor": at})), cursor
        )
        return add_up(parts, dry_run=dry_run, on_part=on_part)

    def attempts(self, task_id: str) -> "builtins.list[Attempt]":
        """Returns every attempt of a task, the first one first."""
        path = f"{task_path(task_id)}/attempts"
        return [*read_items(lambda at: self._transport.call("GET", path, query=page_at(at)))]

    def payload(self, task_id: str) -> Any:
        """Returns the payload of a task, which a list of summaries does not have."""
        return self._transport.call("GET", f"{task_path(task_id)}/payload")

    def result(self, task_id: str) -> Any:
        """Returns the result of a task. Raises ApiError with status 404 if it has none."""
        return self._transport.call("GET", f"{task_path(task_id)}/result")

    def page(
        self,
        *,
        order: Order | None = None,
        fields: Fields | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        **which: Unpack[TaskFilter],
    ) -> TaskPage:
        """Returns one page of the tasks that match.

        `order` is "newest" (the default) or "soonest": what starts next, by due time. With `fields`
        "summary" the tasks come without payload, result and traceback."""
        at = {"order": order, "fields": fields, "limit": limit, "cursor": cursor}
        query = {**filter_query(which), **at}
        return cast(TaskPage, self._transport.call("GET", "/v1/tasks", query=query))

    def list(
        self,
        *,
        order: Order | None = None,
        fields: Fields | None = None,
        **which: Unpack[TaskFilter],
    ) -> Iterator[Task]:
        """Yields every task that matches; reads page by page. See `page`."""
        return read_items(lambda at: self.page(order=order, fields=fields, **which, **page_at(at)))

    def follow(
        self, task_id: str, *, timeout: float | None = None, poll: float = 0.5
    ) -> Iterator[Task]:
        """Yields the task every `poll` seconds until it has ended.

        Raises StillGoing if that takes longer than `timeout` seconds."""
        deadline = math.inf if timeout is None else self._clock() + timeout
        task = self.get(task_id)
        while True:
            yield task
            if task["status"] in FINISHED:
                return
            left = deadline - self._clock()
            if timeout is not None and left <= 0:
                raise StillGoing(task, timeout)
            self._sleep(min(poll, left))
            task = self._get_again(task_id, poll, deadline)

    def wait(self, task_id: str, *, timeout: float | None = None, poll: float = 0.5) -> Task:
        """Returns the task once it has ended.

        Raises StillGoing if that takes longer than `timeout` seconds."""
        for task in self.follow(task_id, timeout=timeout, poll=poll):
            last = task
        return last

    def _get_again(self, task_id: str, poll: float, deadline: float) -> Task:
        """Reads a task that was there before, and retries while Duetime does not answer: it may be
        restarting."""
        give_up = min(self._clock() + self._patience, deadline)
        reported = False
        while True:
            try:
                return self.get(task_id)
            except (Unreachable, Throttled) as error:
                left = give_up - self._clock()
                if left <= 0:
                    raise
                if not reported:
                    self._on_silence(error)
                reported = True
                self._sleep(min(poll, left))

    def purge(
        self,
        *,
        older_than: float,
        status: Sequence[str] | None = None,
        namespace: str | None = None,
        dry_run: bool = False,
    ) -> Purged:
        """Removes tasks that SUCCEEDED, were CANCELLED or EXPIRED at least `older_than` seconds
        ago. With `dry_run` nothing is removed, and `matched` is how many would be."""
        parts = self.purge_in_parts(
            older_than=older_than, status=status, namespace=namespace, dry_run=dry_run
        )
        return purge_total(parts, dry_run=dry_run)

    def purge_in_parts(
        self,
        *,
        older_than: float,
        status: Sequence[str] | None = None,
        namespace: str | None = None,
        dry_run: bool = False,
    ) -> Iterator[Purged]:
        """Like purge, and yields the answer to each of the calls that it takes, so that you can
        show the progress. You can stop at any time and purge again later."""
        which = {"older_than": older_than, "status": status, "namespace": namespace}
        body = {name: given for name, given in which.items() if given is not None}
        return purge_pages(self._transport, {**body, "dry_run": dry_run})

    def health(self) -> Json:
        """Returns the health: `status` is `ok`, or `unhealthy` with the reasons in `detail`."""
        try:
            return cast(Json, self._transport.call("GET", "/v1/health"))
        except ApiError as error:
            if "checks" not in error.problem:
                raise
            return {**error.problem, "status": "unhealthy"}

    def close(self) -> None:
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        reason: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
