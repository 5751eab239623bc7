"""Runs: executions of workflows."""

from collections.abc import Iterator, Sequence
from typing import Any, Unpack

from duetime.client import run_calls as calls
from duetime.client import waits
from duetime.client.submissions import Retries
from duetime.client.transport import Transport
from duetime.client.types import Json
from duetime.client.waits import Patience
from duetime.client.workflow_types import (
    Checked,
    MapItem,
    Run,
    RunFields,
    RunFilter,
    RunPage,
    SubmittedRun,
)


class Runs:
    """Newest first.

    >>> run = client.runs.submit(workflow="etl", input={"day": "2027-01-04"})
    >>> client.runs.wait(run["id"])["status"]
    'SUCCEEDED'
    """

    def __init__(self, transport: Transport, retries: Retries, patience: Patience) -> None:
        self._transport = transport
        self._retries = retries
        self._patience = patience

    def submit(self, /, **fields: Unpack[RunFields]) -> Run:
        """Starts a run of a `workflow`, "etl" or "etl@3", or of `steps`; returns it as stored.

        With an idempotency key that was used before, returns the run stored then. Give one if you
        may repeat the call: the client repeats only a submission that has one."""
        return self.submit_once(**fields).run

    def submit_once(self, /, **fields: Unpack[RunFields]) -> SubmittedRun:
        """Like submit, and also returns whether the run was stored before."""
        return self._transport.run(calls.submit(fields, self._retries))

    def check(self, /, **fields: Unpack[RunFields]) -> Checked:
        """Checks a run and stores nothing. Returns the names of the steps, level by level, under
        `order`."""
        return self._transport.run(calls.check(fields))

    def get(self, run_id: str) -> Run:
        """Returns a run with its steps, as they are now."""
        return self._transport.run(calls.get(run_id))

    def page(
        self, *, limit: int | None = None, cursor: str | None = None, **which: Unpack[RunFilter]
    ) -> RunPage:
        """Returns one page of the runs that match, without their steps."""
        return self._transport.run(calls.page(which, limit=limit, cursor=cursor))

    def list(self, **which: Unpack[RunFilter]) -> Iterator[Run]:
        """Yields every run that matches, without its steps; reads page by page."""
        return self._transport.iterate(calls.every(which))

    def cancel(self, run_id: str) -> Run:
        """Cancels a run and returns it, CANCELLING: what runs is stopped, then the `finally` steps
        run. A second call cancels those, too. Raises Conflict if the run is over."""
        return self._transport.run(calls.cancel(run_id))

    def retry(self, run_id: str, steps: Sequence[str] | None = None) -> Run:
        """Resumes a FAILED run: the steps that failed or were stopped run again, or those that
        `steps` names, and everything after them. Raises Conflict if the run is not FAILED."""
        return self._transport.run(calls.retry(run_id, steps))

    def items(self, run_id: str, step: str) -> Iterator[MapItem]:
        """Yields the items of a map step, in order; reads page by page."""
        return self._transport.iterate(calls.map_items(run_id, step))

    def follow(
        self, run_id: str, *, timeout: float | None = None, poll: float = 0.5
    ) -> Iterator[Run]:
        """Yields the run every `poll` seconds until it is over.

        Raises WaitTimeout if that takes longer than `timeout` seconds."""
        call = waits.follow(waits.run(run_id), self._patience, timeout=timeout, poll=poll)
        return self._transport.iterate(call)

    def wait(self, run_id: str, *, timeout: float | None = None, poll: float | None = None) -> Run:
        """Returns the run once it is over: SUCCEEDED, FAILED or CANCELLED. It is polled after 0.2
        s, then less and less often, down to every 5 s; `poll` sets another pause.

        Raises WaitTimeout, a TimeoutError, if that takes longer than `timeout` seconds."""
        call = waits.wait(waits.run(run_id), self._patience, timeout=timeout, poll=poll)
        found: Run = self._transport.run(call)
        return found


class Callbacks:
    """Completes steps that wait for a callback."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def complete(self, token: str, *, result: Any = None, error: str | Json | None = None) -> Json:
        """Completes the step that the token names, with a result or an error: a text, or
        {"type": "Rejected", "message": "too expensive"}.

        Raises Conflict if it is completed already, and NotFound for an unknown token."""
        return self._transport.run(calls.complete_callback(token, result=result, error=error))
