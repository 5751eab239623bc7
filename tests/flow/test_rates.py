"""Tasks under a rate limit wait for their times, and start then, without using attempts."""

import pytest

from duetime.core.change import Unknown
from duetime.core.errors import RateLimited, Unavailable
from duetime.core.lifecycle import Outcome, Status
from duetime.core.limits.definition import Limit, LimitUse, OnFull, Rate
from duetime.core.limits.rate import RateKey
from duetime.core.limits.slots import Line
from duetime.core.retry import RetryPolicy
from duetime.core.steps.cancel import cancel
from duetime.core.task_json import task_json
from duetime.core.times import MINUTE, SECOND, Millis
from duetime.executor.runs import Run
from duetime.executor.targets import TargetFailed
from tests.limits import a_limit
from tests.world import World

STRIPE = (LimitUse(name="stripe"),)
KEY = RateKey(namespace="default", name="stripe")
STEP: Millis = 200  # between two times of five a second


@pytest.fixture
def limited(world: World) -> World:
    world.limits.put(a_limit(count=5))
    return world


def live(world: World, span: Millis, step: Millis = STEP) -> dict[str, Millis]:
    """Delivers at every step and ticks every minute; returns when each task started first."""
    started: dict[str, Millis] = {}
    for passed in range(0, span, step):
        if passed % MINUTE == 0:
            world.tick()
        for run in world.deliver():
            started.setdefault(run.task.id, world.clock.now())
        world.advance(step)
    return started


def most_in(moments: list[Millis], span: Millis) -> int:
    moments = sorted(moments)
    return max(sum(at <= m < at + span for m in moments[n:]) for n, at in enumerate(moments))


def submit(world: World, count: int, **fields: object) -> list[str]:
    return [world.submit(limits=STRIPE, **fields) for _ in range(count)]


def test_fifty_tasks_under_five_a_second_take_ten_seconds(limited: World):
    ids = submit(limited, 50)
    begin = limited.clock.now()
    started = live(limited, 11 * SECOND)

    assert started.keys() == set(ids)
    assert most_in(list(started.values()), SECOND) == 5
    assert 9 * SECOND <= max(started.values()) - begin <= 11 * SECOND
    assert all(limited.task(task_id).attempt == 1 for task_id in ids)


def test_waiting_tasks_are_sent_once_and_ask_once(limited: World):
    ids = submit(limited, 20)
    limited.lanes.sent.clear()
    asked: list[int] = []
    reserve = limited.rates.port.reserve
    limited.rates.port.reserve = lambda requests: (
        asked.append(sum(r.count for r in requests)) or reserve(requests)
    )
    live(limited, 5 * SECOND)

    assert sum(asked) == 20, "a granted task does not ask again"
    assert len(limited.lanes.sent) <= 19, "and waits in one message"
    assert all(limited.status(task_id) is Status.SUCCEEDED for task_id in ids)


def test_task_far_from_its_time_is_deferred_to_it(limited: World):
    limited.limits.put(a_limit(count=1, period=MINUTE))
    ids = submit(limited, 8)
    begin = limited.clock.now()
    limited.deliver()
    later = sorted((limited.task(i) for i in ids), key=lambda task: task.due_at)

    assert [t.due_at - begin for t in later][2:] == [n * MINUTE for n in range(2, 8)]
    assert [t.grant for t in later][2:] == [t.due_at for t in later][2:]
    assert [str(t.status) for t in later][2:] == ["ENQUEUED"] * 3 + ["PENDING"] * 3
    assert {t.attempt for t in later[1:]} == {0}
    waiting_for = [task_json(task)["waiting_for"] for task in later]
    assert waiting_for == [None] * 2 + [{"limit": "stripe", "key": None}] * 6
    started = live(limited, 8 * MINUTE, step=SECOND)
    moments = sorted(started.values())
    assert [at - begin for at in moments] == [n * MINUTE for n in range(1, 8)]
    assert all(limited.task(i).grant is None for i in ids)


