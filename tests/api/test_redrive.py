"""POST /v1/dead-letters/redrive."""

from typing import Any

import pytest

from duetime.api import redrive as module
from duetime.api.http import Response
from duetime.api.redrive import SPACING
from duetime.core.change import Answer, Refused, Unknown, Unreadable
from duetime.core.delivery import delivery_of
from duetime.core.errors import Corrupt, Unavailable
from duetime.core.lifecycle import Outcome, Status
from duetime.core.listings import DeadListing, Page
from duetime.core.steps.lease import lease
from duetime.core.steps.record import Failure, fail
from duetime.core.task import TaskError
from duetime.core.times import HOUR, SECOND, rfc3339
from tests.api.dead import a_dead_task, bury, statuses
from tests.api.service import Service, refusal
from tests.api.test_refused_fields import A_TIME, A_WORD, NO_OFFSET
from tests.factories import NOW, WAKE_POLICY, a_draw, a_running_task, a_task, an_id

PATH = "/v1/dead-letters/redrive"


def redrive(service: Service, **body: Any) -> Response:
    return service.call("POST", PATH, body)


def answer(redriven: int, *left: tuple[str, str], **others: Any) -> dict[str, Any]:
    not_redriven = [{"id": task_id, "reason": reason} for task_id, reason in left]
    body = {"redriven": redriven, "dry_run": False, "not_redriven": not_redriven}
    return body | {"next_cursor": None} | others


def redriven(service: Service, **body: Any) -> dict[str, Any]:
    response = redrive(service, **body)
    assert response.status == 200, response.body
    return response.body


def sent(service: Service) -> list[str]:
    return [delivery.task_id for delivery in service.lanes.sent]


def test_ids_are_redriven_and_sent(any_service: Service):
    ids = bury(any_service, *(a_dead_task() for _ in range(3)))

    assert redriven(any_service, ids=ids[:2]) == answer(2)

    assert statuses(any_service, ids) == ["RETRYING", "RETRYING", "DEAD"]
    assert sent(any_service) == ids[:2]


def test_task_that_cannot_be_redriven_is_reported_and_the_others_are_redriven(any_service: Service):
    done = a_task(status=Status.SUCCEEDED, wake=None)
    runs = a_running_task()
    dead = [a_dead_task(), a_dead_task()]
    bury(any_service, done, runs, *dead)
    absent = an_id()
    long = "x" * 1_000

    ids = [dead[0].id, done.id, absent, "nonsense", long, runs.id, dead[1].id]

    assert redriven(any_service, ids=ids) == answer(
        2,
        (done.id, "it is SUCCEEDED"),
        (absent, "not found"),
        ("nonsense", "not found"),
        (f"{'x' * 200}…", "not found"),
        (runs.id, "it is RUNNING"),
    )
    assert sent(any_service) == [task.id for task in dead]


@pytest.mark.parametrize("at_once", [1, 100])
def test_repeated_id_counts_once(
    any_service: Service, at_once: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "BATCH", at_once)
    [task_id] = bury(any_service, a_dead_task())

    assert redriven(any_service, ids=[task_id, "x", task_id, "x"]) == answer(1, ("x", "not found"))
    assert sent(any_service) == [task_id]


def test_malformed_id_is_not_looked_up(service: Service):
    """DynamoDB would refuse a key as long as this."""
    [task_id] = bury(service, a_dead_task())
    real = service.store.get
    asked: list[str] = []
    service.store.get = lambda ids: (asked.extend(ids), real(ids))[1]

    assert redriven(service, ids=["x" * 3_000, task_id])["redriven"] == 1
    assert asked == [task_id]


def test_second_redrive_does_not_revive_again(any_service: Service):
    [task_id] = bury(any_service, a_dead_task())
    redriven(any_service, ids=[task_id])

    assert redriven(any_service, ids=[task_id]) == answer(0, (task_id, "it is RETRYING"))
    assert sent(any_service) == [task_id]


def test_a_thousand_ids_are_redriven(service: Service):
    ids = bury(service, *(a_dead_task() for _ in range(1_000)))

    assert redriven(service, ids=ids) == answer(1_000)
    assert service.store.writes == ["apply"] * 10, "a hundred at a time"
    assert set(statuses(service, ids)) == {"RETRYING"}


