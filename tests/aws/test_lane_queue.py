import logging
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from typing import Any
from uuid import uuid4

import pytest
from botocore.exceptions import ClientError

from duetime.aws import lane_queue
from duetime.aws.event_records import message_of_record
from duetime.aws.lane_queue import SqsLaneQueue, delay_seconds
from duetime.aws.message_codec import body_of
from duetime.aws.provision import ensure_lanes
from duetime.core.delivery import Delivery, Limits, Message, delivery_of, new_token
from duetime.core.errors import Corrupt
from duetime.core.lanes import Lane, Queue
from duetime.core.limits.definition import LimitUse, OnFull
from duetime.core.ports import Depth
from duetime.core.times import HOUR, MINUTE, SECOND
from tests.aws.stored import asked_of
from tests.factories import NOW, SteppedClock, a_sent_task, an_id
from tests.world import stepped_sqs


@pytest.fixture
def urls(sqs: Any) -> dict[Queue, str]:
    return ensure_lanes(sqs, prefix=f"duetime-{uuid4().hex[:8]}")


@pytest.fixture
def lanes(sqs: Any, urls: dict[Queue, str]) -> SqsLaneQueue:
    return SqsLaneQueue(sqs, urls)


def a_delivery(due_at: int = NOW) -> Delivery:
    return Delivery(
        task_id=an_id(),
        token=new_token(due_at, "nonce"),
        attempt=1,
        lane=Lane.MEDIUM,
        timeout=60.0,
        written_at=NOW,
    )


@pytest.mark.parametrize(
    ("due_in", "seconds"),
    [
        (-HOUR, 0),
        (0, 0),
        (1_999, 0),
        (2_000, 1),
        (60_999, 59),
        (901 * SECOND, 900),
        (HOUR, 900),
    ],
)
def test_a_message_comes_at_least_a_second_ahead(due_in: int, seconds: int):
    assert delay_seconds(NOW + due_in, NOW) == seconds