def test_message_that_comes_early_waits_for_its_time(limited: World):
    """The delay of an SQS message ends one to two seconds early."""
    limited.limits.put(a_limit(count=1, period=5_500))
    submit(limited, 2)
    begin = limited.clock.now()
    started = live(limited, 7 * SECOND, step=100)

    assert max(started.values()) - begin == 5_500


def test_blocked_limit_holds_granted_tasks_back(limited: World):
    ids = submit(limited, 10)
    begin = limited.clock.now()
    limited.deliver()
    limited.rates.port.block(KEY, Rate(count=5, period=SECOND), begin + 30 * SECOND)
    started = live(limited, 34 * SECOND)

    assert len(started) == 9
    assert min(started.values()) >= begin + 30 * SECOND
    assert most_in(list(started.values()), SECOND) <= 5
    assert all(limited.task(task_id).attempt == 1 for task_id in ids)


def test_target_that_answers_429_slows_down_the_whole_limit(limited: World):
    def refuses_the_first(task, _ctx):
        if task.id == ids[0] and task.attempt == 1:
            raise TargetFailed("Http429", "slow down", retry_after=20 * SECOND)

    ids = submit(limited, 10)
    other = limited.submit(limits=(LimitUse(name="stripe", key="other"),))
    limited.script = refuses_the_first
    begin = limited.clock.now()
    started = live(limited, 25 * SECOND)

    at_once = {i for i, at in started.items() if at == begin}
    assert other in at_once, "another key is another limit"
    assert {i for i, at in started.items() if begin < at < begin + 20 * SECOND} == set()
    assert limited.task(ids[0]).attempt == 2
    assert started.keys() == {*ids, other}


def test_handler_that_raises_rate_limited_uses_no_attempt(limited: World):
    def refuses(task, _ctx):
        if task.attempt <= 2:
            raise RateLimited("stripe", 30)

    limited.script = refuses
    [first] = submit(limited, 1, retry=RetryPolicy(max_attempts=1))
    begin = limited.clock.now()
    limited.deliver()
    [second] = submit(limited, 1)
    limited.advance(SECOND)

    assert limited.deliver() == []
    limited.script = lambda task, ctx: None
    started = live(limited, 35 * SECOND)
    assert min(started.values()) >= begin + 30 * SECOND
    assert (limited.status(first), limited.status(second)) == (Status.SUCCEEDED,) * 2
    assert [a.outcome for a in limited.attempts(first)] == [Outcome.SNOOZED, Outcome.SUCCEEDED]


def test_rate_limited_of_a_limit_that_the_task_does_not_name_snoozes_it_alone(limited: World):
    def refuses(_task, _ctx):
        raise RateLimited("mail", 30)

    limited.script = refuses
    [task_id] = submit(limited, 1)
    limited.deliver()

    assert limited.attempts(task_id)[0].outcome is Outcome.SNOOZED
    assert limited.rates.states([KEY])[0].blocked_until == 0


def test_pause_of_a_target_is_capped_at_a_day(limited: World):
    def refuses(_task, _ctx):
        raise TargetFailed("Http429", "slow down", retry_after=1_000 * 24 * 3600 * SECOND)

    limited.script = refuses
    submit(limited, 1)
    limited.deliver()

    day = 24 * 3600 * SECOND
    assert limited.rates.states([KEY])[0].blocked_until == limited.clock.now() + day


def test_skipping_task_is_cancelled_when_its_time_is_not_now(limited: World):
    use = LimitUse(name="stripe", on_full=OnFull.SKIP)
    ids = [limited.submit(limits=(use,)) for _ in range(4)]
    limited.deliver()

    tasks = [limited.task(task_id) for task_id in ids]
    assert sorted(str(t.status) for t in tasks) == ["CANCELLED"] * 3 + ["SUCCEEDED"]
    assert {t.reason for t in tasks if t.status is Status.CANCELLED} == {"limit"}
    limited.advance(200)
    again = limited.submit(limits=(use,))
    limited.deliver()
    assert limited.status(again) is Status.SUCCEEDED, "skipped tasks took no time"


def test_task_that_comes_too_late_for_its_time_gets_another(limited: World):
    submit(limited, 12)
    limited.deliver()
    limited.advance(MINUTE)
    begin = limited.clock.now()
    started = live(limited, 3 * SECOND)

    assert len(started) == 11
    assert most_in(list(started.values()), SECOND) <= 5
    assert min(started.values()) == begin


