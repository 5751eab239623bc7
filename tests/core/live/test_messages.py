import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.core.lanes import Lane, Queue
from duetime.core.lifecycle import Status
from duetime.core.live.filters import EVERYTHING, LiveFilter
from duetime.core.live.limits import FILTER_VALUES, FRAME_BYTES
from duetime.core.live.messages import (
    BadMessage,
    Hello,
    Ping,
    Subscribe,
    Topic,
    Unsubscribe,
    read_message,
)
from tests.strategies import json_values

TASK_ID = "01KA5V8Y3M0000000000A1B2C3"
SUBSCRIBE = {"op": "subscribe", "id": "s1", "topic": "tasks"}


def read(**message):
    return read_message(json.dumps(message))


def refusal(text, **options):
    with pytest.raises(BadMessage) as caught:
        read_message(text if isinstance(text, str | bytes) else json.dumps(text), **options)
    return caught.value


def test_hello_ping_and_unsubscribe_are_read():
    assert read(op="hello", version=1) == Hello(1)
    assert read(op="ping") == Ping()
    assert read(op="unsubscribe", id="s1") == Unsubscribe("s1")


def test_subscription_of_tasks_has_the_filter_of_its_message():
    wanted = {
        "namespace": "shop",
        "status": ["RETRYING", "DEAD"],
        "handler": "shop.restock",
        "lane": "low",
        "schedule_id": None,
        "run_id": None,
    }

    assert read(**SUBSCRIBE, filter=wanted) == Subscribe(
        id="s1",
        topic=Topic.TASKS,
        filter=LiveFilter(
            namespaces=frozenset(["shop"]),
            statuses=frozenset([Status.RETRYING, Status.DEAD]),
            handlers=frozenset(["shop.restock"]),
            lanes=frozenset([Queue(Lane.LOW)]),
        ),
    )


def test_subscription_without_a_filter_wants_everything():
    for absent in ({}, {"filter": None}, {"filter": {}}):
        assert read(**SUBSCRIBE, **absent) == Subscribe(id="s1", topic=Topic.TASKS)
    assert read(op="subscribe", id="s3", topic="stats").filter == EVERYTHING


def test_subscription_of_a_task_wants_that_task():
    made = read(op="subscribe", id="s2", topic="task", task_id=TASK_ID)

    assert made.filter == LiveFilter(task_ids=frozenset([TASK_ID]))


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ({}, "op"),
        ({"op": "shout"}, "op"),
        ({"op": ["ping"]}, "op"),
        ({"op": "ping", "loud": True}, "loud"),
        ({"op": "hello"}, "version"),
        ({"op": "hello", "version": 2}, "version"),
        ({"op": "hello", "version": True}, "version"),
        ({"op": "hello", "version": 1.0}, "version"),
        ({"op": "subscribe", "topic": "tasks"}, "id"),
        ({"op": "subscribe", "topic": "tasks", "id": ""}, "id"),
        ({"op": "subscribe", "topic": "tasks", "id": "x" * 65}, "id"),
        ({"op": "subscribe", "topic": "tasks", "id": "s 1"}, "id"),
        ({"op": "subscribe", "topic": "tasks", "id": "\ud800"}, "id"),
        ({"op": "subscribe", "topic": "tasks", "id": 7}, "id"),
        ({"op": "subscribe", "id": "s1"}, "topic"),
        ({"op": "subscribe", "id": "s1", "topic": "runs"}, "topic"),
        ({"op": "subscribe", "id": "s1", "topic": "task"}, "task_id"),
        ({"op": "subscribe", "id": "s1", "topic": "task", "task_id": "x"}, "task_id"),
        ({**SUBSCRIBE, "task_id": TASK_ID}, "task_id"),
        ({"op": "subscribe", "id": "s3", "topic": "stats", "filter": {}}, "filter"),
        ({**SUBSCRIBE, "filter": []}, "filter"),
        ({**SUBSCRIBE, "filter": {"tags": "a"}}, "filter.tags"),
        ({**SUBSCRIBE, "filter": {"status": "LATE"}}, "filter.status"),
        ({**SUBSCRIBE, "filter": {"status": []}}, "filter.status"),
        ({**SUBSCRIBE, "filter": {"status": [["DEAD"]]}}, "filter.status"),
        ({**SUBSCRIBE, "filter": {"lane": "slow"}}, "filter.lane"),
        ({**SUBSCRIBE, "filter": {"namespace": "*"}}, "filter.namespace"),
        ({**SUBSCRIBE, "filter": {"handler": 1}}, "filter.handler"),
        ({**SUBSCRIBE, "filter": {"schedule_id": {"a": 1}}}, "filter.schedule_id"),
        ({**SUBSCRIBE, "filter": {"run_id": ["r"] * (FILTER_VALUES + 1)}}, "filter.run_id"),
        ({"op": "unsubscribe"}, "id"),
        ({"op": "unsubscribe", "id": "s1", "topic": "tasks"}, "topic"),
    ],
)
def test_message_that_is_not_valid_is_refused_with_its_field(message, field):
    assert [error.field for error in refusal(message).errors] == [field]


def test_refusal_has_the_id_of_the_subscription_if_that_is_valid():
    assert refusal({**SUBSCRIBE, "filter": {"lane": "slow"}}).id == "s1"
    assert refusal({**SUBSCRIBE, "op": "shout"}).id == "s1"
    assert refusal({**SUBSCRIBE, "id": "s 1"}).id is None


def test_server_without_a_topic_refuses_it_by_name():
    refused = refusal(
        {"op": "subscribe", "id": "s3", "topic": "stats"},
        topics=frozenset([Topic.TASK, Topic.TASKS]),
    )

    assert refused.errors == [("topic", "must be one of task, tasks")]


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "1", '"ping"', "null", '{"op": NaN}', "[" * 20_000, '{"op": 1' + "0" * 5_000],
)
def test_text_that_is_no_json_object_is_refused(text):
    assert [error.field for error in refusal(text).errors] == ["message"]


def test_binary_and_too_long_messages_are_refused():
    assert refusal(b'{"op": "ping"}').errors == [("message", "must be text, not binary")]
    assert refusal('{"op": "ping"}' + " " * FRAME_BYTES).errors[0].field == "message"


def test_refusal_repeats_only_the_beginning_of_a_long_field_name():
    [error] = refusal({"op": "ping", "x" * 5_000 + "\ud800": 1}).errors

    assert len(error.field) <= 100
    error.field.encode()


@given(json_values | st.dictionaries(st.sampled_from(["op", "id", "topic", "filter"]), json_values))
def test_any_json_is_read_or_refused(message):
    with suppress(BadMessage):
        read_message(json.dumps(message))


@given(
    st.dictionaries(
        st.sampled_from(["namespace", "status", "handler", "lane", "schedule_id", "run_id", "x"]),
        st.none() | st.sampled_from(["DEAD", "low", "shop"]) | st.lists(st.just("RUNNING")),
    )
)
def test_any_filter_is_read_as_it_is_written_or_refused(wanted):
    try:
        made = read(**SUBSCRIBE, filter=wanted).filter
    except BadMessage as error:
        refused = error
    else:
        refused = None
    if refused:
        assert refused.errors[0].field.startswith("filter.")
        return
    named = {
        "namespace": made.namespaces,
        "status": made.statuses,
        "handler": made.handlers,
        "lane": frozenset(map(str, made.lanes)),
        "schedule_id": made.schedule_ids,
        "run_id": made.run_ids,
    }
    for name, values in named.items():
        given_values = wanted.get(name) or []
        assert values == frozenset(
            [given_values] if isinstance(given_values, str) else given_values
        )
