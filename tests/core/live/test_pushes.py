"""What the relay hands over: the changes that are wanted, within the size of an event."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.core.codec import to_json
from duetime.core.live.changes import change_json, coalesced
from duetime.core.live.connections import FRAME_GAP, RESET_GAP, Subscription
from duetime.core.live.limits import ALL_SUBSCRIPTIONS
from duetime.core.live.messages import MAX_ID
from duetime.core.live.pushes import (
    PROGRESS_BYTES,
    PUSH_BYTES,
    Progressed,
    push_of,
    push_of_event,
)
from duetime.core.task import Progress
from tests.core.live.changes import TASK_ID, a_change, changes


def a_subscription(id: str = "s1", connection: str = "c1", **fields: Any) -> Subscription:
    message = {"op": "subscribe", "id": id, "topic": "tasks", **fields}
    return Subscription(connection=connection, id=id, message=json.dumps(message), closes_at=10_000)


several = st.lists(
    st.builds(
        a_subscription,
        id=st.integers(0, 99).map(str),
        filter=st.fixed_dictionaries({"namespace": st.sampled_from(["a", "b", "c"])}) | st.none(),
    ),
    max_size=5,
)


def size(event: Any) -> int:
    return len(to_json(event).encode())


@given(st.lists(changes, max_size=8), several)
def test_push_has_each_wanted_change_once_and_no_other(happened: Any, subscriptions: Any):
    push = push_of(happened, subscriptions)
    latest = coalesced(happened)

    wanted = [[c for c in latest if sub.filter.wants(c)] for sub in subscriptions]
    got = [[push.items[n] for n in r.items or []] for r in push.recipients]
    assert got == [[change_json(c) for c in each] for each in wanted if each]
    assert len(push.items) == len(set(push.items))
    assert {*push.items} == {item for items in got for item in items}


@given(st.lists(changes, max_size=8), several)
def test_push_is_the_same_after_its_way_through_lambda(happened: Any, subscriptions: Any):
    push = push_of(happened, subscriptions)
    assert push_of_event(json.loads(to_json(push.event()))) == push


@given(st.lists(changes, max_size=8), several, st.integers(300, 3_000))
def test_push_without_room_is_a_reset_for_those_that_come_last(
    happened: Any, subscriptions: Any, limit: int
):
    push, whole = push_of(happened, subscriptions, limit=limit), push_of(happened, subscriptions)
    named = [(r.connection, r.subscription) for r in push.recipients]
    assert named == [(r.connection, r.subscription) for r in whole.recipients]
    assert size(push.event()) <= limit + 100


@pytest.mark.long
def test_largest_push_fits_into_an_event():
    many = [a_change(task_id=f"{n:026d}", name="ä" * 256, target="x" * 256) for n in range(400)]
    subscriptions = [
        a_subscription("s" * MAX_ID, f"connection-{n:05d}") for n in range(ALL_SUBSCRIPTIONS)
    ]
    event = push_of(many, subscriptions).event()
    assert PUSH_BYTES - 30_000 < size(event) <= PUSH_BYTES


def test_later_recipients_may_fit_when_one_did_not():
    big = [a_change(task_id=f"{n:026d}", name="x" * 200) for n in range(20)]
    small = a_change(task_id=TASK_ID, namespace="bank")
    push = push_of(
        [*big, small],
        [a_subscription("all"), a_subscription("bank", filter={"namespace": "bank"})],
        limit=2_000,
    )
    assert [r.items for r in push.recipients] == [None, [0]]


def test_reset_is_due_a_second_after_a_frame_and_for_a_list_five_after_a_reset():
    listed = a_subscription()
    one = Subscription(
        connection="c1",
        id="s1",
        message=json.dumps({"op": "subscribe", "id": "s1", "topic": "task", "task_id": TASK_ID}),
        closes_at=10_000,
        framed_at=50_000,
        reset_at=50_000,
    )
    assert listed.reset_due() == RESET_GAP
    assert one.reset_due() == 50_000 + FRAME_GAP


def a_follower(id: str = "s1", task_id: str = TASK_ID, **fields: Any) -> Subscription:
    message = {"op": "subscribe", "id": id, "topic": "task", "task_id": task_id}
    return replace(a_subscription(id), message=json.dumps(message), **fields)


def a_report(fraction: float = 0.4, **fields: Any) -> Progressed:
    given = {"task_id": TASK_ID, "namespace": "shop", "at": 1_000, **fields}
    return Progressed(progress=Progress(fraction=fraction), **given)


def test_progress_goes_to_those_who_follow_its_task():
    subscriptions = [
        a_follower("mine"),
        a_follower("other", f"{TASK_ID[:-1]}4"),
        a_follower("foreign", namespaces=frozenset({"bank"})),
        a_subscription("list"),
    ]
    push = push_of([], subscriptions, [a_report(0.3), a_report(0.4)])
    [(connection, subscription, frame)] = push.progress
    assert (connection, subscription) == ("c1", "mine")
    assert json.loads(frame)["progress"]["fraction"] == 0.4
    assert push_of_event(json.loads(to_json(push.event()))) == push


def test_progress_is_left_out_beside_a_change():
    push = push_of([a_change()], [a_follower()], [a_report()])
    assert ([r.subscription for r in push.recipients], push.progress) == (["s1"], [])


def test_progress_without_room_is_dropped():
    followers = [a_follower(f"s{number}") for number in range(ALL_SUBSCRIPTIONS)]
    push = push_of([], followers, [a_report()])
    assert 0 < len(push.progress) < len(followers)
    assert size(push.event()) <= PROGRESS_BYTES + 100
