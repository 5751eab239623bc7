from typing import Any

import pytest

from duetime.core.lifecycle import Status
from duetime.core.times import MINUTE, SECOND
from tests.api.pages import flat, read_all
from tests.api.service import PYTHON, Service, refusal
from tests.factories import a_task


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


STATUSES = ", ".join(Status)
WORD = "must be 1 to 128 letters, digits and ._:- only"
QUERIES: list[tuple[dict[str, str], dict[str, str]]] = [
    *(
        ({"limit": value}, {"limit": "must be from 1 to 100"})
        for value in ("0", "101", "999999999")
    ),
    *(
        ({"limit": value}, {"limit": "must be a whole number"})
        for value in ("-1", "1.0", "+1", " 1", "x", "٣", "9" * 5_000)
    ),
    *(
        ({"status": value}, {"status": f"must be one of {STATUSES}"})
        for value in ("pending", "FAILED", "x" * 5_000)
    ),
    *(
        ({"upcoming": value}, {"upcoming": "must be true or false"})
        for value in ("1", "no", "False")
    ),
    *(({"namespace": value}, {"namespace": WORD}) for value in ("a b", "a\n", "é", "x" * 129)),
    ({"unheard_of": "1"}, {"unheard_of": "unknown parameter"}),
    ({"Limit": "1"}, {"Limit": "unknown parameter"}),
]


@pytest.mark.parametrize(
    ("query", "errors"), QUERIES, ids=[f"{query!s:.40}" for query, _ in QUERIES]
)
def test_a_bad_query_is_refused(service: Service, query: dict[str, str], errors: dict[str, str]):
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


def test_task_that_is_too_large_for_a_page_has_its_own(
    service: Service, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("duetime.api.paging.ANSWER_LIMIT", 1_000)
    ids = submit_many(service, 2, payload="x" * 2_000)

    assert read_all(service, "/v1/tasks") == [[ids[0]], [ids[1]]]
