"""One tree of errors, and the class for each answer."""

import httpx
import pytest

import duetime
from duetime import (
    ApiError,
    Conflict,
    DuetimeError,
    Invalid,
    NotFound,
    TaskCancelled,
    TaskDead,
    TaskExpired,
    TaskFailed,
    Throttled,
    TooLarge,
    WaitTimeout,
)
from tests.client.scripted_server import Script

KINDS = {
    400: Invalid,
    401: ApiError,
    403: ApiError,
    404: NotFound,
    409: Conflict,
    413: TooLarge,
    422: Invalid,
    429: Throttled,
    500: ApiError,
    503: ApiError,
}


@pytest.mark.parametrize(("status", "kind"), KINDS.items())
def test_problem_of_the_api_has_its_class(status: int, kind: type[ApiError]) -> None:
    body = {"title": "No", "status": status, "detail": "why"}

    with pytest.raises(ApiError) as caught:
        Script(httpx.Response(status, json=body)).client().get("t1")

    assert type(caught.value) is kind
    assert (caught.value.status, caught.value.problem) == (status, body)


@pytest.mark.parametrize(("status", "kind"), [(400, Invalid), (413, TooLarge), (429, Throttled)])
def test_refusal_of_a_gateway_has_the_same_class(status: int, kind: type[ApiError]) -> None:
    with pytest.raises(kind):
        Script(httpx.Response(status, json={"message": "No"})).client().get("t1")


def test_throttled_call_says_when_to_send_it_again() -> None:
    answer = httpx.Response(429, json={"title": "Slow down"}, headers={"retry-after": "9"})

    with pytest.raises(Throttled) as caught:
        Script(answer).client().get("t1")
    assert caught.value.retry_after == 9


@pytest.mark.parametrize("kind", [TaskDead, TaskCancelled, TaskExpired])
def test_error_of_a_task_has_the_task(kind: type[TaskFailed]) -> None:
    error = {"type": "KeyError", "message": "'tea'", "traceback": None}
    task = {"id": "t1", "status": "DEAD", "error": error, "reason": None}

    raised = kind(task)  # type: ignore[arg-type]

    assert isinstance(raised, DuetimeError)
    assert raised.task == task
    assert str(raised) == "t1 is DEAD (KeyError: 'tea')"


def test_error_of_a_cancelled_task_says_why() -> None:
    task = {"id": "t1", "status": "CANCELLED", "error": None, "reason": "overlap"}

    assert str(TaskCancelled(task)) == "t1 is CANCELLED (overlap)"  # type: ignore[arg-type]


def test_name_of_the_timeout_in_0_1_still_works() -> None:
    assert duetime.StillGoing is WaitTimeout
