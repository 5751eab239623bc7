"""The store of limits: put, get, list and delete."""

from dataclasses import replace
from typing import Any

import pytest

from duetime.core.limits.definition import Limit, Rate
from duetime.core.limits.ports import RECENT, LimitListing, LimitStore
from duetime.core.times import SECOND
from tests.backends import Stores
from tests.factories import NOW

RATE = Rate(count=5, period=SECOND, burst=2)


def a_limit(name: str = "stripe", **fields: Any) -> Limit:
    made: dict[str, Any] = {"namespace": "default", "created_at": NOW, "updated_at": NOW}
    return Limit(name=name, **{**made, "concurrency": 3, **fields})


@pytest.fixture
def limits(stores: Stores) -> LimitStore:
    return stores.limits


def names_of(limits: LimitStore, **listing: Any) -> tuple[list[str], str | None]:
    page = limits.page(LimitListing(**listing))
    return [f"{limit.namespace}/{limit.name}" for limit in page.limits], page.cursor


@pytest.mark.parametrize(
    "limit",
    [
        a_limit(),
        a_limit(concurrency=None, rate=RATE),
        a_limit(rate=RATE, concurrency=100, draining=True),
        a_limit(namespace="a.b:c-d"),
    ],
)
def test_limit_is_read_as_it_was_put(limits: LimitStore, limit: Limit):
    assert limits.put(limit) == limit
    assert limits.get(limit.namespace, [limit.name]) == {limit.name: limit}


def test_limits_that_do_not_exist_are_left_out(limits: LimitStore):
    stored = limits.put(a_limit())

    assert limits.get("default", ["none", "stripe", "stripe"]) == {"stripe": stored}
    assert limits.get("other", ["stripe"]) == {}
    assert limits.get("default", []) == {}


def test_limit_that_is_put_again_keeps_when_it_was_created(limits: LimitStore):
    limits.put(a_limit())
    later = a_limit(rate=RATE, concurrency=None, created_at=NOW + 7, updated_at=NOW + 7)

    stored = limits.put(later)

    assert stored == replace(later, created_at=NOW)
    assert limits.get("default", ["stripe"]) == {"stripe": stored}


def test_deleted_limit_is_gone_and_may_be_deleted_again(limits: LimitStore):
    limit = limits.put(a_limit())
    other = limits.put(a_limit("other"))

    limits.delete(limit)
    limits.delete(limit)

    assert limits.get("default", ["stripe", "other"]) == {"other": other}
    assert limits.recent("default", ["stripe", "other"]) == {"other": other}


def test_limit_that_was_put_again_is_not_deleted(limits: LimitStore):
    draining = limits.put(a_limit(draining=True))
    kept = limits.put(a_limit())
    limits.delete(draining)
    assert limits.get("default", ["stripe"]) == {"stripe": kept}

    later = limits.put(a_limit(updated_at=NOW + 1))
    limits.delete(kept)
    assert limits.get("default", ["stripe"]) == {"stripe": later}


def test_limits_are_listed_by_namespace_and_name(limits: LimitStore):
    for namespace, name in [("b", "y"), ("default", "z"), ("a", "x"), ("default", "c"), ("b", "a")]:
        limits.put(a_limit(name, namespace=namespace))

    everything = ["a/x", "b/a", "b/y", "default/c", "default/z"]
    assert names_of(limits, namespace=None) == (everything, None)
    assert names_of(limits) == (everything[3:], None)
    assert names_of(limits, namespace="none") == ([], None)


@pytest.mark.parametrize("namespace", [None, "default"])
def test_pages_of_limits_go_on_after_their_cursor(limits: LimitStore, namespace: str | None):
    for name in "edcba":
        limits.put(a_limit(name))
        limits.put(a_limit(name, namespace="other"))

    found: list[str] = []
    cursor: str | None = None
    for _ in range(20):
        names, cursor = names_of(limits, namespace=namespace, limit=2, cursor=cursor)
        found += names
        if cursor is None:
            break
        assert len(names) == 2

    wanted = [
        f"{n}/{c}" for n in ("default", "other")[: 2 if namespace is None else 1] for c in "abcde"
    ]
    assert found == wanted


@pytest.mark.parametrize("cursor", ["x", "/x", "x/"])
def test_cursor_of_another_list_is_refused(limits: LimitStore, cursor: str):
    with pytest.raises(ValueError, match="not a cursor"):
        limits.page(LimitListing(cursor=cursor))


def test_recent_limit_is_at_most_5_seconds_old(limits: LimitStore, stores: Stores):
    first = limits.put(a_limit())
    _put_elsewhere(stores, replace(first, concurrency=9))

    assert limits.recent("default", ["stripe"])["stripe"].concurrency in (3, 9)
    stores.clock.advance(RECENT)
    assert limits.recent("default", ["stripe"])["stripe"].concurrency == 9


def test_limit_that_did_not_exist_is_seen_at_once(limits: LimitStore, stores: Stores):
    assert limits.recent("default", ["stripe"]) == {}
    _put_elsewhere(stores, a_limit())

    assert set(limits.recent("default", ["stripe", "none"])) == {"stripe"}


def _put_elsewhere(stores: Stores, limit: Limit) -> None:
    """Puts a limit as another process does."""
    stores.other_limits().put(limit)
