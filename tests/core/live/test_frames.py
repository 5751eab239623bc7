import json

import pytest

from duetime.core.live import frames
from duetime.core.live.messages import BadMessage, read_message
from duetime.core.live.tickets import hash_of, new_ticket
from duetime.core.task import Progress


def test_hello_says_how_long_the_connection_lasts():
    assert json.loads(frames.hello(0)) == {
        "type": "hello",
        "version": 1,
        "ping_every": 240,
        "closes_at": "1970-01-01T00:00:00.000Z",
        "limits": {"subscriptions": 20},
    }


def test_error_is_a_problem_that_names_the_field():
    with pytest.raises(BadMessage) as caught:
        read_message('{"op": "subscribe", "id": "s1", "topic": "runs"}')

    assert json.loads(frames.error(caught.value)) == {
        "type": "error",
        "id": "s1",
        "problem": {
            "type": "urn:duetime:problem:invalid",
            "title": "The message is not valid",
            "status": 422,
            "detail": "topic: must be one of stats, task, tasks",
            "errors": [{"field": "topic", "message": "must be one of stats, task, tasks"}],
        },
    }


def test_progress_has_a_bounded_message():
    sent = json.loads(frames.progress("s2", "t", Progress(fraction=0.4, message="p" * 5_000), 7))

    assert sent["progress"] == {"fraction": 0.4, "message": "p" * 1_000}
    assert (sent["type"], sent["id"], sent["task_id"]) == ("progress", "s2", "t")


def test_bye_reset_and_stats_have_their_fields():
    assert json.loads(frames.bye(frames.Bye.SHUTDOWN, 0.8)) == {
        "type": "bye",
        "reason": "shutdown",
        "retry_after": 0.8,
    }
    assert json.loads(frames.reset("s1")) == {"type": "reset", "id": "s1", "reason": "lagged"}
    assert json.loads(frames.stats("s3", 0, {"started": 6}))["started"] == 6
    assert json.loads(frames.PONG) == {"type": "pong"}
    assert json.loads(frames.too_many("s1", "on this connection", 20))["problem"]["status"] == 429


def test_ticket_is_valid_for_thirty_seconds_and_only_its_hash_is_kept():
    ticket = new_ticket("7f3a", 1_000, namespaces=frozenset(["shop"]))

    assert ticket.hash == hash_of("7f3a")
    assert "7f3a" not in repr(ticket).replace(ticket.hash, "")
    assert (ticket.valid(30_999), ticket.valid(31_000)) == (True, False)
