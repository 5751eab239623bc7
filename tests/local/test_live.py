"""Live updates of the local runner, in the time of a stepped event loop."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from duetime.core.errors import Unavailable
from duetime.core.lifecycle import Outcome, Status
from duetime.core.live.limits import ALL_SUBSCRIPTIONS, CONNECTIONS, SUBSCRIPTIONS
from duetime.core.live.tickets import new_ticket
from duetime.core.task import Progress
from duetime.core.times import SECOND
from duetime.local import live_hub
from duetime.local.live import LiveUpdates
from duetime.local.live_connection import MAX_FRAMES, FrameResult
from tests.core.live.changes import TASK_ID, a_change
from tests.factories import a_running_task
from tests.local.live_clients import (
    HELLO,
    LANE,
    TASKS,
    Client,
    LoopClock,
    live_updates,
    numbered,
    task_ids,
)
from tests.local.stepped_loop import run

TASK = {"op": "subscribe", "id": "s2", "topic": "task", "task_id": TASK_ID}
STATS = {"op": "subscribe", "id": "s3", "topic": "stats"}


def now() -> float:
    return asyncio.get_running_loop().time()


def test_subscriber_gets_changes_of_the_last_hundred_milliseconds_in_one_frame():
    async def test() -> None:
        live = live_updates()
        client = Client(live)
        await client.subscribe()
        for number in range(3):
            live.hub.notify(numbered(number))
        live.hub.notify(numbered(0, after=Status.SUCCEEDED, at=2_000))
        began = now()
        frame = await client.next()

        assert (frame["type"], frame["id"]) == ("changes", "s1")
        assert [item["status"] for item in frame["items"]] == ["DEAD", "DEAD", "SUCCEEDED"]
        assert now() - began == pytest.approx(0.1)

    run(test())


def test_subscriber_gets_only_what_its_filter_wants():
    async def test() -> None:
        live = live_updates()
        client = Client(live)
        await client.subscribe({**TASKS, "filter": {"status": "DEAD"}}, TASK)
        other, mine = numbered(1, after=Status.RUNNING), numbered(2)
        for change in (other, mine, a_change(after=Status.RUNNING)):
            live.hub.notify(change)
        first, second = await client.next(), await client.next()

        assert (first["id"], task_ids(first)) == ("s1", [mine.task_id])
        assert (second["id"], task_ids(second)) == ("s2", [TASK_ID])

    run(test())


def test_unsubscribed_client_gets_nothing_more():
    async def test() -> None:
        live = live_updates()
        client = Client(live)
        await client.subscribe(TASKS, TASK)
        client.send({"op": "unsubscribe", "id": "s1"}, {"op": "unsubscribe", "id": "s2"})
        client.send({"op": "unsubscribe", "id": "s1"})
        refused = await client.next()
        live.hub.notify(a_change())
        client.send({"op": "ping"})

        assert refused["problem"]["errors"][0]["field"] == "id"
        assert await client.next() == {"type": "pong"}
        assert not live.hub._pending

    run(test())


def test_hub_without_subscribers_keeps_nothing():
    async def test() -> None:
        live = live_updates()
        client = Client(live)
        await client.subscribe(TASK)
        live.hub.notify(numbered(7))
        live.hub.progressed(a_running_task())
        await client.hang_up()
        live.hub.notify(a_change())

        assert (len(live.hub._pending), live.hub._progress, live.hub._by_task) == (0, {}, {})

    run(test())


def test_first_message_must_be_hello():
    async def test() -> None:
        client = Client(live_updates())
        client.send({"op": "ping"}, HELLO, {"op": "ping"})

        assert (await client.next())["problem"]["errors"][0]["field"] == "op"
        assert (await client.next())["type"] == "hello"
        assert (await client.next())["type"] == "pong"

    run(test())


def test_hostile_messages_get_an_error_and_the_connection_stays():
    async def test() -> None:
        live = live_updates()
        client = Client(live)
        await client.subscribe()
        client.send("", "{", "[]", "[" * 25_000, "x" * 40_000, '{"op":"shout"}')
        client.send({"op": "subscribe", "id": "s9", "topic": "everything"})
        client.send_bytes(b"\xff\x00")
        problems = [(await client.next())["problem"] for _ in range(8)]
        live.hub.notify(a_change())

        fields = [problem["errors"][0]["field"] for problem in problems]
        assert fields == ["message"] * 5 + ["op", "topic", "message"]
        assert task_ids(await client.next()) == [TASK_ID]

    run(test())


def test_subscription_above_the_limit_of_a_connection_is_refused():
    async def test() -> None:
        client = Client(live_updates())
        await client.subscribe(*({**TASKS, "id": f"s{n}"} for n in range(SUBSCRIPTIONS)))
        client.send({**TASKS, "id": "more"}, {**TASKS, "id": "s0"})
        above, again = await client.next(), await client.next()

        assert (above["id"], above["problem"]["status"]) == ("more", 429)
        assert again["problem"]["errors"] == [
            {"field": "id", "message": "is in use: unsubscribe first"}
        ]

    run(test())


def test_subscription_above_the_limit_of_all_is_refused():
    async def test() -> None:
        live = live_updates()
        for _ in range(ALL_SUBSCRIPTIONS // SUBSCRIPTIONS):
            await Client(live).subscribe(*({**TASKS, "id": f"s{n}"} for n in range(SUBSCRIPTIONS)))
        late = Client(live)
        late.send(HELLO, TASKS)
        await late.next()

        assert (await late.next())["problem"]["status"] == 429

    run(test())


def test_connection_above_the_limit_is_refused_until_another_ends():
    async def test() -> None:
        live = live_updates()
        clients = [Client(live) for _ in range(CONNECTIONS)]
        for client in clients:
            await client.subscribe()
        refused = Client(live)
        await refused.task
        await clients[0].hang_up()
        await Client(live).subscribe()

        assert (refused.refused, refused.frames) == (429, [])

    run(test())


def test_progress_is_pushed_to_the_subscribers_of_the_task():
    async def test() -> None:
        live = live_updates()
        client = Client(live)
        task = a_running_task()
        await client.subscribe({**TASK, "task_id": task.id})
        for fraction in (0.2, 0.4):
            live.hub.progressed(
                replace(task, progress=Progress(fraction=fraction, message="page 4"), updated_at=7)
            )

        assert await client.next() == {
            "type": "progress",
            "id": "s2",
            "task_id": task.id,
            "progress": {"fraction": 0.4, "message": "page 4"},
            "updated_at": "1970-01-01T00:00:00.007Z",
        }

    run(test())


def test_stats_come_every_five_seconds():
    async def test() -> None:
        live = live_updates()
        client = Client(live)
        await client.subscribe(STATS)
        first = await client.next()
        began = now()
        for drift in (1, 3, 90):
            live.hub.notify(numbered(drift, after=Status.RUNNING, drift_ms=drift))
        live.hub.notify(numbered(1, outcome=Outcome.FAILED))
        second = await client.next()

        assert (first["started"], first["drift_ms"]) == (0, {"p50": None, "p99": None})
        assert now() - began == pytest.approx(5)
        shown = {name: LANE[name] for name in ("lane", "depth", "running", "oldest_seconds")}
        assert {name: second[name] for name in second if name != "at"} == {
            "type": "stats",
            "id": "s3",
            "lanes": [shown],
            "started": 3,
            "failed": 1,
            "drift_ms": {"p50": 3, "p99": 90},
        }

    run(test())


def test_stats_count_changes_that_the_hub_does_not_keep():
    async def test() -> None:
        live = live_updates()
        client = Client(live)
        await client.subscribe(STATS)
        await client.next()
        live.hub.notify_all([numbered(n, after=Status.RUNNING, drift_ms=n) for n in (1, 3)])
        live.hub.notify(numbered(5, after=Status.RUNNING, drift_ms=5))
        kept = len(live.hub._pending)

        assert (kept, (await client.next())["started"]) == (0, 3)

    run(test())


def test_stats_that_cannot_be_read_are_left_out_and_not_kept(caplog: pytest.LogCaptureFixture):
    broken = True

    def lanes() -> list[dict[str, Any]]:
        if broken:
            raise Unavailable("the disk is full")
        return [LANE]

    async def test() -> None:
        nonlocal broken
        live = LiveUpdates(LoopClock(), lanes)
        client = Client(live)
        await client.subscribe(STATS)
        live.hub.notify(numbered(1, after=Status.RUNNING, drift_ms=1))
        await asyncio.sleep(6)
        assert live.hub._figures.take()["started"] == 0
        broken = False

        assert (await client.next())["started"] == 0

    run(test())
    assert {record.getMessage() for record in caplog.records} == {"lanes not read"}


def test_change_that_comes_while_the_server_closes_its_loop_does_not_fail():
    """A renewal reports progress here, and must not fail with the server."""
    hub = live_updates().hub
    hub._by_task[TASK_ID] = set()
    hub._loop = asyncio.new_event_loop()
    hub._loop.close()

    hub.progressed(replace(a_running_task(), id=TASK_ID))

    assert list(hub._progress) == [TASK_ID]


async def flood(live: Any, *, batches: int = 60) -> None:
    """Changes for three frames, every 100 ms."""
    for _ in range(batches):
        for number in range(250):
            live.hub.notify(numbered(number))
        await asyncio.sleep(0.1)


def test_subscription_with_too_many_changes_gets_one_reset_in_four_seconds():
    async def test() -> None:
        live = live_updates()
        client = Client(live)
        await client.subscribe()
        began = now()
        await flood(live)
        seconds = now() - began
        kinds = [frame["type"] for frame in client.frames[2:]]

        assert seconds == pytest.approx(6)
        assert kinds.count("reset") == 2
        # A burst of ten and ten a second, while it does not lag.
        assert kinds.count("changes") <= 10 + 10 * seconds
        live.hub.notify(numbered(1_000))
        await asyncio.sleep(4)
        assert [frame["type"] for frame in client.frames[2:]].count("reset") == 3
        assert client.frames[-1]["type"] == "reset"

    run(test())


def test_burst_gets_one_reset_a_second_after_the_first_change_that_is_not_sent():
    async def test() -> None:
        live = live_updates()
        client = Client(live)
        await client.subscribe()
        began = now()
        for _ in range(7):
            for number in range(1_100):
                live.hub.notify(numbered(number))
            await asyncio.sleep(0.1)
        kinds = [(await client.next())["type"]]
        took = now() - began
        await asyncio.sleep(10)

        assert (kinds, len(client.frames)) == (["reset"], 3)
        assert took == pytest.approx(1.1)

    run(test())


def test_items_that_fill_more_frames_than_allowed_become_a_reset():
    async def test() -> None:
        live = live_updates()
        client = Client(live)
        await client.subscribe()
        for number in range(500):  # five frames by their number, and some twenty by their size
            live.hub.notify(numbered(number, name="😀" * 256))

        assert (await client.next())["type"] == "reset"

    run(test())


def test_lagging_subscription_gets_changes_again_after_its_reset():
    async def test() -> None:
        live = live_updates()
        client = Client(live)
        await client.subscribe()
        await flood(live, batches=10)
        await asyncio.sleep(6)
        live.hub.notify(numbered(1_000))
        await asyncio.sleep(1)

        kinds = [frame["type"] for frame in client.frames]
        assert "reset" in kinds
        assert task_ids(client.frames[-1]) == [numbered(1_000).task_id]

    run(test())


def test_hub_keeps_no_changes_for_a_subscription_that_lags():
    """Whatever they are, its client reads them after the reset."""

    async def test() -> None:
        live = live_updates()
        client = Client(live)
        await client.subscribe()
        await flood(live, batches=10)
        live.hub.notify(numbered(1_000))
        kept = len(live.hub._pending)
        keeping = Client(live)
        await keeping.subscribe()
        live.hub.notify(numbered(1_001))
        frame = await keeping.next()
        await asyncio.sleep(6)

        assert kept == 0
        assert task_ids(frame) == [numbered(1_001).task_id]
        assert [frame["type"] for frame in client.frames[-2:]] == ["changes", "reset"]

    run(test())


def test_lagging_subscription_that_ends_gets_nothing_more():
    async def test() -> None:
        live = live_updates()
        client = Client(live)
        await client.subscribe()
        await flood(live, batches=10)
        client.send({"op": "unsubscribe", "id": "s1"})
        await asyncio.sleep(6)
        seen = len(client.frames)
        live.hub.notify(numbered(1_000))
        await asyncio.sleep(6)

        assert len(client.frames) == seen
        assert not live.hub._pending

    run(test())


def test_subscription_of_a_task_does_not_lag_behind_a_busy_runner():
    async def test() -> None:
        live = live_updates()
        client = Client(live)
        await client.subscribe(TASK)
        await flood(live, batches=20)
        live.hub.notify(a_change())
        await asyncio.sleep(1)

        assert [frame["type"] for frame in client.frames] == ["hello", "subscribed", "changes"]

    run(test())


def test_changes_that_the_event_loop_cannot_take_become_a_reset(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(live_hub, "MAX_PENDING", 10)

    async def test() -> None:
        live = live_updates()
        client = Client(live)
        await client.subscribe(TASKS, TASK)
        for number in range(11):
            live.hub.notify(numbered(number))

        resets = [await client.next(), await client.next()]
        assert {(frame["type"], frame["id"]) for frame in resets} == {
            ("reset", "s1"),
            ("reset", "s2"),
        }

    run(test())


def test_slow_client_gets_a_reset_and_then_1013():
    """The client stops reading. What waits for it is bounded, and the hub never waits for it."""

    async def test() -> None:
        live = live_updates()
        slow, quick = Client(live), Client(live)
        await slow.subscribe(*({**TASKS, "id": f"s{n}"} for n in range(SUBSCRIPTIONS)))
        await quick.subscribe()
        slow.reads.clear()
        began = now()
        waiting = []
        while not slow.task.done():
            live.hub.notify(numbered(round(now() * SECOND)))
            [*connections] = live.hub._connections
            waiting.append(max(len(c._outgoing._frames) for c in connections))
            await asyncio.sleep(0.1)
        closed_after = now() - began

        assert MAX_FRAMES / 2 < max(waiting) <= MAX_FRAMES
        assert 10 <= closed_after < 12
        assert len([f for f in quick.frames if f["type"] == "changes"]) >= 100
        assert all(frame["type"] != "reset" for frame in quick.frames)

    run(test())


def test_client_that_reads_again_gets_one_reset_for_each_of_its_subscriptions():
    async def test() -> None:
        live = live_updates()
        client = Client(live)
        await client.subscribe(*({**TASKS, "id": f"s{n}"} for n in range(SUBSCRIPTIONS)))
        seen = len(client.frames)
        client.reads.clear()
        for number in range(80):  # 1,600 frames
            live.hub.notify(numbered(number))
            await asyncio.sleep(0.1)
        client.reads.set()
        await asyncio.sleep(6)
        frames = client.frames[seen:]

        assert len(frames) <= MAX_FRAMES + SUBSCRIPTIONS
        resets = [frame["id"] for frame in frames if frame["type"] == "reset"]
        assert {*resets} == {f"s{n}" for n in range(SUBSCRIPTIONS)}
        assert client.code is None

    run(test())


def test_client_that_asks_without_reading_is_sent_away():
    async def test() -> None:
        client = Client(live_updates())
        await client.subscribe()
        client.reads.clear()
        client.send(*([{"op": "ping"}] * 1_000))
        await client.task

        assert len(client.frames) == 2

    run(test())


def test_client_that_reads_late_learns_that_it_was_too_slow():
    async def test() -> None:
        client = Client(live_updates())
        await client.subscribe()
        client.reads.clear()
        client.send({"op": "ping"})
        await asyncio.sleep(10.5)  # the server waits for a second more
        client.reads.set()
        await client.task

        assert client.code == 1013

    run(test())


def test_connection_ends_after_two_hours():
    async def test() -> None:
        client = Client(live_updates())
        await client.subscribe()
        await client.task

        assert now() == pytest.approx(7_200)
        assert client.frames[-1]["type"] == "bye"
        assert (client.frames[-1]["reason"], client.code) == ("expiring", 1001)

    run(test())


def test_server_that_stops_says_goodbye_to_every_client():
    async def test() -> None:
        live = live_updates()
        quick, slow = Client(live), Client(live)
        await quick.subscribe()
        await slow.subscribe()
        slow.reads.clear()
        await live.hub.end()
        late = Client(live)
        await late.task

        bye = quick.frames[-1]
        assert (bye["type"], bye["reason"], quick.code) == ("bye", "shutdown", 1012)
        assert 0.5 <= bye["retry_after"] <= 2
        assert now() <= 1
        assert late.refused == 429
        live.hub.notify(a_change())  # the relay goes on while the runner drains
        slow.reads.set()
        await slow.task

    run(test())


def test_ticket_opens_one_connection_within_its_time():
    async def test() -> None:
        live = live_updates(ticket_required=True)
        for text in ("first", "old"):
            live.access.tickets.add(new_ticket(text, LoopClock().now()), LoopClock().now())
        opened = Client(live, "ticket=first")
        await opened.subscribe()
        used = Client(live, "ticket=first")
        await used.task
        await asyncio.sleep(30)
        old, none = Client(live, "ticket=old"), Client(live)
        await old.task
        await none.task

        assert [used.refused, old.refused, none.refused] == [403, 403, 401]

    run(test())


def test_foreign_page_needs_a_ticket():
    """Beyond loopback the server cannot know its own names, so it compares Origin and Host."""

    async def test() -> None:
        live = live_updates()
        foreign = {"host": "ada.lan:8080", "origin": "https://evil.example"}
        refused = Client(live, **foreign)
        await refused.task
        own = Client(live, host="ada.lan:8080", origin="http://ada.lan:8080")
        await own.subscribe()
        live.access.tickets.add(new_ticket("t1", LoopClock().now()), LoopClock().now())
        invited = Client(live, "ticket=t1", **foreign)
        await invited.subscribe()

        assert refused.refused == 403

    run(test())


def test_ticket_is_not_needed_without_a_token_but_a_wrong_one_is_refused():
    async def test() -> None:
        live = live_updates()
        wrong = Client(live, "ticket=wrong")
        await wrong.task
        await Client(live).subscribe()

        assert wrong.refused == 403

    run(test())


def test_client_gets_only_the_namespaces_of_its_ticket():
    async def test() -> None:
        live = live_updates()
        ticket = new_ticket("t", 0, namespaces=frozenset(["shop"]))
        live.access.tickets.add(ticket, 0)
        client = Client(live, "ticket=t")
        task = a_running_task()
        await client.subscribe(TASKS, {**TASK, "task_id": task.id})
        live.hub.progressed(replace(task, progress=Progress(fraction=0.5)))
        live.hub.notify(numbered(1, namespace="growth"))
        live.hub.notify(numbered(2, namespace="shop"))
        frame = await client.next()
        await asyncio.sleep(1)

        assert task_ids(frame) == [numbered(2).task_id]
        assert len(client.frames) == 4

    run(test())


def test_frames_are_counted_by_what_became_of_them():
    async def test() -> None:
        hub = live_updates().hub
        slow, gone = hub.connect(None), hub.connect(None)
        assert slow
        assert gone
        for _ in range(MAX_FRAMES + 1):  # the last one does not fit, and all are dropped
            slow.push("{}")
        slow.push("{}")
        assert await slow.next() == "{}"
        gone.push("{}")
        gone.push("{}")
        hub.disconnect(gone)

        assert hub.connections == 1
        assert hub.frames == {
            FrameResult.SENT: 1,
            FrameResult.DROPPED: MAX_FRAMES + 1,
            FrameResult.GONE: 2,
        }
        hub.disconnect(slow)

    run(test())
