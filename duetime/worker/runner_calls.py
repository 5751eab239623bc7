"""The calls of an HTTP worker: see docs/reference/worker-protocol.md."""

import threading
from collections.abc import Sequence
from typing import Any

from duetime.core.codec import from_json, to_json
from duetime.core.errors import DuetimeError
from duetime.worker.http_connection import Address, Answer, Connection, NoAnswer

TIMEOUT = 10.0  # seconds for an answer, beside the wait of a long poll
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0  # seconds until a call is repeated
REPEATABLE = (429, 500, 502, 503, 504)
TOO_LARGE = 413

Json = dict[str, Any]


class CallRefused(DuetimeError):
    """The runner refuses a call, and would refuse it again."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class RunnerBusy(DuetimeError):
    """The runner cannot answer now. `retry_after` is in seconds."""

    def __init__(self, reason: str, retry_after: float | None) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


def pause(tries: int) -> float:
    """Returns the seconds until a call is repeated that failed so many times."""
    return min(FIRST_PAUSE * (1 << min(tries - 1, 10)), LONGEST_PAUSE)


class RunnerCalls:
    """Any thread may call; each has a connection of its own, and the long poll has another one."""

    def __init__(self, address: Address, token: str | None, worker: str) -> None:
        self.worker = worker
        self._address = address
        self._token = token
        self._threads = threading.local()
        self._poll = Connection(address, token)

    def lease(self, fields: Json) -> Json:
        """Only one thread may call this."""
        return self._read(self._send(self._poll, "lease", fields, TIMEOUT + fields["wait"]))

    def end_poll(self) -> None:
        """Ends the call for leases that waits."""
        self._poll.cut()

    def renew(self, leases: Sequence[Json], *, draining: bool = False) -> list[Json]:
        more = {"draining": True} if draining else {}
        results: list[Json] = self._call("renew", {"leases": leases, **more})["results"]
        return results

    def report(self, outcomes: Sequence[Json]) -> list[Json]:
        results: list[Json] = self._call("outcome", {"outcomes": outcomes})["results"]
        return results

    def submit(self, task_id: str, holder: str, tasks: Sequence[Json]) -> list[Json]:
        """Submits children. Those that are too large together go in several calls."""
        body = {"id": task_id, "holder": holder, "tasks": tasks}
        try:
            results: list[Json] = self._call("submit", body)["results"]
        except CallRefused as error:
            if error.status != TOO_LARGE or len(tasks) == 1:
                raise
            half = len(tasks) // 2
            return [
                *self.submit(task_id, holder, tasks[:half]),
                *self.submit(task_id, holder, tasks[half:]),
            ]
        return results

    def _call(self, call: str, fields: Json) -> Json:
        connection = getattr(self._threads, "connection", None)
        if connection is None:
            connection = self._threads.connection = Connection(self._address, self._token)
        return self._read(self._send(connection, call, fields, TIMEOUT))

    def _send(self, connection: Connection, call: str, fields: Json, timeout: float) -> Answer:
        body = to_json({"worker": self.worker, **fields}).encode()
        return connection.post(f"/v1/workers/{call}", body, timeout)

    def _read(self, answer: Answer) -> Json:
        """Raises CallRefused or RunnerBusy."""
        if answer.status == 200:
            found: Json = from_json(answer.body.decode())
            return found
        reason = _reason(answer)
        if answer.status in REPEATABLE:
            after = answer.headers.get("retry-after", "")
            raise RunnerBusy(reason, float(after) if after.isdigit() else None)
        raise CallRefused(answer.status, reason)


def _reason(answer: Answer) -> str:
    try:
        problem = from_json(answer.body.decode())
        return f"{problem['title']}: {problem['detail']}"
    except (ValueError, KeyError, TypeError):
        return f"HTTP {answer.status}"


__all__ = ["CallRefused", "NoAnswer", "RunnerBusy", "RunnerCalls", "pause"]
