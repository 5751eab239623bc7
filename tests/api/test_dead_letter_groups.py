"""GET /v1/dead-letters/groups, and what takes the fingerprint of a group."""

from typing import Any

import pytest

from duetime.api import dead_letter_groups
from duetime.core.times import MINUTE, rfc3339
from tests.api.dead import a_dead_task, bury, statuses
from tests.api.service import Service, refusal
from tests.factories import NOW

PATH = "/v1/dead-letters/groups"
RESTOCK = {"type": "python", "handler": "shop.restock"}


def groups(service: Service, **query: Any) -> list[dict[str, Any]]:
    answer = service.get(PATH, **query)
    assert answer.status == 200, answer.body
    assert answer.body["complete"]
    return list(answer.body["items"])


def test_groups_have_the_largest_cause_first(any_service: Service):
    one, *others = bury(
        any_service,
        a_dead_task(NOW - MINUTE, target=RESTOCK, error_type="KeyError"),
        a_dead_task(NOW - 3 * MINUTE, target=RESTOCK, namespace="shop"),
        a_dead_task(NOW - 2 * MINUTE, target=RESTOCK, namespace="other"),
        a_dead_task(NOW - 9 * MINUTE, target=RESTOCK, namespace="shop"),
    )

    answer = any_service.get(PATH)

    first, second = answer.body["items"]
    assert first | {"fingerprint": ""} == {
        "fingerprint": "",
        "error_type": "ValueError",
        "target": "shop.restock",
        "message": "no such day",
        "count": 3,
        "first": rfc3339(NOW - 9 * MINUTE),
        "last": rfc3339(NOW - 2 * MINUTE),
        "sample_id": others[1],
        "namespaces": ["other", "shop"],
    }
    assert (second["error_type"], second["count"], second["sample_id"]) == ("KeyError", 1, one)
    assert (answer.body["looked_at"], answer.body["complete"]) == (4, True)
    assert answer.body["next_cursor"] is None
    assert answer.headers["cache-control"] == "private, max-age=2"


def test_groups_have_the_filters_of_the_list(any_service: Service):
    bury(
        any_service,
        a_dead_task(NOW - 5 * MINUTE, target=RESTOCK, namespace="shop"),
        a_dead_task(NOW - MINUTE, error_type="KeyError"),
    )

    def kinds(**query: Any) -> list[str]:
        return [group["error_type"] for group in groups(any_service, **query)]

    assert kinds(namespace="shop") == kinds(handler="shop.restock") == ["ValueError"]
    assert kinds(error_type="KeyError") == ["KeyError"]
    assert kinds(since=rfc3339(NOW - 2 * MINUTE)) == ["KeyError"]
    assert kinds(died_before=rfc3339(NOW - 2 * MINUTE)) == ["ValueError"]
    [group] = groups(any_service, namespace="shop")
    assert kinds(fingerprint=group["fingerprint"]) == ["ValueError"]
    assert kinds(fingerprint="0" * 16) == []


def test_groups_end_where_one_call_ends_and_go_on_at_the_cursor(
    any_service: Service, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(dead_letter_groups, "MAX_TASKS", 3)
    bury(any_service, *(a_dead_task(NOW - number * MINUTE) for number in range(5)))

    first = any_service.get(PATH).body
    second = any_service.get(PATH, cursor=first["next_cursor"]).body

    assert (first["looked_at"], first["complete"]) == (3, False)
    assert (second["looked_at"], second["complete"], second["next_cursor"]) == (2, True, None)
    [one], [other] = first["items"], second["items"]
    assert one["fingerprint"] == other["fingerprint"]


def test_redrive_and_discard_take_a_group(any_service: Service):
    ids = bury(
        any_service,
        a_dead_task(),
        a_dead_task(error_type="KeyError"),
        a_dead_task(NOW - MINUTE, error_type="KeyError"),
        a_dead_task(error_type="OSError"),
    )
    found = {group["error_type"]: group["fingerprint"] for group in groups(any_service)}
    path, query = "/v1/dead-letters/redrive", {"fingerprint": found["OSError"]}

    tried = any_service.call("POST", path, {"fingerprint": found["KeyError"], "dry_run": True})
    assert (tried.status, tried.body["redriven"]) == (200, 2)
    assert statuses(any_service, ids) == ["DEAD"] * 4
    done = any_service.call("POST", path, {"fingerprint": found["KeyError"]})
    assert done.body["redriven"] == 2
    discarded = any_service.call("DELETE", "/v1/dead-letters", b"", query=query)
    assert discarded.body["changed"] == 1
    assert statuses(any_service, ids) == ["DEAD", "RETRYING", "RETRYING", "CANCELLED"]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"fingerprint": "x"}, "fingerprint"),
        ({"fingerprint": "A" * 16}, "fingerprint"),
        ({"handler": "a b"}, "handler"),
        ({"since": "yesterday"}, "since"),
        ({"since": rfc3339(NOW), "died_after": rfc3339(NOW)}, "since"),
        ({"cursor": "x"}, "cursor"),
        ({"limit": "5"}, "limit"),
    ],
)
def test_bad_parameter_of_groups_is_refused(service: Service, query: dict[str, str], field: str):
    assert list(refusal(service.get(PATH, **query))) == [field]


def test_bad_fingerprint_of_a_redrive_is_refused(service: Service):
    body = {"fingerprint": "x"}

    answer = service.call("POST", "/v1/dead-letters/redrive", body)

    assert refusal(answer) == {
        "fingerprint": "must be the fingerprint of a group: 16 digits and letters from a to f"
    }
