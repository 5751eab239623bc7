"""The client: its own methods are for tasks, and each other resource is an attribute."""

import builtins
import math
import time
from collections.abc import Callable, Iterator, Sequence
from http import HTTPStatus
from types import TracebackType
from typing import Any, Self, Unpack, cast
from uuid import uuid4

import httpx

from duetime.client.bulk import BulkResult, OnPart, TaskFilter, add_up, given, ignore, pages
from duetime.client.dead_letters import DeadLetters
from duetime.client.errors import ApiError, StillGoing, Throttled, Unreachable
from duetime.client.schedules import Schedules
from duetime.client.transport import Transport, page_at, read_items, task_path
from duetime.client.types import (
    Attempt,
    BatchResult,
    ChangeFields,
    Json,
    Seconds,
    Submitted,
    Task,
    TaskFields,
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
        transport: httpx.BaseTransport | None = None,
        patience: float = 30.0,
        on_silence: Callable[[DuetimeError], None] = lambda _: None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`sign` (default: DUETIME_SIGN) is the AWS region to sign requests for, with the
        credentials that every AWS tool finds. An API Gateway address names its region already.

        `token` (default: DUETIME_TOKEN) is a bearer token to send instead of a signature.

        `timeout` is how many seconds a request may take.

        `patience` is how many seconds `follow` and `wait` keep polling while Duetime does not
        answer, since a runner may be restarting. They call `on_silence` once, with the error."""
        self._transport = Transport(url, timeout, transport, sign=sign, token=token)
        self.dead_letters = DeadLetters(self._transport)
        self.schedules = Schedules(self._transport)
        self._patience, self._on_silence = patience, on_silence
        self._sleep, self._clock = sleep, clock

    @property
    def url(self) -> str:
        return self._transport.url

    def submit(self, /, **fields: Unpack[TaskFields]) -> Task:
        """Submits a task and returns it as stored.

        With an idempotency key that was used before, returns the task stored then."""
        return self.submit_once(**fields).task

    def submit_once(self, /, **fields: Unpack[TaskFields]) -> Submitted:
        """Like submit, and also returns whether the task was stored before."""
        status, task = self._transport.request("POST", "/v1/tasks", body=fields)
        return Submitted(task, replayed=status == HTTPStatus.OK)

    def submit_batch(self, tasks: Sequence[TaskFields]) -> "builtins.list[BatchResult]":
        """Submits up to 100 tasks and returns one result for each, in order.

        If one is refused, the others are still stored."""
        answer = self._transport.call("POST", "/v1/tasks/batch", body={"tasks": tasks})
        return cast("list[BatchResult]", answer["results"])

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
        return self._bulk("cancel", which, dry_run=dry_run, cursor=cursor, on_part=on_part)

    def retry_many(
        self,
        *,
        dry_run: bool = False,
        cursor: str | None = None,
        on_part: OnPart = ignore,
        **which: Unpack[TaskFilter],
    ) -> BulkResult:
        """Runs every DEAD task that matches again. For the parameters see cancel_many."""
        return self._bulk("retry", which, dry_run=dry_run, cursor=cursor, on_part=on_part)

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
        fields = {**which, **shift}
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

    def page(
        self,
        *,
        status: str | None = None,
        namespace: str | None = None,
        schedule_id: str | None = None,
        upcoming: bool = True,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> TaskPage:
        """Returns one page, newest first. `upcoming` includes future runs of schedules."""
        query = {"status": status, "namespace": namespace, "schedule_id": schedule_id}
        at = {"upcoming": None if upcoming else "false", "limit": limit, "cursor": cursor}
        answer = self._transport.call("GET", "/v1/tasks", query={**query, **at})
        return cast(TaskPage, answer)

    def list(
        self,
        *,
        status: str | None = None,
        namespace: str | None = None,
        schedule_id: str | None = None,
        upcoming: bool = True,
    ) -> Iterator[Task]:
        """Yields every task that matches, newest first; reads page by page."""
        return read_items(
            lambda at: self.page(
                status=status,
                namespace=namespace,
                schedule_id=schedule_id,
                upcoming=upcoming,
                **page_at(at),
            )
        )

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
