from typing import Any

import pytest

from duetime.api.encoding import encode
from duetime.core.lifecycle import Outcome, Status
from duetime.core.limits.definition import LimitUse
from duetime.core.task import Attempt, TaskError
from duetime.core.times import MINUTE, SECOND, rfc3339
from tests.api.pages import flat, read_all
from tests.api.service import PYTHON, Service, refusal
from tests.factories import NOW, a_spec, a_task


def submit_many(service: Service, count: int, **fields: Any) -> list[str]:
    """Their ids, newest first."""
    ids = []
    for _ in range(count):
        service.clock.advance(SECOND)
        ids.append(service.submit(**fields).body["id"])
    return ids[::-1]


def test_an_empty_list(service: Service):
    assert service.get("/v1/tasks").body == {"items": [], "next_cursor": None}


def test_tasks_are_listed_newest_first_with_all_fields(any_service: Service):
    ids = submit_many(any_service, 3)

    items = any_service.get("/v1/tasks").body["items"]

    assert [item["id"] for item in items] == ids
    assert items[0] == any_service.get(f"/v1/tasks/{ids[0]}").body


@pytest.mark.parametrize("limit", ["1", "2", "3", "7", "8"])
def test_pages_neither_skip_nor_repeat(any_service: Service, limit: str):
    ids = submit_many(any_service, 7)

    pages = read_all(any_service, "/v1/tasks", limit=limit)

    assert flat(pages) == ids
    assert max(len(page) for page in pages) <= int(limit)


@pytest.mark.parametrize(("query", "length"), [({}, 50), ({"limit": "100"}, 100)], ids=str)
def test_the_length_of_a_page(service: Service, query: dict[str, str], length: int):
    service.batch(*[{"target": PYTHON}] * 100)
    service.submit()

    assert len(service.get("/v1/tasks", **query).body["items"]) == length


@pytest.mark.parametrize("status", list(Status))
def test_list_filters_by_status(service: Service, status: Status):
    tasks = {each: a_task(status=each, wake=None) for each in Status}
    service.store.put(list(tasks.values()))

    assert flat(read_all(service, "/v1/tasks", status=status.value)) == [tasks[status].id]


def test_list_filters_by_status_on_every_page(any_service: Service):
    late = submit_many(any_service, 2, delay=86_400)
    submit_many(any_service, 5)
    later = submit_many(any_service, 2, delay=86_400)

    assert flat(read_all(any_service, "/v1/tasks", status="PENDING", limit="1")) == [*later, *late]


def test_list_has_the_tasks_of_one_namespace(any_service: Service):
    mine = submit_many(any_service, 2, namespace="mine")
    default = submit_many(any_service, 1)

    assert flat(read_all(any_service, "/v1/tasks", namespace="mine")) == mine
    assert flat(read_all(any_service, "/v1/tasks")) == default
    assert flat(read_all(any_service, "/v1/tasks", namespace="nobody")) == []


def test_empty_parameter_is_ignored(service: Service):
    ids = submit_many(service, 1)

    assert flat(read_all(service, "/v1/tasks", status="", namespace="", limit="")) == ids


def test_future_runs_are_listed_unless_upcoming_is_false(any_service: Service):
    submitted = submit_many(any_service, 1)
    schedule_id = any_service.schedule(rule={"type": "rate", "every": 60}).body["id"]
    upcoming = flat(read_all(any_service, "/v1/tasks", schedule_id=schedule_id))

    assert len(upcoming) == 4
    assert flat(read_all(any_service, "/v1/tasks", upcoming="false")) == submitted
    assert flat(read_all(any_service, "/v1/tasks", upcoming="false", limit="1")) == submitted
    assert flat(read_all(any_service, "/v1/tasks", upcoming="true")) == [*upcoming, *submitted]
    any_service.clock.advance(2 * MINUTE)
    come = [*upcoming[2:], *submitted]
    assert flat(read_all(any_service, "/v1/tasks", upcoming="false")) == come
    assert (
        flat(read_all(any_service, "/v1/tasks", upcoming="false", schedule_id=schedule_id))
        == come[:2]
    )


def test_task_that_was_just_submitted_is_not_a_future_run(any_service: Service):
    """Though the clock that gave it its id was half a second ahead."""
    any_service.clock.advance(500)
    submitted = submit_many(any_service, 1)
    any_service.clock.advance(-500)

    assert flat(read_all(any_service, "/v1/tasks", upcoming="false")) == submitted


def ids_of(service: Service, **query: Any) -> list[str]:
    return flat(read_all(service, "/v1/tasks", **query))


