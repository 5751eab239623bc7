"""GET /v1/dead-letters."""

import pytest

from duetime.core.lifecycle import Status
from duetime.core.times import HOUR, MINUTE, SECOND, rfc3339
from tests.api.dead import TRACEBACK, a_dead_task, bury
from tests.api.pages import flat, read_all
from tests.api.service import Service, refusal
from tests.api.test_refused_fields import MOMENTS
from tests.factories import NOW, a_task

PATH = "/v1/dead-letters"


def test_list_without_dead_letters_is_empty(any_service: Service):
    any_service.store.put([a_task(), a_task(status=Status.SUCCEEDED, wake=None)])

    assert any_service.get(PATH).body == {"items": [], "next_cursor": None}


def test_a_dead_letter_is_the_whole_task(any_service: Service):
    [task_id] = bury(any_service, a_dead_task(attempt=3))

    [item] = any_service.get(PATH).body["items"]

    assert item == any_service.get(f"/v1/tasks/{task_id}").body
    assert item["status"] == "DEAD"
    assert item["error"] == {
        "type": "ValueError",
        "message": "no such day",
        "traceback": TRACEBACK,
        "attempt": 3,
    }


@pytest.mark.parametrize("limit", ["1", "2", "7", "8"])
def test_dead_letters_are_listed_latest_first_on_pages_that_neither_skip_nor_repeat(
    any_service: Service, limit: str
):
    ages = [3 * HOUR, 0, MINUTE, SECOND, 26 * HOUR, HOUR, HOUR + 1]
    tasks = {age: a_dead_task(NOW - age) for age in ages}
    bury(any_service, *tasks.values())

    pages = read_all(any_service, PATH, limit=limit)

    assert flat(pages) == [tasks[age].id for age in sorted(ages)]
    assert max(len(page) for page in pages) <= int(limit)


def test_a_page_is_50_long(service: Service):
    bury(service, *(a_dead_task() for _ in range(51)))

    assert [len(page) for page in read_all(service, PATH)] == [50, 1]
    assert [len(page) for page in read_all(service, PATH, limit="100")] == [51]


def test_filters(any_service: Service):
    mine, theirs, odd, old = bury(
        any_service,
        a_dead_task(NOW - 1, namespace="mine"),
        a_dead_task(NOW - 2, namespace="theirs"),
        a_dead_task(NOW - 3, error_type="HTTPError 503: é"),
        a_dead_task(NOW - HOUR, namespace="mine"),
    )
    assert flat(read_all(any_service, PATH)) == [mine, theirs, odd, old]
    assert flat(read_all(any_service, PATH, namespace="mine")) == [mine, old]
    assert flat(read_all(any_service, PATH, namespace="default")) == [odd]
    assert flat(read_all(any_service, PATH, error_type="HTTPError 503: é")) == [odd]
    assert flat(read_all(any_service, PATH, error_type="valueerror")) == []
    since = rfc3339(NOW - HOUR + 1)
    assert flat(read_all(any_service, PATH, namespace="mine", died_after=since)) == [mine]
    assert flat(read_all(any_service, PATH, namespace="mine", died_before=since)) == [old]


def test_died_after_is_inclusive_and_died_before_is_exclusive(any_service: Service):
    ids = bury(any_service, *(a_dead_task(NOW + n) for n in range(4)))

    span = {"died_after": rfc3339(NOW + 1), "died_before": rfc3339(NOW + 3)}

    assert flat(read_all(any_service, PATH, **span)) == [ids[2], ids[1]]


def test_empty_parameter_is_ignored(service: Service):
    ids = bury(service, a_dead_task())
    names = ("namespace", "error_type", "died_after", "died_before", "limit", "cursor")

    assert flat([[i["id"] for i in service.get(PATH, **dict.fromkeys(names, "")).body["items"]]])
    assert flat(read_all(service, PATH, **dict.fromkeys(names[:-1], ""))) == ids


def test_revived_task_is_no_longer_listed(any_service: Service):
    first, second = bury(any_service, a_dead_task(NOW), a_dead_task(NOW - 1))
    any_service.call("POST", f"/v1/tasks/{first}/retry", b"")

    assert flat(read_all(any_service, PATH)) == [second]


WORD = "must be 1 to 128 letters, digits and ._:- only"
QUERIES: list[tuple[dict[str, str], dict[str, str]]] = [
    ({"limit": "0"}, {"limit": "must be from 1 to 100"}),
    ({"limit": "101"}, {"limit": "must be from 1 to 100"}),
    ({"limit": "x"}, {"limit": "must be a whole number"}),
    ({"namespace": "a b"}, {"namespace": WORD}),
    ({"error_type": "x" * 257}, {"error_type": "must have at most 256 characters"}),
    ({"status": "DEAD"}, {"status": "unknown parameter"}),
    ({"error-type": "x"}, {"error-type": "unknown parameter"}),
    (
        {"died_after": "2026-11-16T09:00:00 01:00"},
        {"died_after": "must have its + written as %2B in a URL"},
    ),
    (
        {"died_after": rfc3339(NOW), "died_before": rfc3339(NOW)},
        {"died_before": "must be later than died_after"},
    ),
    *(
        ({name: value}, {name: reason})
        for name in ("died_after", "died_before")
        for value, reason in MOMENTS
        if isinstance(value, str) and value
    ),
]


@pytest.mark.parametrize(
    ("query", "errors"), QUERIES, ids=[f"{query!s:.60}" for query, _ in QUERIES]
)
def test_a_bad_query_is_refused(service: Service, query: dict[str, str], errors: dict[str, str]):
    assert refusal(service.get(PATH, **query)) == errors


@pytest.mark.parametrize("cursor", ["garbage", "%%%", "LTEv", "ä", " ", "\x00", "x" * 5_000])
def test_a_garbage_cursor_is_refused(any_service: Service, cursor: str):
    assert refusal(any_service.get(PATH, cursor=cursor)) == {"cursor": "not a cursor of this list"}


def test_a_page_of_large_tasks_is_short(any_service: Service):
    """A Lambda answers with at most 6 MB."""
    ids = bury(any_service, *(a_dead_task(NOW - n, payload="x" * 250_000) for n in range(12)))

    pages = read_all(any_service, PATH, limit="12")

    assert flat(pages) == ids
    assert [len(page) for page in pages] == [8, 4]