def test_redrive_by_filter(any_service: Service):
    tasks = [
        a_dead_task(NOW - 1, namespace="mine"),
        a_dead_task(NOW - 2, namespace="mine", error_type="HTTPError"),
        a_dead_task(NOW - 3),
        a_dead_task(NOW - HOUR, namespace="mine"),
    ]
    ids = bury(any_service, *tasks)
    which = {"namespace": "mine", "error_type": "ValueError", "died_after": rfc3339(NOW - HOUR)}

    assert redriven(any_service, **which, died_before=rfc3339(NOW - 1)) == answer(1)
    assert statuses(any_service, ids) == ["DEAD", "DEAD", "DEAD", "RETRYING"]
    assert redriven(any_service, **which) == answer(1)
    assert statuses(any_service, ids) == ["RETRYING", "DEAD", "DEAD", "RETRYING"]


def test_all_are_redriven_newest_first(any_service: Service):
    ids = bury(
        any_service,
        a_dead_task(NOW - 1, namespace="mine"),
        a_dead_task(NOW - 3, namespace="theirs"),
        a_dead_task(NOW - 2),
    )
    assert redriven(any_service, all=True) == answer(3)
    assert sent(any_service) == [ids[0], ids[2], ids[1]]


def test_redrive_of_all_without_dead_letters_is_empty(any_service: Service):
    assert redriven(any_service, all=True) == answer(0)


@pytest.mark.parametrize("body", [{"all": True}, {"namespace": "default"}], ids=str)
def test_a_dry_run_counts_and_writes_nothing(any_service: Service, body: dict[str, Any]):
    ids = bury(any_service, *(a_dead_task() for _ in range(3)))

    assert redriven(any_service, **body, dry_run=True) == answer(3, dry_run=True)

    assert statuses(any_service, ids) == ["DEAD"] * 3
    assert any_service.store.writes == []
    assert any_service.lanes.sent == []


def test_dry_run_of_ids_reports_those_that_would_not_be_redriven(any_service: Service):
    [task_id] = bury(any_service, a_dead_task())

    result = redriven(any_service, ids=[task_id, "x"], dry_run=True)

    assert result == answer(1, ("x", "not found"), dry_run=True)
    assert any_service.store.writes == []


@pytest.mark.parametrize("dry_run", [True, False])
@pytest.mark.parametrize("limit", [1, 3, 7])
def test_next_call_continues_at_the_cursor(any_service: Service, limit: int, dry_run: bool):
    ids = bury(any_service, *(a_dead_task(NOW - n) for n in range(7)))
    counts, cursor = [], None
    while not counts or cursor:
        result = redriven(any_service, all=True, limit=limit, cursor=cursor, dry_run=dry_run)
        counts.append(result["redriven"])
        cursor = result["next_cursor"]

    assert sum(counts) == 7
    assert max(counts) <= limit
    assert sent(any_service) == ([] if dry_run else ids)


def test_call_redrives_at_most_a_thousand(service: Service):
    bury(service, *(a_dead_task() for _ in range(1_001)))

    first = redriven(service, all=True)

    assert first["redriven"] == 1_000
    assert redriven(service, all=True, cursor=first["next_cursor"]) == answer(1)


def die(service: Service, task_id: str) -> None:
    task, now = service.store.get([task_id])[task_id], service.clock.now()
    service.store.apply([lease(delivery_of(task, now), now=now, holder="holder")])
    task = service.store.get([task_id])[task_id]
    error = TaskError(type="ValueError", message="again")
    failure = Failure(outcome=Outcome.FAILED, error=error, permanent=True)
    service.store.apply([fail(WAKE_POLICY, task, failure, now=now, draw=a_draw())])


def test_task_that_dies_again_meanwhile_is_not_redriven_twice(
    any_service: Service, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "BATCH", 1)
    ids = bury(any_service, *(a_dead_task(NOW - n) for n in range(3)))
    read = any_service.store.dead

    def dead(listing: DeadListing) -> Page:
        """Every revived task dies again before the next page is read."""
        any_service.clock.advance(SECOND)
        for task_id in sent(any_service)[-1:]:
            die(any_service, task_id)
        return read(listing)

    any_service.store.dead = dead

    assert redriven(any_service, all=True) == answer(3)
    assert sent(any_service) == ids
    assert statuses(any_service, ids) == ["DEAD", "DEAD", "DEAD"]