def test_list_takes_several_statuses_repeated_or_separated_by_commas(service: Service):
    tasks = {each: a_task(status=each, wake=None) for each in Status}
    service.store.put(list(tasks.values()))
    wanted = {tasks[Status.DEAD].id, tasks[Status.RUNNING].id, tasks[Status.PENDING].id}

    assert set(ids_of(service, status="DEAD,RUNNING,PENDING")) == wanted
    assert set(ids_of(service, status=["DEAD", "RUNNING,PENDING"])) == wanted


def test_list_of_all_namespaces(any_service: Service):
    mine, default = submit_many(any_service, 1, namespace="mine"), submit_many(any_service, 1)

    assert ids_of(any_service, namespace="*") == [*default, *mine]


def test_list_finds_tasks_by_what_was_submitted(any_service: Service):
    growth = submit_many(any_service, 1, tags={"team": "growth"}, name="restock salt")
    ops = submit_many(any_service, 1, tags={"team": "ops", "tier": "1"}, name="salt")
    http = submit_many(any_service, 1, target={"type": "http", "url": "https://a.example/"})

    assert ids_of(any_service, tag="team:growth") == growth
    assert ids_of(any_service, tag="team") == [*ops, *growth]
    assert ids_of(any_service, tag=["team", "tier:1"]) == ops
    assert ids_of(any_service, name="restock") == growth
    assert ids_of(any_service, handler=PYTHON["handler"]) == [*ops, *growth]
    assert ids_of(any_service, target="http") == http


def test_list_of_a_time_range(service: Service):
    third, second, first = submit_many(service, 3)
    at = [service.get(f"/v1/tasks/{i}").body["created_at"] for i in (first, second, third)]

    assert ids_of(service, created_since=at[1]) == [third, second]
    assert ids_of(service, created_since=at[0], created_before=at[2]) == [second, first]


def test_soonest_list_is_sorted_by_due_time_and_says_how_far_it_looked(any_service: Service):
    late, soon = (submit_many(any_service, 1, delay=delay)[0] for delay in (7_200, 3_600))
    now = rfc3339(any_service.clock.now())

    body = any_service.get("/v1/tasks", order="soonest", limit="1").body
    rest = any_service.get("/v1/tasks", order="soonest", cursor=body["next_cursor"]).body

    assert [item["id"] for item in body["items"]] == [soon]
    assert (body["looked_from"], body["looked_until"]) == (now, body["items"][0]["due_at"])
    assert [item["id"] for item in rest["items"]] == [late]
    assert (rest["next_cursor"], rest["looked_until"]) == (None, None)


def test_summary_has_what_a_row_needs_and_nothing_long(any_service: Service):
    headers = {"x-one": "1"}
    target = {"type": "http", "url": "https://a.example/", "headers": headers}
    submitted = any_service.submit(target=target, payload="x" * 9_000, tags={"a": "b"}).body

    [item] = any_service.get("/v1/tasks", fields="summary").body["items"]

    shown = {"type": "http", "url": "https://a.example/", "method": "POST"}
    assert item["target"] == shown
    assert item["max_attempts"] == 5
    same = set(item) - {"target", "max_attempts"}
    assert {name: item[name] for name in same} == {name: submitted[name] for name in same}
    assert not {"payload", "result", "retry", "idempotency_key"} & set(item)


def test_summary_says_which_limit_a_task_waits_for(service: Service):
    limits = (LimitUse(name="stripe", key="acct-7"),)
    service.store.put([a_task(spec=a_spec(limits=limits), held=0)])

    [item] = service.get("/v1/tasks", fields="summary").body["items"]

    assert item["waiting_for"] == {"limit": "stripe", "key": "acct-7"}


def test_summary_of_a_failed_task_has_no_traceback(service: Service):
    error = TaskError(type="ValueError", message="m" * 900, traceback="at line 1")
    failed = Attempt(number=3, started_at=NOW, drift_ms=0, outcome=Outcome.FAILED, error=error)
    service.store.put([a_task(status=Status.DEAD, wake=None, attempt=3, current=failed)])

    [item] = service.get("/v1/tasks", fields="summary").body["items"]

    assert item["error"] == {"type": "ValueError", "message": "m" * 200, "attempt": 3}


