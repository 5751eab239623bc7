"""Tickets, connections and subscriptions as rows of the table."""

from threading import Barrier, Thread
from typing import Any

import pytest

from duetime.aws import schema
from duetime.aws.live_store import DynamoLiveStore
from duetime.core.live.connections import (
    FRAME_GAP,
    RESET_GAP,
    RESET_GRACE,
    ROW_LIFE,
    Connection,
    Subscription,
)
from duetime.core.live.limits import LIFETIME, TICKET_LIFE
from duetime.core.live.tickets import hash_of, new_ticket
from duetime.core.times import MINUTE, SECOND
from tests.factories import NOW

CLOSES_AT = NOW + LIFETIME
TEXT = "0123456789abcdef" * 2
ALL_TASKS = '{"op":"subscribe","id":"s1","topic":"tasks"}'


@pytest.fixture
def store(dynamodb: Any, table: str) -> DynamoLiveStore:
    return DynamoLiveStore(dynamodb, table)


def a_connection(id: str = "c1", **fields: Any) -> Connection:
    return Connection(id=id, closes_at=CLOSES_AT, **fields)


def a_subscription(connection: str = "c1", id: str = "s1", **fields: Any) -> Subscription:
    given = {"message": ALL_TASKS, "closes_at": CLOSES_AT, **fields}
    return Subscription(connection=connection, id=id, **given)


def rows(dynamodb: Any, table: str) -> dict[tuple[str, str], Any]:
    items = dynamodb.scan(TableName=table)["Items"]
    return {(item[schema.PK]["S"], item[schema.SK]["S"]): item for item in items}


# Tickets


@pytest.mark.parametrize(
    ("actor", "namespaces"),
    [(None, None), ("ada", None), ("ada", frozenset({"a", "shop"})), (None, frozenset[str]())],
)
def test_ticket_is_taken_once_as_it_was_added(
    store: DynamoLiveStore, actor: str | None, namespaces: frozenset[str] | None
):
    ticket = new_ticket(TEXT, NOW, actor, namespaces)
    store.add(ticket, NOW)

    assert store.take(hash_of(TEXT), NOW) == ticket
    assert store.take(hash_of(TEXT), NOW) is None


def test_ticket_that_was_never_added_is_refused(store: DynamoLiveStore):
    assert store.take(hash_of("guess"), NOW) is None


def test_expired_ticket_is_refused_before_its_row_is_removed(store: DynamoLiveStore):
    ticket = new_ticket(TEXT, NOW)
    store.add(ticket, NOW)
    assert store.take(hash_of(TEXT), NOW + TICKET_LIFE) is None


