"""DELETE /v1/dead-letters."""

from dataclasses import replace
from typing import Any

import pytest

from duetime.api import bulk
from duetime.api.bulk import NOT_FOUND, UNANSWERED
from duetime.api.http import Response
from duetime.core.change import Refused, Unknown
from duetime.core.lifecycle import Status
from duetime.core.times import DAY, HOUR, rfc3339
from tests.api.bulk import answer
from tests.api.change import put
from tests.api.dead import a_dead_task, bury, statuses
from tests.api.service import Service, refusal
from tests.factories import NOW, a_task, an_id

PATH = "/v1/dead-letters"


def discard(service: Service, **query: Any) -> Response:
    return service.call("DELETE", PATH, b"", query=query)


def discarded(service: Service, **query: Any) -> dict[str, Any]:
    response = discard(service, **query)
    assert response.status == 200, response.body
    return response.body


def listed(service: Service) -> list[str]:
    return [item["id"] for item in service.get(PATH).body["items"]]


def test_discarded_task_is_cancelled_with_its_error_and_leaves_the_list(any_service: Service):
    task_id, kept = bury(any_service, a_dead_task(), a_dead_task())
    any_service.clock.advance(DAY)

    assert discarded(any_service, ids=task_id) == answer(1)

    assert listed(any_service) == [kept]
    body = any_service.get(f"/v1/tasks/{task_id}").body
    assert (body["status"], body["reason"]) == ("CANCELLED", "discarded")
    assert body["error"]["type"] == "ValueError"
    assert body["finished_at"] == rfc3339(NOW + DAY)
    assert any_service.call("POST", f"/v1/tasks/{task_id}/retry", b"").status == 409


def test_discard_by_filter_after_a_dry_run(any_service: Service):
    ids = bury(
        any_service,
        a_dead_task(error_type="KeyError", namespace="shop"),
        a_dead_task(NOW - HOUR, namespace="shop"),
        a_dead_task(NOW - DAY),
    )

    for query, place in (
        ({"error_type": "KeyError"}, 0),
        ({"namespace": "shop", "died_before": rfc3339(NOW)}, 1),
        ({"died_before": rfc3339(NOW - 2 * HOUR)}, 2),
    ):
        assert discarded(any_service, **query, dry_run="true") == answer(1, dry_run=True)
        assert statuses(any_service, ids)[place] == "DEAD"
        assert discarded(any_service, **query) == answer(1)
        assert statuses(any_service, ids)[place] == "CANCELLED"
    assert listed(any_service) == []


def test_all_are_discarded_page_by_page(any_service: Service):
    ids = bury(any_service, *(a_dead_task(NOW + n) for n in range(5)))

    first = discarded(any_service, all="true", limit="2")
    assert (first["matched"], first["changed"]) == (2, 2)
    assert discarded(any_service, all="true", cursor=first["next_cursor"]) == answer(3)

    assert set(statuses(any_service, ids)) == {"CANCELLED"}


def test_task_that_cannot_be_discarded_is_reported(any_service: Service):
    [dead] = bury(any_service, a_dead_task())
    waits = a_task()
    put(any_service, waits)
    nowhere = an_id()

    body = discarded(any_service, ids=f"{waits.id},{dead},{nowhere},nonsense")

    left = [(waits.id, "it is PENDING"), (nowhere, NOT_FOUND), ("nonsense", NOT_FOUND)]
    assert body == answer(4, *left)
    assert statuses(any_service, [waits.id, dead]) == ["PENDING", "CANCELLED"]


@pytest.mark.parametrize("selection", ["ids", "all"])
def test_task_that_is_revived_meanwhile_is_not_discarded(service: Service, selection: str):
    task = a_dead_task()
    bury(service, task)
    service.store.apply_answer = lambda _: Refused(replace(task, status=Status.RETRYING))
    query = {"ids": task.id} if selection == "ids" else {"all": "true"}

    assert discarded(service, **query) == answer(1, (task.id, "it is RETRYING"))


def test_unanswered_discard_is_reported(service: Service, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bulk, "BATCH", 1)
    first, last = bury(service, a_dead_task(NOW), a_dead_task(NOW + 1))
    service.store.apply_answer = lambda _: Unknown("lost")

    body = discarded(service, all="true")

    assert body["not_changed"] == [{"id": last, "reason": UNANSWERED}]
    assert body["next_cursor"] is not None
    assert statuses(service, [first]) == ["DEAD"]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({}, "query"),
        ({"dry_run": "true"}, "query"),
        ({"limit": "5"}, "query"),
        ({"all": "false"}, "all"),
        ({"all": "yes"}, "all"),
        ({"all": "true", "namespace": "shop"}, "namespace"),
        ({"ids": "a", "all": "true"}, "all"),
        ({"ids": "a", "error_type": "E"}, "error_type"),
        ({"ids": "a", "limit": "5"}, "limit"),
        ({"ids": "a", "cursor": "c"}, "cursor"),
        ({"ids": ",".join(map(str, range(101)))}, "ids"),
        ({"all": "true", "limit": "1001"}, "limit"),
        ({"all": "true", "limit": "0"}, "limit"),
        ({"all": "true", "cursor": "c"}, "cursor"),
        ({"all": "true", "tag": "a:b"}, "tag"),
        ({"died_after": "today"}, "died_after"),
        (
            {"died_after": "2026-01-02T00:00:00Z", "died_before": "2026-01-01T00:00:00Z"},
            "died_before",
        ),
    ],
)
def test_bad_selection_is_refused_and_discards_nothing(
    service: Service, query: dict[str, str], field: str
):
    [dead] = bury(service, a_dead_task())

    assert field in refusal(discard(service, **query))
    assert statuses(service, [dead]) == ["DEAD"]
    assert service.store.writes == []