STATUSES = ", ".join(Status)
WORD = "must be 1 to 128 letters, digits and ._:- only"
TARGET = (
    "must be one of http, python, dynamodb, email, eventbridge, lambda, sns, sql, sqs,"
    " stepfunctions, workflow"
)
TAG = "must be key:value or key, at most 321 characters; at most 10"
ENDED = "order=soonest lists tasks that are still to start: leave out what has ended"
QUERIES: list[tuple[dict[str, Any], dict[str, str]]] = [
    *(
        ({"limit": value}, {"limit": "must be from 1 to 100"})
        for value in ("0", "101", "999999999")
    ),
    *(
        ({"limit": value}, {"limit": "must be a whole number"})
        for value in ("-1", "1.0", "+1", " 1", "x", "٣", "9" * 5_000)
    ),
    *(
        ({"status": value}, {"status": f"must be one of {STATUSES}, or several"})
        for value in ("pending", "FAILED", "x" * 5_000)
    ),
    *(
        ({"upcoming": value}, {"upcoming": "must be true or false"})
        for value in ("1", "no", "False")
    ),
    *(
        ({"namespace": value}, {"namespace": f"{WORD}, or * for all"})
        for value in ("a b", "a\n", "é", "x" * 129)
    ),
    ({"status": ["DEAD", "x"]}, {"status": f"must be one of {STATUSES}, or several"}),
    ({"namespace": ["a", "b"]}, {"namespace": "must be given only once"}),
    ({"limit": ["1", "2"]}, {"limit": "must be given only once"}),
    *(({"tag": value}, {"tag": TAG}) for value in ("x" * 322, ["a"] * 11)),
    ({"name": "x" * 257}, {"name": "must have at most 256 characters"}),
    ({"handler": "a b"}, {"handler": WORD}),
    *(({"target": value}, {"target": TARGET}) for value in ("typo", "HTTP", "http!", "x" * 5_000)),
    ({"schedule_id": "a b"}, {"schedule_id": WORD}),
    ({"lane": "slow"}, {"lane": "must be one of high, medium, low, or of a pool: batch/high"}),
    ({"with_key": "a b"}, {"with_key": WORD}),
    ({"run_id": "17"}, {"run_id": "must be the id of a run: 26 digits and capital letters"}),
    ({"error_type": "x" * 257}, {"error_type": "must have at most 256 characters"}),
    ({"order": "oldest"}, {"order": "must be one of newest, soonest"}),
    ({"fields": "id"}, {"fields": "must be one of all, summary"}),
    (
        {"created_since": "2026-11-16T09:00:00 01:00"},
        {"created_since": "must have its + written as %2B in a URL"},
    ),
    (
        {"created_before": "2026-11-16"},
        {"created_before": "must be an RFC 3339 time such as 2026-11-16T09:00:00+01:00"},
    ),
    (
        {"created_since": "2026-11-16T09:00:00Z", "created_before": "2026-11-16T09:00:00Z"},
        {"created_before": "must be later than created_since"},
    ),
    ({"order": "soonest", "status": "DEAD,SUCCEEDED"}, {"status": ENDED}),
    ({"unheard_of": "1"}, {"unheard_of": "unknown parameter"}),
    ({"Limit": "1"}, {"Limit": "unknown parameter"}),
]


@pytest.mark.parametrize(
    ("query", "errors"), QUERIES, ids=[f"{query!s:.40}" for query, _ in QUERIES]
)
def test_a_bad_query_is_refused(service: Service, query: dict[str, Any], errors: dict[str, str]):
    assert refusal(service.get("/v1/tasks", **query)) == errors


@pytest.mark.parametrize("cursor", ["garbage", "%%%", "LTEv", "ä", " ", "\x00", "x" * 5_000])
def test_a_garbage_cursor_is_refused(any_service: Service, cursor: str):
    response = any_service.get("/v1/tasks", cursor=cursor)

    assert refusal(response) == {"cursor": "not a cursor of this list"}


def test_a_page_of_large_tasks_is_short(any_service: Service):
    """A Lambda answers with at most 6 MB."""
    ids = submit_many(any_service, 12, payload="x" * 250_000)

    pages = read_all(any_service, "/v1/tasks", limit="12")

    assert flat(pages) == ids
    assert [len(page) for page in pages] == [8, 4]


@pytest.mark.parametrize(("room", "sizes"), [(0, [3]), (-1, [2, 1])])
def test_page_ends_where_its_tasks_fill_one_answer(
    service: Service, monkeypatch: pytest.MonkeyPatch, room: int, sizes: list[int]
):
    submit_many(service, 3)
    tasks = service.get("/v1/tasks").body["items"]
    all_of_them = sum(len(encode(task)) for task in tasks)
    monkeypatch.setattr("duetime.api.paging.ANSWER_LIMIT", all_of_them + room)

    pages = read_all(service, "/v1/tasks", limit="3")

    assert [len(page) for page in pages] == sizes


def test_task_that_is_too_large_for_a_page_has_its_own(
    service: Service, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("duetime.api.paging.ANSWER_LIMIT", 1_000)
    ids = submit_many(service, 2, payload="x" * 2_000)

    assert read_all(service, "/v1/tasks") == [[ids[0]], [ids[1]]]