def test_due_times_of_redriven_tasks_are_spaced(service: Service, monkeypatch: pytest.MonkeyPatch):
    """A target that has just recovered does not get all of it at once."""
    monkeypatch.setattr(module, "BATCH", 2)
    ids = bury(service, *(a_dead_task(NOW - n) for n in range(5)))
    redriven(service, all=True)

    due = [service.store.get([task_id])[task_id].due_at for task_id in ids]
    assert due == [service.clock.now() + n * SPACING for n in range(5)]


def test_call_with_a_filter_that_matches_few_tasks_reads_a_bounded_number_of_pages(
    service: Service, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "MAX_PAGES", 3)
    [task_id] = bury(service, a_dead_task())
    real = service.store.dead
    asked: list[DeadListing] = []

    def page_by_page(listing: DeadListing) -> Page:
        """Three empty pages before the one with the task."""
        asked.append(listing)
        if len(asked) <= 3:
            return Page(tasks=[], cursor=str(len(asked)))
        return real(DeadListing())

    service.store.dead = page_by_page

    assert redriven(service, all=True) == answer(0, next_cursor="3")
    assert [listing.cursor for listing in asked] == [None, "1", "2"]
    assert redriven(service, all=True, cursor="3") == answer(1)
    assert asked[-1].cursor == "3"
    assert sent(service) == [task_id]


def test_task_with_an_unanswered_write_is_reported(any_service: Service):
    ids = bury(any_service, *(a_dead_task(NOW - n) for n in range(3)))
    silent = {ids[1]: Unknown("throttled"), ids[2]: Unreadable("rot")}
    any_service.store.apply_answer = lambda change: silent.get(change.task_id)

    left = [
        (ids[1], "the store did not answer; redrive it again by its id"),
        (ids[2], "the stored task cannot be read"),
    ]
    assert redriven(any_service, all=True) == answer(1, *left)
    assert sent(any_service) == ids[:1]


def test_task_that_another_request_redrove_is_reported(service: Service):
    tasks = [a_dead_task(NOW - n) for n in range(3)]
    ids = bury(service, *tasks)
    answers: dict[str, Answer] = {
        ids[0]: Refused(a_running_task(id=ids[0])),
        ids[1]: Refused(a_dead_task(id=ids[1])),
        ids[2]: Refused(None),
    }
    service.store.apply_answer = lambda change: answers.get(change.task_id)

    assert redriven(service, ids=ids) == answer(
        0,
        (ids[0], "it is RUNNING"),
        (ids[1], "another request redrove it, and it died again"),
        (ids[2], "not found"),
    )
    assert sent(service) == []


def test_store_that_cannot_be_read_is_reported_for_each_id(service: Service):
    ids = bury(service, *(a_dead_task() for _ in range(150)))
    real = service.store.get
    asked: list[int] = []

    def get(wanted: list[str]) -> Any:
        asked.append(len(wanted))
        if len(asked) == 2:
            raise Unavailable("throttled")
        return real(wanted)

    service.store.get = get

    result = redriven(service, ids=ids)

    assert result["redriven"] == 100
    assert [left["id"] for left in result["not_redriven"]] == ids[100:]
    assert {left["reason"] for left in result["not_redriven"]} == {
        "the store did not answer; redrive it again by its id"
    }


def test_unreadable_task_does_not_fail_the_others(service: Service):
    ids = bury(service, *(a_dead_task() for _ in range(3)))
    real = service.store.get

    def get(wanted: list[str]) -> Any:
        if ids[1] in wanted:
            raise Corrupt(ids[1], "rot")
        return real(wanted)

    service.store.get = get

    result = redriven(service, ids=ids)

    assert result == answer(2, (ids[1], "the stored task cannot be read"))


def test_result_before_the_store_stopped_answering_is_returned(
    service: Service, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "BATCH", 2)
    ids = bury(service, *(a_dead_task(NOW - n) for n in range(5)))
    real = service.store.dead
    pages = iter([real, real])

    def dead(listing: DeadListing) -> Page:
        read = next(pages, None)
        if read is None:
            raise Unavailable("throttled")
        return read(listing)

    service.store.dead = dead
    first = redriven(service, all=True)

    assert first["redriven"] == 4
    assert redrive(service, all=True).status == 503
    service.store.dead = real
    assert redriven(service, all=True, cursor=first["next_cursor"]) == answer(1)
    assert sent(service) == ids