def test_of_two_callers_one_gets_the_ticket(store: DynamoLiveStore):
    ticket = new_ticket(TEXT, NOW)
    store.add(ticket, NOW)
    start, taken = Barrier(8), []

    def take() -> None:
        start.wait()
        taken.append(store.take(hash_of(TEXT), NOW))

    threads = [Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [ticket for ticket in taken if ticket] == [ticket]


def test_table_has_the_hash_of_a_ticket_and_not_its_text(
    store: DynamoLiveStore, dynamodb: Any, table: str
):
    ticket = new_ticket(TEXT, NOW, "ada")
    store.add(ticket, NOW)
    assert f"ticket#{hash_of(TEXT)}" in str(rows(dynamodb, table))
    assert TEXT not in str(rows(dynamodb, table))


def test_ticket_lets_relays_look_for_connections_as_long_as_there_may_be_one(
    store: DynamoLiveStore,
):
    assert store.until() == 0
    store.add(new_ticket(TEXT, NOW), NOW)
    assert store.until() == NOW + ROW_LIFE
    store.add(new_ticket("other", NOW + MINUTE), NOW + MINUTE)
    assert store.until() == NOW + MINUTE + ROW_LIFE
    assert ROW_LIFE > TICKET_LIFE + LIFETIME


# Connections


def test_connection_is_read_as_it_was_opened(store: DynamoLiveStore):
    opened = a_connection(actor="ada", namespaces=frozenset({"shop"}))
    store.open(opened)

    assert store.connection("c1", NOW) == opened
    assert store.connection("c2", NOW) is None
    store.greet("c1")
    found = store.connection("c1", NOW)
    assert found
    assert found.greeted


def test_connection_is_gone_when_api_gateway_must_have_closed_it(store: DynamoLiveStore):
    store.open(a_connection())
    store.subscribe(a_subscription())
    assert store.connection("c1", CLOSES_AT - 1)
    assert store.connection("c1", CLOSES_AT) is None
    assert store.subscriptions(CLOSES_AT) == []
    assert store.counts(CLOSES_AT).connections == 0


def test_connection_that_was_forgotten_is_not_greeted_back(store: DynamoLiveStore):
    store.open(a_connection())
    store.forget("c1")
    store.greet("c1")
    assert store.connection("c1", NOW) is None


def test_connection_is_forgotten_with_its_subscriptions_alone(store: DynamoLiveStore):
    for id in ("c1", "c11", "c2"):
        store.open(a_connection(id))
        for number in range(3):
            store.subscribe(a_subscription(id, f"s{number}"))
    store.forget("c1")
    store.forget("c1")

    counts = store.counts(NOW)
    assert (counts.connections, dict(counts.subscriptions)) == (2, {"c11": 3, "c2": 3})


def test_every_row_has_a_ttl_but_the_one_that_all_share(
    store: DynamoLiveStore, dynamodb: Any, table: str
):
    store.add(new_ticket(TEXT, NOW), NOW)
    store.open(a_connection())
    store.subscribe(a_subscription())

    removed = {
        key: int(row[schema.REMOVE_AFTER]["N"])
        for key, row in rows(dynamodb, table).items()
        if schema.REMOVE_AFTER in row
    }
    ends = (NOW + ROW_LIFE) // SECOND
    ticket = next(key for key in rows(dynamodb, table) if key[1] == schema.TICKET)
    assert removed == {
        ticket: (NOW + TICKET_LIFE) // SECOND,
        ("live", "c1"): ends,
        ("live", "c1#s1"): ends,
    }
    assert schema.LIVE_UNTIL in rows(dynamodb, table)


# Subscriptions


def test_subscription_is_read_as_it_was_stored(store: DynamoLiveStore):
    wanted = a_subscription(namespaces=frozenset({"shop"}))
    assert store.subscribe(wanted)
    assert store.subscriptions(NOW) == [wanted]


def test_subscription_id_is_used_once_in_a_connection(store: DynamoLiveStore):
    assert store.subscribe(a_subscription())
    assert not store.subscribe(a_subscription())
    assert store.subscribe(a_subscription("c2"))
    assert store.unsubscribe("c1", "s1")
    assert not store.unsubscribe("c1", "s1")
    assert store.subscribe(a_subscription())


def test_subscription_takes_one_frame_a_second(store: DynamoLiveStore):
    store.subscribe(a_subscription())
    assert store.take_frame("c1", "s1", NOW)
    assert store.take_frame("c1", "s1", NOW + FRAME_GAP - 1) is None
    taken = store.take_frame("c1", "s1", NOW + FRAME_GAP)
    assert taken
    assert taken.framed_at == NOW + FRAME_GAP


def test_one_of_two_sends_a_reset_until_it_begins(store: DynamoLiveStore):
    store.subscribe(a_subscription())
    assert store.plan_reset("c1", "s1", NOW)
    assert store.plan_reset("c1", "s1", NOW + 1) is None
    assert store.begin_reset("c1", "s1", NOW + 2)
    [sub] = store.subscriptions(NOW)
    assert (sub.framed_at, sub.reset_at, sub.reset_by) == (NOW + 2, NOW + 2, None)
    assert store.plan_reset("c1", "s1", NOW + 3)


def test_reset_of_an_invocation_that_died_is_sent_by_another(store: DynamoLiveStore):
    store.subscribe(a_subscription())
    assert store.plan_reset("c1", "s1", NOW)
    assert store.plan_reset("c1", "s1", NOW + RESET_GAP + RESET_GRACE - 1) is None
    assert store.plan_reset("c1", "s1", NOW + RESET_GAP + RESET_GRACE)


def test_reset_that_is_left_is_sent_by_the_next(store: DynamoLiveStore):
    store.subscribe(a_subscription())
    store.plan_reset("c1", "s1", NOW)
    store.leave_reset("c1", "s1", NOW + 1)
    assert store.plan_reset("c1", "s1", NOW + 1)


def test_rows_of_a_subscription_that_is_gone_stay_gone(store: DynamoLiveStore):
    assert store.take_frame("c1", "s1", NOW) is None
    assert store.plan_reset("c1", "s1", NOW) is None
    assert not store.begin_reset("c1", "s1", NOW)
    store.leave_reset("c1", "s1", NOW)
    assert store.subscriptions(NOW) == []
