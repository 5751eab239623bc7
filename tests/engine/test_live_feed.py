"""The live feed reads little without listeners, and pushes what is wanted."""

from typing import Any

import pytest

from duetime.core.errors import Unavailable
from duetime.core.live.connections import Subscription
from duetime.core.live.pushes import Progressed, push_of_event
from duetime.core.task import Progress
from duetime.core.times import HOUR, SECOND, Millis
from duetime.engine.live_feed import LiveFeed
from tests.core.live.changes import TASK_ID, a_change
from tests.factories import NOW, SteppedClock


class Rows:
    """What the feed reads of the LiveConnections, and how often."""

    def __init__(self) -> None:
        self.listening_until: Millis = 0
        self.subscribed: list[Subscription] = []
        self.reads: list[str] = []

    def until(self) -> Millis:
        self.reads.append("until")
        return self.listening_until

    def subscriptions(self, now: Millis) -> list[Subscription]:
        self.reads.append("subscriptions")
        return self.subscribed


class World:
    def __init__(self) -> None:
        self.clock = SteppedClock()
        self.rows = Rows()
        self.invoked: list[dict[str, Any]] = []
        self.feed = LiveFeed(self.rows, self.invoked.append, self.clock)  # type: ignore[arg-type]

    def listen(self, message: str = '{"op":"subscribe","id":"s1","topic":"tasks"}') -> None:
        self.rows.listening_until = NOW + HOUR
        self.rows.subscribed.append(
            Subscription(connection="c1", id="s1", message=message, closes_at=NOW + HOUR)
        )

    def push(self, **fields: Any) -> None:
        self.feed.push([a_change(**fields)])


@pytest.fixture
def world() -> World:
    return World()


def test_feed_reads_one_row_in_ten_seconds_without_listeners(world: World):
    for _ in range(40):
        world.push()
        world.clock.advance(500)
    assert world.rows.reads == ["until"] * 2
    assert world.invoked == []


def test_feed_reads_nothing_for_a_batch_without_changes(world: World):
    world.listen()
    world.feed.push([])
    assert world.rows.reads == []


def test_feed_reads_the_subscriptions_once_in_two_seconds(world: World):
    world.listen()
    for _ in range(16):
        world.push()
        world.clock.advance(SECOND // 4)
    assert world.rows.reads == ["until", "subscriptions", "subscriptions"]
    assert len(world.invoked) == 16


def test_feed_reads_once_in_five_seconds_if_there_is_no_subscription(world: World):
    world.rows.listening_until = NOW + HOUR
    for _ in range(18):
        world.push()
        world.clock.advance(SECOND // 2)
    assert world.rows.reads == ["until", "subscriptions", "subscriptions"]
    assert world.invoked == []


def test_feed_sees_a_new_listener_within_ten_seconds(world: World):
    world.push()
    world.listen()
    world.clock.advance(10 * SECOND)
    world.push()
    assert len(world.invoked) == 1


def test_feed_is_quiet_again_when_every_connection_must_have_closed(world: World):
    world.listen()
    world.push()
    world.clock.advance(HOUR)
    world.rows.reads.clear()
    world.push()
    assert (world.rows.reads, len(world.invoked)) == (["until"], 1)


def test_feed_invokes_only_for_what_is_wanted(world: World):
    world.listen('{"op":"subscribe","id":"s1","topic":"tasks","filter":{"namespace":"bank"}}')
    world.push(namespace="shop")
    assert world.invoked == []
    world.push(namespace="bank")
    [event] = world.invoked
    [recipient] = push_of_event(event).recipients
    assert (recipient.connection, recipient.subscription, recipient.items) == ("c1", "s1", [0])


def test_feed_reads_again_after_a_read_that_failed(world: World, monkeypatch: pytest.MonkeyPatch):
    world.listen()
    with monkeypatch.context() as patched:
        patched.setattr(world.rows, "until", lambda: (_ for _ in ()).throw(Unavailable("slow")))
        with pytest.raises(Unavailable):
            world.push()
    world.push()
    assert len(world.invoked) == 1


def test_feed_pushes_progress_to_a_follower(world: World):
    world.listen(f'{{"op":"subscribe","id":"s1","topic":"task","task_id":"{TASK_ID}"}}')
    progress = Progress(fraction=0.5)
    report = Progressed(task_id=TASK_ID, namespace="shop", progress=progress, at=NOW)
    world.feed.push([], [report])
    [event] = world.invoked
    assert [made.subscription for made in push_of_event(event).progress] == ["s1"]
