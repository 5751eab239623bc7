"""Errors of the client.

DuetimeError
├── BadArgument         an argument is not valid
│   └── BadAddress      the URL is not an address
├── NotSigned           there are no AWS credentials to sign with
├── Unreachable         no answer, or one that is not from Duetime
├── ApiError            Duetime refused the request
│   └── Throttled       the API gateway refused it: too many requests
├── TaskFailed          the task that was waited for ended without a result
│   ├── TaskDead        all its attempts have failed
│   ├── TaskCancelled   it was cancelled
│   └── TaskExpired     it was not started in time
├── WaitTimeout         a handler's task had not ended when the wait did; also a TimeoutError
└── StillGoing          the wait ended before the task
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from duetime.client.types import Task
from duetime.core.errors import DuetimeError


class BadArgument(DuetimeError, ValueError):
    """`name` is the argument, or the field of a request, that is not valid."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(why)
        self.name = name


class BadAddress(BadArgument):
    def __init__(self, url: str) -> None:
        super().__init__("url", f"{url!r} is not an address like http://127.0.0.1:8080")
        self.url = url


class NotSigned(DuetimeError):
    def __init__(self, why: str, remedy: str | None = None) -> None:
        remedy = remedy or "sign in with `aws sso login`, set AWS_PROFILE, or run `aws configure`"
        super().__init__(f"The request cannot be signed: {why}; {remedy}")


class Unreachable(DuetimeError):
    """No answer arrived: a write may or may not have happened. `temporary`: it may arrive if the
    request is sent again."""

    def __init__(
        self,
        url: str,
        what: str = "Duetime does not answer",
        remedy: str | None = None,
        *,
        temporary: bool = True,
        retry_after: float | None = None,
    ) -> None:
        remedy = remedy or "start it with `duetime local` or set DUETIME_URL"
        super().__init__(f"{what} at {url}; {remedy}")
        self.url = url
        self.temporary = temporary
        self.retry_after = retry_after


@dataclass(frozen=True)
class FieldError:
    field: str
    message: str
    position: int | None = None  # where in `text` the error begins, from 1
    text: str | None = None  # the submitted text, e.g. a cron expression

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


class ApiError(DuetimeError):
    """A problem that the API returned (RFC 9457)."""

    def __init__(
        self,
        status: int,
        title: str,
        detail: str | None = None,
        errors: Sequence[FieldError] = (),
        problem: Mapping[str, Any] | None = None,
    ) -> None:
        """`problem` is the whole answer."""
        self.retry_after: float | None = None  # seconds, if the answer says so
        super().__init__(f"{title}: {detail}" if detail else title)
        self.status = status
        self.title = title
        self.detail = detail
        self.errors = tuple(errors)
        self.problem = problem or {}


class Throttled(ApiError):
    """The request was not carried out. Send it again in a moment."""


class StillGoing(DuetimeError):
    """The task had not ended when the wait did; `task` is its last known state."""

    def __init__(self, task: Task, waited: float) -> None:
        super().__init__(f"{task['id']} is still {task['status']} after {waited:g} s")
        self.task = task


class TaskFailed(DuetimeError):
    """The task that was waited for ended without a result; `task` is the task as it ended."""

    def __init__(self, task: Task) -> None:
        error = task["error"]
        why = f": {error['type']}: {error['message']}" if error else ""
        super().__init__(f"{task['id']} is {task['status']}{why}")
        self.task = task


class TaskDead(TaskFailed):
    """All attempts of the task have failed, or one of them for good."""


class TaskCancelled(TaskFailed):
    """The task was cancelled."""


class TaskExpired(TaskFailed):
    """The task was not started before its `expires_at`."""


class WaitTimeout(DuetimeError, TimeoutError):
    """The task had not ended when the wait did; `task` is its last known state."""

    def __init__(self, task: Task, waited: float) -> None:
        super().__init__(f"{task['id']} is still {task['status']} after {waited:g} s")
        self.task = task
