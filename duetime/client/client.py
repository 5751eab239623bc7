"""The client. Tasks are its own calls; every further resource becomes an attribute."""

import builtins
import math
import time
from collections.abc import Callable, Iterator, Sequence
from http import HTTPStatus
from types import TracebackType
from typing import Self, Unpack, cast

import httpx

from duetime.client.dead_letters import DeadLetters
from duetime.client.errors import ApiError, StillGoing, Throttled, Unreachable
from duetime.client.schedules import Schedules
from duetime.client.shapes import (
    Attempt,
    BatchResult,
    Json,
    Submitted,
    Task,
    TaskFields,
    TaskPage,
)
from duetime.client.wire import PAGE, Wire, task_path
from lambdas.core.errors import DuetimeError
from lambdas.core.lifecycle import FINISHED


class Client:
    """Speaks to the Duetime at `url`, else at DUETIME_URL, else on this machine.

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
        """`sign`, else DUETIME_SIGN: the AWS region to sign requests for, with the credentials
        that every AWS tool finds; an address of API Gateway's own names it already.

        `token`, else DUETIME_TOKEN: the bearer token to send instead of a signature.

        `patience`: for how many seconds `follow` and `wait` go on asking while nobody
        answers, since a runner may be restarting; `on_silence` hears of it once."""
        self._wire = Wire(url, timeout, transport, sign=sign, token=token)
        self.dead_letters = DeadLetters(self._wire)
        self.schedules = Schedules(self._wire)
        self._patience, self._on_silence = patience, on_silence
        self._sleep, self._clock = sleep, clock

    @property
    def url(self) -> str:
        return self._wire.url

    def submit(self, /, **fields: Unpack[TaskFields]) -> Task:
        """The task as stored; with an idempotency key, perhaps the one stored before."""
        return self.submit_once(**fields).task

    def submit_once(self, /, **fields: Unpack[TaskFields]) -> Submitted:
        """Like submit, and tells whether the task was there before."""
        status, task = self._wire.answer("POST", "/v1/tasks", body=fields)
        return Submitted(task, replayed=status == HTTPStatus.OK)

    def submit_batch(self, tasks: Sequence[TaskFields]) -> "builtins.list[BatchResult]":
        """Up to 100 tasks; one answer for each, in order. One refused does not spoil the rest."""
        answer = self._wire.call("POST", "/v1/tasks/batch", body={"tasks": tasks})
        return cast("list[BatchResult]", answer["results"])

    def get(self, task_id: str) -> Task:
        return cast(Task, self._wire.call("GET", task_path(task_id)))

    def cancel(self, task_id: str) -> Task:
        """CANCELLED at once, or still RUNNING with `cancel_requested`."""
        return cast(Task, self._wire.call("DELETE", task_path(task_id)))

    def retry(self, task_id: str) -> Task:
        """A DEAD task gets another life, and as many attempts as at first: RETRYING, due now."""
        return cast(Task, self._wire.call("POST", f"{task_path(task_id)}/retry"))

    def attempts(self, task_id: str) -> "builtins.list[Attempt]":
        found: list[Attempt] = []
        cursor = None
        while True:
            query = {"cursor": cursor, "limit": PAGE}
            page = self._wire.call("GET", f"{task_path(task_id)}/attempts", query=query)
            found += page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                return found

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
        """One page, newest first; `upcoming`: with runs of schedules whose time is yet to come."""
        query = {"status": status, "namespace": namespace, "schedule_id": schedule_id}
        at = {"upcoming": None if upcoming else "false", "limit": limit, "cursor": cursor}
        answer = self._wire.call("GET", "/v1/tasks", query={**query, **at})
        return cast(TaskPage, answer)

    def list(
        self,
        *,
        status: str | None = None,
        namespace: str | None = None,
        schedule_id: str | None = None,
        upcoming: bool = True,
    ) -> Iterator[Task]:
        """Every task that matches, newest first, read page by page."""
        which = {"status": status, "namespace": namespace, "schedule_id": schedule_id}
        cursor = None
        while True:
            page = self.page(**which, upcoming=upcoming, limit=PAGE, cursor=cursor)
            yield from page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def follow(
        self, task_id: str, *, timeout: float | None = None, poll: float = 0.5
    ) -> Iterator[Task]:
        """The task as it stands, again and again, until it has ended."""
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
        """The task once it has ended; StillGoing if that takes longer than `timeout` seconds."""
        for task in self.follow(task_id, timeout=timeout, poll=poll):
            last = task
        return last

    def _get_again(self, task_id: str, poll: float, deadline: float) -> Task:
        """A task that was there once; who told of it may be restarting."""
        give_up = min(self._clock() + self._patience, deadline)
        told = False
        while True:
            try:
                return self.get(task_id)
            except (Unreachable, Throttled) as error:
                left = give_up - self._clock()
                if left <= 0:
                    raise
                if not told:
                    self._on_silence(error)
                told = True
                self._sleep(min(poll, left))

    def health(self) -> Json:
        """How Duetime is: `status` is `ok`, or `unhealthy` with the reasons in `detail`."""
        try:
            return cast(Json, self._wire.call("GET", "/v1/health"))
        except ApiError as error:
            if "checks" not in error.problem:
                raise
            return {**error.problem, "status": "unhealthy"}

    def close(self) -> None:
        self._wire.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        reason: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
