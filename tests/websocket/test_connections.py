"""How a connection opens, and what its frames are answered."""

from typing import Any

import pytest

from duetime.core.live.connections import MAX_MESSAGE, Connection
from duetime.core.live.limits import (
    ALL_SUBSCRIPTIONS,
    CONNECTIONS,
    LIFETIME,
    SUBSCRIPTIONS,
    TICKET_LIFE,
)
from duetime.core.times import rfc3339
from tests.factories import an_id
from tests.websocket.conftest import SITE, World

HELLO = {"op": "hello", "version": 1}
NAMESPACES = frozenset({"shop"})


def problem_of(frame: Any) -> tuple[int, str]:
    """Returns the status and the first field of an `error` frame."""
    assert frame["type"] == "error"
    errors = frame["problem"].get("errors") or [{"field": ""}]
    return frame["problem"]["status"], errors[0]["field"]


# Opening


def test_ticket_opens_one_connection(world: World):
    ticket = world.a_ticket(actor="ada", namespaces=NAMESPACES)

    taken = world.connections.authorize(ticket, None)
    assert taken
    assert (taken.actor, taken.namespaces) == ("ada", NAMESPACES)
    assert world.connections.authorize(ticket, None) is None


def test_old_ticket_opens_none(world: World):
    ticket = world.a_ticket()
    world.clock.advance(TICKET_LIFE)
    assert world.connections.authorize(ticket, None) is None


def test_page_of_a_foreign_site_is_refused_and_does_not_use_up_the_ticket(world: World):
    ticket = world.a_ticket()
    assert world.connections.authorize(ticket, "https://evil.example.com") is None
    assert world.connections.authorize(ticket, SITE)


def test_connection_lives_as_long_as_api_gateway_keeps_it(world: World):
    world.open(namespaces=NAMESPACES)
    closes_at = world.clock.now() + LIFETIME
    assert world.store.connection("c1", world.clock.now()) == Connection(
        id="c1", closes_at=closes_at, actor="ada", namespaces=NAMESPACES
    )


def test_connection_201_is_refused_until_another_closes(world: World):
    for number in range(CONNECTIONS):
        closes_at = world.clock.now() + LIFETIME
        world.store.open(Connection(id=f"c{number}", closes_at=closes_at))

    assert not world.connections.connect("more", None, None)
    assert world.store.connection("more", world.clock.now()) is None
    world.connections.disconnect("c7")
    assert world.connections.connect("more", None, None)


# Frames


def test_hello_is_answered_with_the_limits(world: World):
    world.open()
    world.send(HELLO)
    assert world.got() == [
        {
            "type": "hello",
            "version": 1,
            "ping_every": 240,
            "closes_at": rfc3339(world.clock.now() + LIFETIME),
            "limits": {"subscriptions": SUBSCRIPTIONS},
        }
    ]


def test_connection_says_hello_first(world: World):
    world.open()
    world.send({"op": "ping"})
    assert [problem_of(frame) for frame in world.got()] == [(422, "op")]


def test_ping_is_answered(world: World):
    world.greet()
    world.send({"op": "ping"})
    assert world.got() == [{"type": "pong"}]


def test_subscription_is_stored_with_the_namespaces_of_its_ticket(world: World):
    world.greet(namespaces=NAMESPACES)
    world.subscribe(filter={"status": ["DEAD"]})

    [sub] = world.store.subscriptions(world.clock.now())
    assert (sub.connection, sub.id, sub.namespaces) == ("c1", "s1", NAMESPACES)
    assert [str(status) for status in sub.filter.statuses] == ["DEAD"]


def test_subscription_ends(world: World):
    world.greet()
    world.subscribe()
    world.send({"op": "unsubscribe", "id": "s1"})
    assert world.got() == []
    assert world.store.subscriptions(world.clock.now()) == []
    world.send({"op": "unsubscribe", "id": "s1"})
    assert [problem_of(frame) for frame in world.got()] == [(422, "id")]


def test_subscription_id_in_use_is_refused(world: World):
    world.greet()
    world.subscribe()
    world.send({"op": "subscribe", "id": "s1", "topic": "tasks"})
    assert [problem_of(frame) for frame in world.got()] == [(422, "id")]


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ("no JSON", "message"),
        ("", "message"),
        ("[]", "message"),
        ({"op": "dance"}, "op"),
        ({"op": "ping", "more": 1}, "more"),
        ({"op": "$connect"}, "op"),
        ({"op": "subscribe", "id": "s1", "topic": "tasks", "filter": {"tag": "x"}}, "filter.tag"),
        ({"op": "subscribe", "id": "s1", "topic": "task", "task_id": "x"}, "task_id"),
    ],
)
def test_frame_that_is_not_valid_is_refused_by_field(world: World, message: Any, field: str):
    world.greet()
    world.send(message)
    assert [problem_of(frame) for frame in world.got()] == [(422, field)]


def test_topic_stats_is_refused_on_aws(world: World):
    world.greet()
    world.send({"op": "subscribe", "id": "s1", "topic": "stats"})
    [refused] = world.got()
    assert refused["id"] == "s1"
    assert problem_of(refused) == (422, "topic")


def test_long_message_does_not_subscribe(world: World):
    world.greet()
    words = [f"{number:0100d}" for number in range(MAX_MESSAGE // 100)]
    world.send({"op": "subscribe", "id": "s1", "topic": "tasks", "filter": {"namespace": words}})
    assert [problem_of(frame) for frame in world.got()] == [(422, "message")]
    assert world.store.subscriptions(world.clock.now()) == []


def test_connection_has_so_many_subscriptions_and_no_more(world: World):
    world.greet()
    for number in range(SUBSCRIPTIONS):
        world.subscribe(f"s{number}")
    world.send({"op": "subscribe", "id": "more", "topic": "tasks"})
    assert [problem_of(frame)[0] for frame in world.got()] == [429]


def test_all_connections_have_so_many_subscriptions_and_no_more(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    assert ALL_SUBSCRIPTIONS == 2_000
    monkeypatch.setattr("duetime.websocket.connections.ALL_SUBSCRIPTIONS", 3)
    for id in ("c1", "c2"):
        world.greet(id)
    for number in range(3):
        world.subscribe(f"s{number}", "c1")
    world.send({"op": "subscribe", "id": "s", "topic": "tasks"}, "c2")
    assert [problem_of(frame)[0] for frame in world.got("c2")] == [429]


def test_connection_without_a_row_is_closed(world: World):
    world.posts.connect("c1")
    world.send({"op": "ping"})
    assert "c1" not in world.posts.open


def test_answer_to_a_closed_connection_deletes_its_rows(world: World):
    world.greet()
    world.subscribe()
    world.posts.close("c1")
    world.send({"op": "ping"})
    now = world.clock.now()
    assert world.store.connection("c1", now) is None
    assert world.store.subscriptions(now) == []


def test_answer_that_fails_leaves_the_connection(world: World, caplog: pytest.LogCaptureFixture):
    world.greet()
    world.posts.limit("c1")
    world.send({"op": "ping"})
    assert world.store.connection("c1", world.clock.now())
    assert "answer not sent" in caplog.messages


def test_disconnect_deletes_the_rows(world: World):
    world.greet()
    world.subscribe()
    world.send({"op": "subscribe", "id": "s2", "topic": "task", "task_id": an_id()})
    world.connections.disconnect("c1")
    assert world.store.counts(world.clock.now()).connections == 0
    assert world.store.subscriptions(world.clock.now()) == []
