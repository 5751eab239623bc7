"""Errors of the client.

DuetimeError
├── BadArgument         an argument is not valid
│   └── BadAddress      the URL is not an address
├── NotSigned           there are no AWS credentials to sign with
├── Unreachable         no answer, or one that is not from Duetime
├── ApiError            Duetime refused the request
│   ├── NotFound        there is no such task, schedule, run, …
│   ├── Conflict        the state of the task or schedule forbids it
│   ├── Invalid         a field of the request is not valid
│   ├── TooLarge        the request is too large
│   └── Throttled       too many requests, or over a quota
├── TaskFailed          the task has ended without a result
│   ├── TaskDead        its last attempt failed
│   ├── TaskCancelled
│   └── TaskExpired     it had not started before `expires_at`
└── WaitTimeout         the wait ended before the task or run; also a TimeoutError
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
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


class NotFound(ApiError):
    """There is no such task, schedule or result."""


class Conflict(ApiError):
    """The state of the task or schedule forbids it, or an id or key is used for something else."""


class Invalid(ApiError):
    """The request is not valid: see `errors`, one for each field."""


class TooLarge(ApiError):
    """The request is larger than the API accepts."""


class Throttled(ApiError):
    """The request was not carried out: too many requests, or over a quota. Send it again in a
    moment, or after `retry_after` seconds."""


_BY_STATUS: dict[int, type[ApiError]] = {
    HTTPStatus.BAD_REQUEST: Invalid,
    HTTPStatus.NOT_FOUND: NotFound,
    HTTPStatus.CONFLICT: Conflict,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: TooLarge,
    HTTPStatus.UNPROCESSABLE_ENTITY: Invalid,
    HTTPStatus.TOO_MANY_REQUESTS: Throttled,
}


def error_class(status: int) -> type[ApiError]:
    return _BY_STATUS.get(status, ApiError)


class TaskFailed(DuetimeError):
    """The task has ended, and not SUCCEEDED; `task` is the task as it ended."""

    def __init__(self, task: Task) -> None:
        super().__init__(_ending(task))
        self.task = task


class TaskDead(TaskFailed):
    """The last attempt of the task failed: see `task["error"]`."""


class TaskCancelled(TaskFailed):
    """The task was cancelled: see `task["reason"]`."""


class TaskExpired(TaskFailed):
    """The task had not started before its `expires_at`."""


def _ending(task: Task) -> str:
    """Returns one sentence with the error of the last attempt, or why Duetime cancelled it."""
    why: str | None = task.get("reason")
    if (error := task.get("error")) is not None:
        why = f"{error['type']}: {error['message']}"
    return f"{task['id']} is {task['status']}" + (f" ({why})" if why else "")


class WaitTimeout(DuetimeError, TimeoutError):
    """The task or run had not ended when the wait did; `task` is its last known state."""

    def __init__(self, task: Any, waited: float) -> None:
        super().__init__(f"{task['id']} is still {task['status']} after {waited:g} s")
        self.task = task


StillGoing = WaitTimeout  # its name in 0.1
