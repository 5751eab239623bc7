"""Pushes: who gets which frame, and what becomes of those that cannot be sent."""

from typing import Any

import pytest

from duetime.core.errors import Unavailable
from duetime.core.events import StatusChange
from duetime.core.live.connections import FRAME_GAP, RESET_GAP
from duetime.core.live.pushes import Progressed, push_of, push_of_event
from duetime.core.task import Progress
from duetime.core.times import MINUTE, SECOND, Millis
from tests.core.live.changes import a_change
from tests.factories import NOW, an_id
from tests.websocket.conftest import World

RESET = {"type": "reset", "id": "s1", "reason": "lagged"}


def push(world: World, *changes: StatusChange, until: Millis | None = None) -> None:
    """As the relay does, with what is subscribed now."""
    subscriptions = world.store.subscriptions(world.clock.now())
    event = push_of(changes, subscriptions).event()
    world.pushing.push(push_of_event(event), until or world.clock.now() + MINUTE)


def tasks_of(frame: Any) -> list[str]:
    assert frame["type"] == "changes"
    return [item["task_id"] for item in frame["items"]]


@pytest.fixture
def subscribed(world: World) -> World:
    world.greet()
    world.subscribe()
    return world


def test_subscription_gets_the_changes_it_wants(world: World):
    world.greet()
    world.subscribe("dead", filter={"status": ["DEAD"]})
    world.subscribe("shop", filter={"namespace": "shop"})
    push(
        world,
        a_change(task_id="a", namespace="shop", after="RETRYING"),
        a_change(task_id="b", namespace="bank", after="DEAD"),
    )
    got = {frame["id"]: tasks_of(frame) for frame in world.got()}
    assert got == {"dead": ["b"], "shop": ["a"]}


def test_connection_gets_no_change_of_another_namespace(world: World):
    world.greet(namespaces=frozenset({"shop"}))
    world.subscribe()
    push(world, a_change(task_id="a", namespace="bank"), a_change(task_id="b", namespace="shop"))
    assert [tasks_of(frame) for frame in world.got()] == [["b"]]


def test_task_topic_follows_one_task(world: World):
    task_id = an_id()
    world.greet()
    world.subscribe("s1", topic="task", task_id=task_id)
    push(world, a_change(task_id=an_id()), a_change(task_id=task_id))
    assert [tasks_of(frame) for frame in world.got()] == [[task_id]]


def test_every_connection_gets_its_frame(world: World):
    names = [f"c{number}" for number in range(40)]
    for name in names:
        world.greet(name)
        world.subscribe(id=name)
    push(world, a_change(task_id="a"))
    assert [tasks_of(frame) for name in names for frame in world.got(name)] == [["a"]] * 40


def test_burst_becomes_a_frame_and_a_reset_after_a_second(subscribed: World):
    push(subscribed, a_change(task_id="a"))
    subscribed.clock.advance(400)
    push(subscribed, a_change(task_id="b"))

    first, second = subscribed.got()
    assert (tasks_of(first), second) == (["a"], RESET)
    assert subscribed.waited == [(FRAME_GAP - 400) / SECOND]


def test_resets_of_a_list_are_five_seconds_apart(subscribed: World):
    push(subscribed, a_change(task_id="a"))
    push(subscribed, a_change(task_id="b"))
    push(subscribed, a_change(task_id="c"))

    assert subscribed.got()[1:] == [RESET, RESET]
    assert subscribed.waited == [FRAME_GAP / SECOND, RESET_GAP / SECOND]


def test_reset_of_a_single_task_need_not_wait_for_five_seconds(world: World):
    task_id = an_id()
    world.greet()
    world.subscribe("s1", topic="task", task_id=task_id)
    for _ in range(3):
        push(world, a_change(task_id=task_id))
    assert world.got()[1:] == [RESET, RESET]
    assert world.waited == [FRAME_GAP / SECOND] * 2


def test_push_leaves_the_reset_to_the_one_that_has_to_send_it(subscribed: World):
    push(subscribed, a_change(task_id="a"))
    subscribed.store.plan_reset("c1", "s1", subscribed.clock.now())
    push(subscribed, a_change(task_id="b"))
    assert [tasks_of(frame) for frame in subscribed.got()] == [["a"]]
    assert subscribed.waited == []