@pytest.mark.parametrize("error", [Unavailable("gone"), RuntimeError("no such queue")], ids=str)
def test_a_lane_that_fails_does_not_fail_the_redrive(service: Service, error: Exception):
    ids = bury(service, *(a_dead_task() for _ in range(2)))
    service.lanes.fails = error

    assert redriven(service, ids=ids) == answer(2)
    assert statuses(service, ids) == ["RETRYING"] * 2


FILTERS = "namespace, error_type, handler, fingerprint, died_after, died_before"
SAY_WHICH = f'give ids, a filter ({FILTERS}) or "all": true'
ONLY_ONE = "give only one of ids, a filter and all"
TIME = rfc3339(NOW)
BODIES: list[tuple[Any, dict[str, str]]] = [
    *((body, {"body": "must be an object"}) for body in (None, [], "all", 1, True)),
    *(
        (body, {"body": SAY_WHICH})
        for body in (
            {},
            {"dry_run": True},
            {"limit": 5},
            {"cursor": "x"},
            {"namespace": None, "ids": None, "all": None},
        )
    ),
    ({"ids": []}, {"ids": "must have at least 1 entry"}),
    ({"ids": ["x"] * 1_001}, {"ids": "must have at most 1000 entries"}),
    ({"ids": "x"}, {"ids": "must be a list"}),
    ({"ids": ["x", 1, None]}, {"ids.1": "must be a string", "ids.2": "must be a string"}),
    ({"all": False}, {"all": "must be true, or left out"}),
    ({"all": "yes"}, {"all": "must be true or false"}),
    ({"all": True, "dry_run": 1}, {"dry_run": "must be true or false"}),
    ({"all": True, "dry_run": None}, {"dry_run": "must be true or false"}),
    ({"all": True, "limit": 0}, {"limit": "must be at least 1"}),
    ({"all": True, "limit": 1_001}, {"limit": "must be at most 1000"}),
    ({"all": True, "limit": 1.5}, {"limit": "must be a whole number"}),
    ({"all": True, "limit": "5"}, {"limit": "must be a whole number"}),
    ({"all": True, "cursor": 5}, {"cursor": "must be a string"}),
    ({"all": True, "cursor": "garbage"}, {"cursor": "not a cursor of this list"}),
    ({"all": True, "cursor": ""}, {"cursor": "not a cursor of this list"}),
    ({"namespace": ""}, {"namespace": "must not be empty"}),
    ({"namespace": "a b"}, {"namespace": A_WORD}),
    ({"error_type": ""}, {"error_type": "must not be empty"}),
    ({"error_type": "x" * 257}, {"error_type": "must have at most 256 characters"}),
    ({"died_after": "yesterday"}, {"died_after": A_TIME}),
    ({"died_before": "2026-11-16T09:00:00"}, {"died_before": NO_OFFSET}),
    (
        {"died_after": TIME, "died_before": TIME},
        {"died_before": "must be later than died_after"},
    ),
    ({"everything": True}, {"everything": "unknown field"}),
    ({"ids": ["x"], "all": True}, {"all": ONLY_ONE}),
    ({"ids": ["x"], "namespace": "a"}, {"namespace": ONLY_ONE}),
    ({"error_type": "E", "namespace": "a", "all": True}, {"all": ONLY_ONE}),
    (
        {"ids": ["x"], "died_after": TIME, "all": True},
        {"died_after": ONLY_ONE, "all": ONLY_ONE},
    ),
    (
        {"ids": ["x"], "limit": 5, "cursor": "x"},
        {"limit": "does not go with ids", "cursor": "does not go with ids"},
    ),
    (
        {"limit": 0, "dry_run": "no"},
        {"limit": "must be at least 1", "dry_run": "must be true or false"},
    ),
]


@pytest.mark.parametrize(("body", "errors"), BODIES, ids=[f"{body!s:.60}" for body, _ in BODIES])
def test_a_bad_body_is_refused(service: Service, body: Any, errors: dict[str, str]):
    [task_id] = bury(service, a_dead_task())

    response = service.call("POST", PATH, body)

    assert refusal(response) == errors
    assert service.store.writes == []
    assert statuses(service, [task_id]) == ["DEAD"]


def test_problem_does_not_repeat_many_ids(service: Service):
    assert len(redrive(service, ids=[1] * 1_000).encoded()) < 4_000


def test_answer_cuts_long_ids(service: Service):
    response = redrive(service, ids=[f"{n}" + "x" * 2_000 for n in range(1_000)])

    assert response.status == 200
    assert len(response.encoded()) < 500_000
