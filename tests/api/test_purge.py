"""POST /v1/purge."""

from dataclasses import replace
from typing import Any

import pytest

from duetime.api import purge as module
from duetime.api.http import Response
from duetime.core.change import Unknown
from duetime.core.errors import Unavailable
from duetime.core.lifecycle import Status
from duetime.core.times import DAY, SECOND
from tests.api.service import Service, refusal
from tests.factories import NOW, a_spec, a_task

A_DAY = DAY // SECOND


def purge(service: Service, **body: Any) -> Response:
    return service.call("POST", "/v1/purge", {"older_than": A_DAY} | body)


def purged(service: Service, **body: Any) -> tuple[int, int, str | None]:
    response = purge(service, **body)
    assert response.status == 200, response.body
    return response.body["matched"], response.body["removed"], response.body["next_cursor"]


def put(service: Service, *statuses: Status, **spec: Any) -> list[str]:
    """Stores tasks that ended two days ago."""
    tasks = [a_task(spec=a_spec(**spec), status=status, wake=None) for status in statuses]
    ended = [replace(task, updated_at=NOW - 2 * DAY) for task in tasks]
    service.store.put(ended)
    return [task.id for task in ended]


def left(service: Service, ids: list[str]) -> list[str]:
    found = service.store.get(ids)
    return [task_id for task_id in ids if task_id in found]


def test_purge_removes_final_tasks_only(any_service: Service):
    ids = put(any_service, *Status)

    assert purged(any_service) == (3, 3, None)

    assert left(any_service, ids) == [i for i, s in zip(ids, Status, strict=True) if not s.final]
    assert purged(any_service) == (0, 0, None)


def test_purge_keeps_tasks_that_ended_later(any_service: Service):
    put(any_service, Status.SUCCEEDED)

    assert purged(any_service, older_than=3 * A_DAY) == (0, 0, None)
    assert purged(any_service, older_than=0) == (1, 1, None)


def test_purge_filters_by_status_and_namespace(any_service: Service):
    here = put(any_service, Status.SUCCEEDED, Status.EXPIRED)
    there = put(any_service, Status.SUCCEEDED, namespace="there")

    assert purged(any_service, namespace="there") == (1, 1, None)
    assert purged(any_service, status=["EXPIRED", "CANCELLED"]) == (1, 1, None)
    assert left(any_service, here + there) == here[:1]


def test_dry_run_of_a_purge_counts_and_removes_nothing(any_service: Service):
    ids = put(any_service, *[Status.SUCCEEDED] * 3)

    assert purge(any_service, dry_run=True).body == {
        "matched": 3,
        "removed": 0,
        "dry_run": True,
        "next_cursor": None,
    }
    assert left(any_service, ids) == ids


@pytest.mark.parametrize("dry_run", [True, False])
def test_purge_continues_at_its_cursor(any_service: Service, dry_run: bool):
    put(any_service, *[Status.SUCCEEDED] * 5)
    matched, cursor = 0, None
    for _ in range(10):
        found, _, cursor = purged(any_service, limit=2, cursor=cursor, dry_run=dry_run)
        assert found <= 2
        matched += found
        if cursor is None:
            break

    assert (matched, cursor) == (5, None)


@pytest.mark.parametrize(
    ("body", "field", "message"),
    [
        ({"older_than": None}, "older_than", "must be a number"),
        ({"older_than": -1}, "older_than", "must be at least 0"),
        ({"older_than": 1e12}, "older_than", "must be at most 315360000"),
        ({"older_than": "7d"}, "older_than", "must be a number"),
        ({"status": ["DEAD"]}, "status.0", "must be 'SUCCEEDED', 'CANCELLED' or 'EXPIRED'"),
        ({"status": []}, "status", "must have at least 1 entry"),
        ({"status": "SUCCEEDED"}, "status", "must be a list"),
        ({"namespace": "a b"}, "namespace", "must have only letters, digits and ._:-"),
        ({"limit": 0}, "limit", "must be at least 1"),
        ({"limit": 1_001}, "limit", "must be at most 1000"),
        ({"dry_run": 1}, "dry_run", "must be true or false"),
        ({"cursor": "x"}, "cursor", "not a cursor of this list"),
        ({"tag": "a"}, "tag", "unknown field"),
    ],
)
def test_purge_refuses_a_wrong_field(
    any_service: Service, body: dict[str, Any], field: str, message: str
):
    ids = put(any_service, Status.SUCCEEDED)

    assert refusal(purge(any_service, **body)) == {field: message}
    assert left(any_service, ids) == ids


def test_purge_without_an_age_is_refused(service: Service):
    assert refusal(service.call("POST", "/v1/purge", {})) == {"older_than": "required"}


def test_purge_reports_what_it_has_done_when_the_store_stops_answering(
    service: Service, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "BATCH", 2)
    put(service, *[Status.SUCCEEDED] * 5)
    ended, pages = service.store.ended, []

    def tired(listing: Any) -> Any:
        if pages:
            raise Unavailable("no answer")
        pages.append(ended(listing))
        return pages[0]

    with monkeypatch.context() as patched:
        patched.setattr(service.store, "ended", tired, raising=False)
        matched, removed, cursor = purged(service)
        assert (matched, removed) == (2, 2)
        assert purge(service).status == 503

    assert purged(service, cursor=cursor) == (3, 3, None)


def test_purge_does_not_count_a_removal_without_an_answer(
    service: Service, monkeypatch: pytest.MonkeyPatch
):
    put(service, Status.SUCCEEDED)
    monkeypatch.setattr(
        service.store, "remove", lambda removals: [Unknown("no answer")], raising=False
    )

    assert purged(service) == (1, 0, None)