def test_more_than_a_frame_becomes_a_frame_and_a_reset(subscribed: World):
    push(subscribed, *(a_change(task_id=f"{number:026d}") for number in range(150)))
    first, second = subscribed.got()
    assert 1 < len(tasks_of(first)) <= 100
    assert second == RESET


def test_changes_without_room_become_a_reset(subscribed: World):
    changes = [a_change(task_id=f"{n:026d}", name="x" * 256) for n in range(500)]
    push(subscribed, *changes)
    assert subscribed.got() == [RESET]


def test_connection_that_is_gone_loses_its_rows_and_disturbs_no_other(world: World):
    for id in ("c1", "c2"):
        world.greet(id)
        world.subscribe(id=id)
    world.subscribe("s2", "c1")
    world.posts.close("c1")
    push(world, a_change(task_id="a"))

    assert [sub.connection for sub in world.store.subscriptions(world.clock.now())] == ["c2"]
    assert world.store.connection("c1", world.clock.now()) is None
    assert [tasks_of(frame) for frame in world.got("c2")] == [["a"]]


def test_frame_over_the_limit_is_skipped_and_followed_by_a_reset(subscribed: World):
    subscribed.posts.limit("c1")
    push(subscribed, a_change(task_id="a"))
    assert subscribed.got() == [], "the reset was refused, too"

    subscribed.posts.limit("c1", limited=False)
    subscribed.clock.advance(RESET_GAP)
    push(subscribed, a_change(task_id="b"))
    first, second = subscribed.got()
    assert (tasks_of(first), second) == (["b"], RESET)
    assert [sub.reset_by for sub in subscribed.store.subscriptions(0)] == [None]


def test_reset_that_is_due_too_late_is_left_to_the_next_push(subscribed: World):
    push(subscribed, a_change(task_id="a"))
    push(subscribed, a_change(task_id="b"), until=subscribed.clock.now() + 1)
    assert subscribed.waited == []
    subscribed.clock.advance(FRAME_GAP)
    push(subscribed, a_change(task_id="c"))
    assert [frame["type"] for frame in subscribed.got()] == ["changes", "changes", "reset"]


def test_push_out_of_time_posts_nothing(subscribed: World):
    push(subscribed, a_change(), until=subscribed.clock.now())
    assert subscribed.got() == []


def test_subscription_that_has_ended_gets_nothing(subscribed: World):
    subscriptions = subscribed.store.subscriptions(subscribed.clock.now())
    pushed = push_of([a_change()], subscriptions)
    subscribed.send({"op": "unsubscribe", "id": "s1"})
    subscribed.pushing.push(pushed, subscribed.clock.now() + MINUTE)
    assert subscribed.got() == []


def test_table_that_does_not_answer_for_one_does_not_keep_the_others_from_theirs(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    for id in ("c1", "c2"):
        world.greet(id)
        world.subscribe(id=id)
    take_frame = world.store.take_frame

    def broken(connection: str, id: str, now: Millis) -> Any:
        if connection == "c1":
            raise Unavailable("throttled")
        return take_frame(connection, id, now)

    monkeypatch.setattr(world.store, "take_frame", broken)
    push(world, a_change(task_id="a"))
    assert (world.got("c1"), len(world.got("c2"))) == ([], 1)


def test_progress_takes_the_frame_of_a_second_or_is_dropped(world: World):
    task_id = an_id()
    world.greet()
    world.subscribe(topic="task", task_id=task_id)
    subscriptions = world.store.subscriptions(world.clock.now())
    for fraction in (0.1, 0.2):
        report = Progressed(
            task_id=task_id, namespace="shop", progress=Progress(fraction=fraction), at=NOW
        )
        pushed = push_of([], subscriptions, [report])
        world.pushing.push(pushed, world.clock.now() + MINUTE)
    [frame] = world.got()
    assert (frame["type"], frame["progress"]["fraction"]) == ("progress", 0.1)
    assert world.waited == []
