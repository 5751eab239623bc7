"""The client: its own methods are for tasks, and each other resource is an attribute.

`duetime.client.async_client` has the same methods with `await`. Both are thin: what they send and
what they make of the answers is in the modules of calls.
"""

import builtins
import os
import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any, Self, Unpack

import httpx

from duetime.client import run_calls, submissions, task_calls, waits
from duetime.client.bulk import BulkResult, OnPart, bulk, ignore
from duetime.client.dead_letters import DeadLetters
from duetime.client.filters import filter_body
from duetime.client.limits import Limits
from duetime.client.live import Live
from duetime.client.purge import purge_parts, purge_total
from duetime.client.runs import Callbacks, Runs
from duetime.client.schedules import Schedules
from duetime.client.submissions import Retries
from duetime.client.system import System
from duetime.client.transport import Server, Transport
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
from duetime.client.waits import Patience
from duetime.client.workflows import Workflows
from duetime.core.errors import DuetimeError


class Client(System):
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
        reason: str | None = None,
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
        answer, since a runner may be restarting. They call `on_silence` once, with the error.

        `reason` (default: DUETIME_REASON) is why you act, for the log of the API; up to 256
        characters."""
        server = Server(url, timeout, sign, token, reason)
        self._transport = Transport(server, transport, sleep)
        self.dead_letters = DeadLetters(self._transport)
        self.limits = Limits(self._transport)
        self.schedules = Schedules(self._transport)
        self._retries = Retries(times=retries, chance=chance)
        self._patience = Patience(seconds=patience, on_silence=on_silence, clock=clock)
        self.workflows = Workflows(self._transport)
        self.runs = Runs(self._transport, self._retries, self._patience)
        self.live = Live(self._transport, self._patience, chance)
        self.callbacks = Callbacks(self._transport)

    @property
    def url(self) -> str:
        return self._transport.server.url

    def submit(self, /, **fields: Unpack[TaskFields]) -> Task:
        """Submits a task and returns it as stored.

        With an idempotency key or an `id` that was used before, returns the task stored then. If
        another task holds its unique key, returns that task."""
        return self.submit_once(**fields).task

    def submit_once(self, /, **fields: Unpack[TaskFields]) -> Submitted:
        """Like submit, and also returns whether the task was stored before."""
        return self._transport.run(submissions.submit(fields, self._retries))

    def submit_batch(self, tasks: Sequence[TaskFields]) -> "builtins.list[BatchResult]":
        """Submits up to 100 tasks and returns one result for each, in order.

        If one is refused, the others are still stored."""
        return self._transport.run(submissions.submit_batch(tasks, self._retries))

    def submit_many(self, tasks: Iterable[TaskFields]) -> "builtins.list[BatchResult]":
        """Submits any number of tasks, in batches, and returns one result for each, in order.

        If one is refused, the others are still stored. If you may repeat the call after an error,
        give each task an `id` (`duetime.client.make_id()`): what is stored already is not stored
        again."""
        calls = (batch.submit(self._retries) for batch in submissions.batches(tasks))
        return [result for results in self._transport.run_each(calls) for result in results]

    def get(self, task_id: str) -> Task:
        """Returns a task as it is now."""
        return self._transport.run(task_calls.get(task_id))

    def cancel(self, task_id: str) -> Task:
        """Cancels a task and returns it: CANCELLED, or still RUNNING with `cancel_requested`."""
        return self._transport.run(task_calls.cancel(task_id))

    def change(self, task_id: str, /, **fields: Unpack[ChangeFields]) -> Task:
        """Changes a task that is not running and returns it: `change(id, delay=172_800)`.

        A time counts from now, as in submit. Raises Conflict if the task runs or has ended."""
        return self._transport.run(task_calls.change(task_id, fields))

    def run(self, task_id: str) -> Task:
        """Makes a task that is not running due now, and returns it."""
        return self._transport.run(task_calls.act(task_id, "run"))

    def retry(self, task_id: str) -> Task:
        """Runs a DEAD task again, with as many attempts as at first. It is RETRYING and due now."""
        return self._transport.run(task_calls.act(task_id, "retry"))

    def complete(
        self, task_id: str, *, result: Any = None, error: str | Json | None = None
    ) -> Task:
        """Completes a WAITING task, such as a step that waits for a callback, with a result or an
        error, and returns it. An error is a text, or {"type": "Rejected", "message": "…"}. Raises
        Conflict if it does not wait."""
        call = run_calls.complete_task(task_id, result=result, error=error)
        return self._transport.run(call)

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
        shift = {"by": by, "idempotency_key": key or os.urandom(16).hex()}
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
        call = bulk(operation, fields, dry_run=dry_run, cursor=cursor, on_part=on_part)
        return self._transport.run(call)

    def attempts(self, task_id: str) -> "builtins.list[Attempt]":
        """Returns every attempt of a task, the first one first."""
        return [*self._transport.iterate(task_calls.attempts(task_id))]

    def payload(self, task_id: str) -> Any:
        """Returns the payload of a task, which a list of summaries does not have."""
        return self._transport.run(task_calls.text(task_id, "payload"))

    def result(self, task_id: str) -> Any:
        """Returns the result of a task. Raises NotFound if it has none."""
        return self._transport.run(task_calls.text(task_id, "result"))

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
        call = task_calls.page(which, order=order, fields=fields, limit=limit, cursor=cursor)
        return self._transport.run(call)

    def list(
        self,
        *,
        order: Order | None = None,
        fields: Fields | None = None,
        **which: Unpack[TaskFilter],
    ) -> Iterator[Task]:
        """Yields every task that matches; reads page by page. See `page`."""
        return self._transport.iterate(task_calls.every(which, order=order, fields=fields))

    def follow(
        self, task_id: str, *, timeout: float | None = None, poll: float = 0.5
    ) -> Iterator[Task]:
        """Yields the task every `poll` seconds until it has ended.

        Raises WaitTimeout if that takes longer than `timeout` seconds."""
        call = waits.follow(waits.task(task_id), self._patience, timeout=timeout, poll=poll)
        return self._transport.iterate(call)

    def wait(
        self, task_id: str, *, timeout: float | None = None, poll: float | None = None
    ) -> Task:
        """Returns the task once it has ended. The local runner answers when it does. A deployed API
        is polled after 0.2 s, then less and less often, down to every 5 s; `poll` sets another
        pause.

        Raises WaitTimeout, a TimeoutError, if that takes longer than `timeout` seconds."""
        call = waits.wait(waits.task(task_id), self._patience, timeout=timeout, poll=poll)
        found: Task = self._transport.run(call)
        return found

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
        call = purge_parts(
            older_than=older_than, status=status, namespace=namespace, dry_run=dry_run
        )
        return self._transport.iterate(call)

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