def test_an_entry_that_sqs_refuses_is_not_sent(
    lanes: SqsLaneQueue, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr(lane_queue, "MAX_DELAY", 100_000)  # SQS takes no more than 900
    deliveries = [a_delivery(NOW + (HOUR if n in (1, 11) else MINUTE)) for n in range(13)]

    sent = lanes.send(deliveries, NOW)

    assert sent == [n not in (1, 11) for n in range(13)]
    assert lanes.depth(Queue(Lane.MEDIUM)).delayed == 11
    assert [r.getMessage() for r in caplog.records].count("delivery refused") == 2


@pytest.mark.parametrize(
    ("group", "sent_as"),
    [
        ("acme:eu-1", "acme:eu-1"),
        ("g" * 128, "g" * 128),
        ("two words", sha256(b"two words").hexdigest()),
        ("übermut", sha256("übermut".encode()).hexdigest()),
        ("g" * 129, sha256(b"g" * 129).hexdigest()),
    ],
)
def test_message_carries_its_group_so_that_the_queue_is_fair(
    sqs: Any, urls: dict[Queue, str], lanes: SqsLaneQueue, group: str, sent_as: str
):
    assert lanes.send([replace(a_delivery(), group=group), a_delivery()], NOW) == [True, True]

    received = sqs.receive_message(
        QueueUrl=urls[Queue(Lane.MEDIUM)],
        MaxNumberOfMessages=10,
        MessageSystemAttributeNames=["MessageGroupId"],
    )["Messages"]
    groups = [m.get("Attributes", {}).get("MessageGroupId") for m in received]
    assert sorted(groups, key=str) == sorted([sent_as, None], key=str)


def test_a_lane_without_a_queue_is_our_own_mistake(sqs: Any):
    lost = SqsLaneQueue(
        sqs, {Queue(Lane.MEDIUM): "https://queue.amazonaws.com/123456789012/nowhere"}
    )

    with pytest.raises(ClientError, match=r"NonExistentQueue|QueueDoesNotExist"):
        lost.send([a_delivery()], NOW)


GOOD = body_of(a_delivery())


@pytest.mark.parametrize(
    "body",
    [
        "not json",
        "[]",
        "null",
        "{}",
        GOOD.replace("medium", "express"),
        GOOD.replace('"attempt":1', '"attempt":"first"'),
        GOOD.replace('"written_at":', '"written_at":"then","was":'),
        GOOD.replace(new_token(NOW, "nonce"), "no-time"),
    ],
)
def test_an_unreadable_message_is_skipped_and_left_to_the_redrive_policy(
    sqs: Any,
    urls: dict[Queue, str],
    lanes: SqsLaneQueue,
    body: str,
    caplog: pytest.LogCaptureFixture,
):
    sqs.send_message(QueueUrl=urls[Queue(Lane.MEDIUM)], MessageBody=body)
    delivery = a_delivery()
    lanes.send([delivery], NOW)

    with caplog.at_level(logging.WARNING):
        messages = lanes.receive(Queue(Lane.MEDIUM), 10, 0)

    assert [message.delivery for message in messages] == [delivery]
    [record] = caplog.records
    assert (record.message, bool(record.message_id)) == ("message skipped: unreadable", True)
    assert lanes.depth(Queue(Lane.MEDIUM)) == Depth(ready=0, delayed=0, in_flight=2)


def buried(lanes: SqsLaneQueue, clock: SteppedClock) -> dict[int, list[Message]]:
    """Returns what a lane hands out in two minutes, by the second, if every message is buried."""
    received: dict[int, list[Message]] = {}
    for second in range(120):
        while messages := lanes.receive(Queue(Lane.MEDIUM), 10, 0):
            received.setdefault(second, []).extend(messages)
            lanes.bury(messages)
        clock.advance(SECOND)
    return received


def test_a_buried_message_lands_in_the_dead_letter_queue(
    sqs: Any, urls: dict[Queue, str], lanes: SqsLaneQueue
):
    delivery, clock = a_delivery(), SteppedClock()
    with stepped_sqs(clock):
        lanes.send([delivery], NOW)
        received = [m for messages in buried(lanes, clock).values() for m in messages]
        letters = sqs.receive_message(QueueUrl=f"{urls[Queue(Lane.MEDIUM)]}-dlq")["Messages"]

    assert [message.receives for message in received] == list(range(1, 11))
    assert [letter["Body"] for letter in letters] == [body_of(delivery)]


def test_buried_messages_leave_their_lane_to_the_others_for_most_of_the_time(lanes: SqsLaneQueue):
    letters, clock = 50, SteppedClock()
    with stepped_sqs(clock):
        lanes.send([a_delivery() for _ in range(letters)], NOW)
        received = buried(lanes, clock)

    by_second = [len(received.get(second, ())) for second in range(120)]
    assert sum(by_second) == 10 * letters
    assert by_second[0] == letters, "none comes again in the second in which it was buried"
    assert sum(by_second[:5]) <= 3 * letters
    assert max(by_second[5:]) <= letters
    assert sum(by_second[30:]) >= 3 * letters, "they take a minute or so"


def test_the_way_to_the_dead_letter_queue_keeps_the_time_of_sending(
    sqs: Any, urls: dict[Queue, str], lanes: SqsLaneQueue
):
    """A redrive sends the message anew, with a new time, so it can be recognised."""
    lane, dead_letters = urls[Queue(Lane.MEDIUM)], f"{urls[Queue(Lane.MEDIUM)]}-dlq"
    clock = SteppedClock()
    with stepped_sqs(clock):
        lanes.send([a_delivery()], NOW)
        [first] = buried(lanes, clock)[0]
        [letter] = sqs.receive_message(
            QueueUrl=dead_letters, MessageSystemAttributeNames=["SentTimestamp"]
        )["Messages"]
        sqs.delete_message(QueueUrl=dead_letters, ReceiptHandle=letter["ReceiptHandle"])
        sqs.send_message(QueueUrl=lane, MessageBody=letter["Body"])
        [moved] = lanes.receive(Queue(Lane.MEDIUM), 1, 0)

    assert int(letter["Attributes"]["SentTimestamp"]) == first.sent_at
    assert moved.delivery == first.delivery
    assert moved.sent_at > first.sent_at


def test_handing_back_what_is_gone_changes_nothing(lanes: SqsLaneQueue):
    lanes.send([a_delivery()], NOW)
    messages = lanes.receive(Queue(Lane.MEDIUM), 1, 0)
    lanes.delete(messages)

    lanes.hand_back(messages[0], SECOND)
    lanes.bury(messages[:1])

    assert lanes.depth(Queue(Lane.MEDIUM)) == Depth(ready=0, delayed=0, in_flight=0)


def test_holding_what_is_gone_is_no_alarm(lanes: SqsLaneQueue, caplog: pytest.LogCaptureFixture):
    lanes.send([a_delivery() for _ in range(3)], NOW)
    messages = lanes.receive(Queue(Lane.MEDIUM), 3, 0)
    lanes.delete(messages[1:2])

    with caplog.at_level(logging.INFO, logger=lane_queue.__name__):
        lanes.hold(messages, MINUTE)

    [record] = caplog.records
    assert (record.levelname, record.message_id) == ("INFO", messages[1].message_id)


def test_a_message_that_sqs_does_not_hold_is_logged(
    lanes: SqsLaneQueue, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr(lane_queue, "MAX_VISIBILITY", 100_000)  # SQS takes no more than 43200
    lanes.send([a_delivery()], NOW)
    messages = lanes.receive(Queue(Lane.MEDIUM), 1, 0)

    lanes.hold(messages, 24 * HOUR)

    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_ten_messages_are_held_with_one_call(sqs: Any, lanes: SqsLaneQueue):
    lanes.send([a_delivery() for _ in range(12)], NOW)
    messages = [m for _ in range(2) for m in lanes.receive(Queue(Lane.MEDIUM), 10, 0)]

    with asked_of(sqs) as asked:
        lanes.hold(messages, MINUTE)

    assert (len(messages), asked) == (12, ["ChangeMessageVisibilityBatch"] * 2)


def test_a_message_is_handed_back_for_as_long_as_sqs_allows(
    lanes: SqsLaneQueue, caplog: pytest.LogCaptureFixture
):
    lanes.send([a_delivery()], NOW)
    [message] = lanes.receive(Queue(Lane.MEDIUM), 1, 0)

    with caplog.at_level(logging.INFO, logger=lane_queue.__name__):
        lanes.hand_back(message, 24 * HOUR)

    assert not caplog.records
    assert lanes.depth(Queue(Lane.MEDIUM)).in_flight == 1


@pytest.mark.parametrize("settle", ["delete", "hand_back", "hold", "bury"])
def test_a_message_in_another_lanes_queue_is_settled_there(
    sqs: Any, urls: dict[Queue, str], lanes: SqsLaneQueue, settle: str
):
    delivery = replace(a_delivery(), lane=Lane.LOW)
    settled: dict[str, Callable[[], None]] = {
        "delete": lambda: lanes.delete([message]),
        "hand_back": lambda: lanes.hand_back(message, 0),
        "hold": lambda: lanes.hold([message], 0),
        "bury": lambda: lanes.bury([replace(message, receives=10)]),
    }

    with stepped_sqs(SteppedClock()):
        sqs.send_message(QueueUrl=urls[Queue(Lane.HIGH)], MessageBody=body_of(delivery))
        [message] = lanes.receive(Queue(Lane.HIGH), 1, 0)
        settled[settle]()
        left = lanes.depth(Queue(Lane.HIGH))

    assert (left.ready, left.in_flight) == (0 if settle == "delete" else 1, 0)


def test_a_record_of_an_event_is_the_same_message():
    delivery = delivery_of(a_sent_task(), NOW)
    record = {
        "messageId": "19dd0b57-b21e-4ac1-bd88-01bbb068cb78",
        "receiptHandle": "AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a",
        "body": body_of(delivery),
        "attributes": {"ApproximateReceiveCount": "1", "SentTimestamp": "1545082649183"},
        "messageAttributes": {},
        "md5OfBody": "098f6bcd4621d373cade4e832627b4f6",
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:us-east-2:123456789012:duetime-medium",
        "awsRegion": "us-east-2",
    }

    url = "https://sqs.us-east-2.amazonaws.com/123456789012/duetime"
    queues = {Queue(lane): f"{url}-{lane}" for lane in Lane}
    message = message_of_record(record, queues)

    assert message == Message(
        delivery=message.delivery,
        receipt="AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a",
        message_id="19dd0b57-b21e-4ac1-bd88-01bbb068cb78",
        sent_at=1_545_082_649_183,
        source=Queue(Lane.MEDIUM),
    )
    moved = record | {"eventSourceARN": "arn:aws:sqs:us-east-2:123456789012:duetime-low"}
    assert message_of_record(moved, queues).queue == Queue(Lane.LOW)
    unknown = record | {"eventSourceARN": "arn:aws:sqs:us-east-2:123456789012:another"}
    assert message_of_record(unknown, queues).queue == message.delivery.queue
    assert body_of(message.delivery) == body_of(delivery)
    with pytest.raises(Corrupt, match="19dd0b57"):
        message_of_record(record | {"body": "?"})


@pytest.mark.parametrize(
    "limits",
    [
        Limits(namespace="shop", uses=(LimitUse(name="stripe", key="acct-7"),), grant=NOW + 5),
        Limits(namespace="shop", uses=(LimitUse(name="sync", on_full=OnFull.SKIP),)),
        Limits(namespace="shop", ordering_key="account 7"),
    ],
)
def test_a_message_says_which_limits_its_task_is_under(lanes: SqsLaneQueue, limits: Limits):
    delivery = replace(a_delivery(), limits=limits)
    lanes.send([delivery], NOW)

    [message] = lanes.receive(Queue(Lane.MEDIUM), 10, 0)

    assert message.delivery == delivery