def test_limit_that_does_not_exist_holds_no_one_back(world: World):
    ids = submit(world, 5)

    assert len(world.deliver()) == 5
    assert all(world.status(task_id) is Status.SUCCEEDED for task_id in ids)


def test_lost_answer_wastes_a_time_and_gives_none_too_many(limited: World):
    port = limited.rates.port
    reserve = port.reserve

    def unanswered(requests):
        reserve(requests)
        port.reserve = reserve
        return [Unknown("no answer")] * len(requests)

    ids = submit(limited, 3)
    port.reserve = unanswered
    begin = limited.clock.now()

    assert limited.deliver() == []
    started = live(limited, 10 * SECOND)
    assert started.keys() == set(ids)
    assert min(started.values()) >= begin + 600, "three times are wasted"
    assert most_in(list(started.values()), SECOND) <= 5


@pytest.mark.parametrize("verb", ["states", "reserve"])
def test_store_that_does_not_answer_starts_nothing(limited: World, verb: str):
    def unavailable():
        raise Unavailable("no answer")

    [first, second] = submit(limited, 2)
    if verb == "states":
        limited.deliver()
        limited.advance(200)
        limited.rates.before["states"] = unavailable
    else:
        limited.rates.port.reserve = lambda requests: [Unknown("no answer") for _ in requests]

    assert limited.deliver() == []
    if verb == "reserve":
        del limited.rates.port.reserve
    live(limited, 20 * SECOND)
    assert {limited.status(first), limited.status(second)} == {Status.SUCCEEDED}


def test_send_that_is_refused_leaves_the_task_to_the_scanner(limited: World):
    ids = submit(limited, 5)
    limited.lanes.fate = "refused"
    limited.deliver()
    limited.lanes.fate = "sent"
    started = live(limited, 2 * MINUTE)

    assert len(started) == 4
    assert all(limited.status(task_id) is Status.SUCCEEDED for task_id in ids)


def test_cancelled_task_does_not_wait(limited: World):
    ids = submit(limited, 3)
    begin = limited.clock.now()
    message = limited.receive()
    for one in message:
        limited.redeliver(one)
    limited.store.apply([cancel(limited.task(ids[2]), now=begin)])
    live(limited, 2 * SECOND)

    assert limited.status(ids[2]) is Status.CANCELLED
    assert limited.task(ids[2]).attempt == 0


def test_task_that_waits_for_its_rate_leaves_its_slot_to_others(limited: World):
    limited.limits.put(Limit(namespace="default", name="one", concurrency=1))
    limited.limits.put(a_limit(count=1, period=30 * SECOND))
    one = LimitUse(name="one")
    first = limited.submit(limits=(one, *STRIPE))
    limited.advance(1)
    second = limited.submit(limits=(one, *STRIPE))
    limited.advance(1)
    other = limited.submit(limits=(one,))
    begin = limited.clock.now()
    old = limited.task(second).token
    started = live(limited, SECOND)
    assert task_json(limited.task(second))["waiting_for"] == {"limit": "stripe", "key": None}
    started |= live(limited, 30 * SECOND)

    assert started[first] == begin
    assert started[other] <= begin + SECOND, "the slot is free while the second waits"
    assert begin + 30 * SECOND <= started[second] <= begin + 31 * SECOND
    assert limited.task(second).token != old, "a copy of its first message cannot start it"
    assert limited.task(second).attempt == 1
    assert task_json(limited.task(second))["waiting_for"] is None
    [line] = limited.slots.read([Line(namespace="default", limit="one", key="")])
    assert not line.slots


def test_task_without_limits_asks_nothing(limited: World):
    def forbidden(*_args):
        raise AssertionError("asked")

    limited.ports.limits.recent = forbidden  # type: ignore[union-attr]
    limited.rates.before |= dict.fromkeys(("reserve", "states"), forbidden)
    limited.submit()
    runs: list[Run] = limited.deliver()

    assert len(runs) == 1
