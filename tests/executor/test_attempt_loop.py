"""The attempt loop, step by step: tests advance the clock and end the runs."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from duetime.aws.clients import CONNECT_TIMEOUT, TABLE_READ_TIMEOUT
from duetime.core.change import Answer, Change, Unknown
from duetime.core.delivery import Message
from duetime.core.lanes import Lane, Queue
from duetime.core.lifecycle import Outcome, Status, Step
from duetime.core.ports import Ports
from duetime.core.retry import RetryPolicy
from duetime.core.steps.cancel import request_cancel
from duetime.core.steps.lease import HEARTBEAT, LENGTH, MAX_SILENCE, WATCH_AFTER
from duetime.core.steps.long_run import LONGEST_HIDDEN, lacks_dead_letter
from duetime.core.times import CLOCK_SKEW, DAY, HOUR, MINUTE, SECOND
from duetime.executor.attempt_loop import (
    LEASE_TRIES,
    STOP_GRACE,
    WRITE_RETRY_DELAY,
    AttemptLoop,
    StepResult,
)
from duetime.executor.executor import HELD_FOR, Executor
from duetime.executor.message_acks import FIRST_RETRY_DELAY, LONGEST_RETRY_DELAY
from duetime.executor.runs import Ended, Run
from duetime.executor.stale_messages import LEASE_OVER_AFTER
from tests.world import World

ONCE = RetryPolicy(max_attempts=1)


class Deaf:
    """A store that makes writes without an answer, `deaf_to` times per step."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.deaf_to: dict[Step, int] = {}
        self.makes_them = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def apply(self, changes: Sequence[Change]) -> list[Answer]:
        return [self._one(change) for change in changes]

    def _one(self, change: Change) -> Answer:
        left = self.deaf_to.get(change.step, 0)
        if not left:
            [answer] = self._store.apply([change])
            return answer
        self.deaf_to[change.step] = left - 1
        if self.makes_them:
            self._store.apply([change])
        return Unknown("no answer")


class Harness:
    """An attempt loop over a world. It lists the tasks whose handlers were interrupted."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.store = Deaf(world.store)
        ports = Ports(
            store=self.store,
            schedules=world.ports.schedules,
            limits=world.ports.limits,
            lanes=world.lanes,
            wake_policy=world.ports.wake_policy,
            clock=world.clock,
            chance=world.chance,
        )
        self.executor = Executor(ports, {"python": world._run})
        self.loop = AttemptLoop(self.executor, world.clock)
        self.interrupted: list[str] = []

    def begin(self, **fields: Any) -> Run:
        """Returns the run of a task that has just started."""
        task_id = self.world.submit(**fields)
        [run] = self.accept().started
        assert run.task.id == task_id
        return run

    def accept(self) -> StepResult:
        self.loop.accept(self.receive())
        return self.step()

    def receive(self) -> list[Message]:
        return self.world.lanes.receive(Queue(Lane.MEDIUM), 10, 0)

    def step(self, *ended: Ended) -> StepResult:
        result = self.loop.step(ended)
        for run in result.started:
            run.control.force_stop = self._interrupter(run)  # type: ignore[method-assign]
        return result

    def end(self, run: Run) -> StepResult:
        return self.step(self.executor.run_target(run))

    def after(self, ms: int) -> StepResult:
        self.world.advance(ms)
        self.loop.check_leases()
        return self.step()

    def _interrupter(self, run: Run) -> Callable[[], None]:
        def interrupt() -> None:
            run.control.force_stopped = True
            self.interrupted.append(run.task.id)

        return interrupt


@pytest.fixture
def harness(world: World) -> Harness:
    return Harness(world)


def fail(task: Any, ctx: Any) -> None:
    raise ConnectionError("no route")


# silence


def test_handler_without_heartbeats_is_asked_to_stop_and_interrupted_before_its_lease_ends(
    harness: Harness,
):
    run = harness.begin(timeout=300)
    harness.store.deaf_to[Step.RENEW] = 99
    harness.store.makes_them = False
    asked, interrupted = [], []
    for _ in range(8):
        harness.after(HEARTBEAT // 2)
        asked.append(run.context.cancelled)
        interrupted.append(bool(harness.interrupted))

    assert asked.index(True) == MAX_SILENCE // (HEARTBEAT // 2) - 1
    assert interrupted.index(True) == (MAX_SILENCE + STOP_GRACE) // (HEARTBEAT // 2) - 1
    assert run.task.lease_until is not None
    assert harness.world.clock.now() < run.task.lease_until


def test_lease_guard_stops_a_handler_without_a_step_of_the_loop(harness: Harness):
    """The loop thread may wait for an answer of the store all the while."""
    run = harness.begin(timeout=300)
    harness.world.advance(MAX_SILENCE + STOP_GRACE)
    harness.loop.check_leases()

    assert run.context.cancelled
    assert harness.interrupted == [run.task.id]


def test_handler_that_stops_after_missed_heartbeats_is_retried_not_cancelled(harness: Harness):
    def give_in(task: Any, ctx: Any) -> None:
        if ctx.cancelled:
            raise InterruptedError("asked to stop")

    harness.world.script = give_in
    run = harness.begin(timeout=300)
    harness.store.deaf_to[Step.RENEW] = 3
    harness.store.makes_them = False
    harness.after(MAX_SILENCE)
    harness.end(run)

    assert harness.world.status(run.task.id) is Status.RETRYING


def test_a_lost_lease_stops_the_handler_at_once(harness: Harness):
    run = harness.begin(timeout=300)
    harness.world.advance(LENGTH + CLOCK_SKEW + 1)
    harness.world.tick()
    harness.world.advance(2 * MINUTE)
    harness.world.tick()
    assert harness.world.status(run.task.id) is Status.RETRYING, "another took it for dead"

    harness.step()

    assert run.control.lease_lost
    assert harness.interrupted == [run.task.id]


def test_attempt_does_not_begin_when_its_lease_may_end_soon(harness: Harness):
    task_id = harness.world.submit()
    harness.loop.accept(harness.receive())
    apply = harness.store.apply

    def slow(changes: Sequence[Change]) -> list[Answer]:
        answers = apply(changes)
        harness.world.advance(MAX_SILENCE)
        return answers

    harness.store.apply = slow  # type: ignore[method-assign]
    result = harness.step()

    assert (result.started, result.not_started) == ([], 1)
    assert harness.world.status(task_id) is Status.RUNNING
    assert harness.loop.unfinished == 0
    harness.world.advance(FIRST_RETRY_DELAY)
    assert [m.delivery.task_id for m in harness.receive()] == [task_id], "it was handed back"


# the end of its time


def test_timeout_interrupts_the_handler_and_waits_for_it_for_the_grace_period(harness: Harness):
    run = harness.begin(timeout=5)
    harness.after(5 * SECOND)
    assert harness.interrupted == [run.task.id]
    assert harness.world.status(run.task.id) is Status.RUNNING

    harness.end(run)

    attempt = harness.world.task(run.task.id).current
    assert attempt is not None
    assert attempt.outcome is Outcome.TIMED_OUT, "whatever it returned, it was late"
    assert harness.world.status(run.task.id) is Status.RETRYING


def test_timeout_is_recorded_even_if_the_handler_does_not_return(harness: Harness):
    run = harness.begin(timeout=5)
    harness.after(5 * SECOND)
    harness.after(STOP_GRACE - 1)
    assert harness.loop.running == 1
    harness.after(1)
    assert harness.loop.running == 0
    assert harness.world.status(run.task.id) is Status.RETRYING

    before = harness.world.task(run.task.id)
    harness.end(run)
    assert harness.world.task(run.task.id) == before, "what it says later counts for nothing"


def test_failure_after_the_timeout_is_recorded_as_a_timeout(harness: Harness):
    """A target may have a timeout of its own, and fail before the loop has seen the end."""
    harness.world.script = fail
    run = harness.begin(timeout=5)
    harness.world.advance(5 * SECOND)
    harness.end(run)

    attempt = harness.world.task(run.task.id).current
    assert attempt is not None
    assert attempt.outcome is Outcome.TIMED_OUT


def test_success_that_returns_before_the_loop_sees_the_timeout_counts(harness: Harness):
    run = harness.begin(timeout=5)
    harness.world.advance(5 * SECOND)
    harness.end(run)

    assert harness.world.status(run.task.id) is Status.SUCCEEDED


# cancellation


def test_cancelled_task_is_recorded_at_the_next_heartbeat_and_its_handler_interrupted_later(
    harness: Harness,
):
    run = harness.begin(timeout=300)
    harness.world.store.apply([request_cancel(run.task.id, now=harness.world.clock.now())])
    harness.after(HEARTBEAT)
    assert harness.world.status(run.task.id) is Status.CANCELLED
    assert run.context.cancelled
    harness.after(STOP_GRACE - 1)
    assert harness.interrupted == []
    assert harness.loop.next_timer == harness.world.clock.now() + 1
    harness.after(1)
    assert harness.interrupted == [run.task.id]


def test_cancelled_handler_that_cannot_be_stopped_is_logged(
    harness: Harness, caplog: pytest.LogCaptureFixture
):
    """Its task has ended, so only the log says why the slot stays in use."""
    run = harness.begin(timeout=300)
    harness.world.store.apply([request_cancel(run.task.id, now=harness.world.clock.now())])
    harness.after(HEARTBEAT)
    harness.after(STOP_GRACE)
    assert caplog.messages == []
    harness.after(STOP_GRACE)

    assert caplog.messages == ["handler not stopped: it keeps its slot"]
    assert (caplog.records[0].task_id, caplog.records[0].attempt) == (run.task.id, 1)
    assert harness.loop.unfinished == 0


def test_handler_that_stops_when_asked_is_not_interrupted(harness: Harness):
    run = harness.begin(timeout=300)
    harness.world.store.apply([request_cancel(run.task.id, now=harness.world.clock.now())])
    harness.after(HEARTBEAT)
    harness.end(run)
    harness.after(STOP_GRACE)

    assert harness.interrupted == []


# a store that does not answer


@pytest.mark.parametrize("made", [True, False])
def test_lease_without_an_answer_is_repeated_unchanged(harness: Harness, made: bool):
    harness.store.makes_them = made
    harness.store.deaf_to[Step.LEASE] = 2
    task_id = harness.world.submit()
    assert harness.accept().started == []
    assert harness.after(WRITE_RETRY_DELAY).started == []
    [run] = harness.after(WRITE_RETRY_DELAY).started

    assert harness.world.task(task_id).holder == run.holder
    assert harness.world.task(task_id).attempt == 1
    harness.end(run)
    assert harness.world.status(task_id) is Status.SUCCEEDED


def test_message_is_handed_back_when_the_store_does_not_answer_its_lease(harness: Harness):
    harness.store.makes_them = False
    harness.store.deaf_to[Step.LEASE] = LEASE_TRIES
    task_id = harness.world.submit()
    harness.accept()
    results = [harness.after(WRITE_RETRY_DELAY) for _ in range(LEASE_TRIES - 1)]

    assert [result.not_started for result in results] == [0] * (LEASE_TRIES - 2) + [1]
    assert harness.loop.unfinished == 0
    harness.world.advance(FIRST_RETRY_DELAY)
    [run] = harness.accept().started
    assert run.task.id == task_id


def test_message_that_cannot_be_leased_is_hidden_for_longer_each_time(harness: Harness):
    """SQS counts the receives of a message, and makes a dead letter of it after some."""
    harness.world.submit()
    [message] = harness.receive()
    away = []
    harness.world.lanes.hand_back = lambda message, delay: away.append(delay)  # type: ignore[method-assign]
    for receives in range(1, 11):
        harness.executor.hand_back_with_backoff(replace(message, receives=receives))

    assert away[:4] == [
        FIRST_RETRY_DELAY,
        2 * FIRST_RETRY_DELAY,
        4 * FIRST_RETRY_DELAY,
        8 * FIRST_RETRY_DELAY,
    ]
    assert max(away) == LONGEST_RETRY_DELAY
    assert sum(away) > 20 * MINUTE


@pytest.mark.parametrize("made", [True, False])
def test_outcome_without_an_answer_is_repeated_unchanged(harness: Harness, made: bool):
    run = harness.begin()
    harness.store.makes_them = made
    harness.store.deaf_to[Step.SUCCEED] = 5
    harness.end(run)
    tries = 1
    while harness.loop.unfinished:
        assert harness.loop.next_timer is not None
        harness.world.advance_to(harness.loop.next_timer)
        harness.step()
        tries += 1
    assert tries == 6
    assert harness.world.clock.now() == run.control.renewed_at + (1 + 2 + 4 + 8 + 10) * SECOND

    assert harness.loop.unfinished == 0
    task = harness.world.task(run.task.id)
    assert (task.status, task.attempt, task.result) == (Status.SUCCEEDED, 1, '"done"')
    assert [m.delivery.task_id for m in harness.world.lanes.deleted] == [task.id]


def test_retry_whose_answer_was_lost_is_sent_when_the_repeated_write_is_answered(harness: Harness):
    harness.world.script = fail
    run = harness.begin(retry=RetryPolicy(base_delay=0, jitter=0))
    harness.store.deaf_to[Step.RETRY] = 1
    harness.end(run)
    sent = len(harness.world.lanes.sent)
    harness.after(WRITE_RETRY_DELAY)

    assert len(harness.world.lanes.sent) == sent + 1
    [again] = harness.accept().started
    assert (again.task.id, again.task.attempt) == (run.task.id, 2)


def test_outcome_is_abandoned_when_the_lease_has_ended(harness: Harness):
    run = harness.begin()
    harness.store.deaf_to = {Step.SUCCEED: 999, Step.RENEW: 999}
    harness.store.makes_them = False
    harness.end(run)
    for _ in range((LENGTH + WATCH_AFTER) // WRITE_RETRY_DELAY):
        harness.after(WRITE_RETRY_DELAY)

    assert harness.loop.unfinished == 0
    harness.store.deaf_to = {}
    harness.world.advance(LEASE_OVER_AFTER)
    harness.accept()
    assert harness.world.status(run.task.id) is Status.RETRYING
    assert [a.outcome for a in harness.world.attempts(run.task.id)] == [Outcome.LEASE_EXPIRED]


def test_outcome_that_the_store_does_not_accept_stops_no_other_handler(harness: Harness):
    """Each try takes up to the SDK's timeout, and the heartbeats of the other runs wait."""
    bad = harness.begin(timeout=300)
    healthy = harness.begin(timeout=300)
    real = harness.store.apply

    def slow(changes: Sequence[Change]) -> list[Answer]:
        if any(change.task_id == bad.task.id for change in changes):
            harness.world.advance(round(3 * (CONNECT_TIMEOUT + TABLE_READ_TIMEOUT) * SECOND))
            harness.loop.check_leases()
            harness.store.deaf_to[Step.SUCCEED] = 1
        return real(changes)

    harness.store.makes_them = False
    harness.store.apply = slow  # type: ignore[method-assign]
    harness.end(bad)
    while harness.loop.unfinished > 1:
        assert harness.loop.next_timer is not None
        harness.world.advance_to(harness.loop.next_timer)
        harness.loop.check_leases()
        harness.step()

    assert not healthy.context.cancelled
    assert harness.interrupted == []


# messages


def test_message_of_a_long_run_is_hidden_again_and_again(harness: Harness):
    run = harness.begin(timeout=600)
    for _ in range(17):
        harness.after(HEARTBEAT)
    assert harness.world.lanes.held == []
    harness.after(HEARTBEAT)
    assert harness.world.lanes.held == [run.message]
    for _ in range(18):
        harness.after(HEARTBEAT)
    assert harness.world.lanes.held == [run.message] * 2
    assert HELD_FOR > 18 * HEARTBEAT


def test_run_of_hours_keeps_its_lease_and_its_message(harness: Harness):
    """A scanner checks it every minute."""
    run = harness.begin(timeout=LONGEST_HIDDEN, retry=ONCE)
    for _ in range(3 * HOUR // MINUTE):
        for _ in range(MINUTE // HEARTBEAT):
            harness.after(HEARTBEAT)
        harness.world.tick()
    assert not run.context.cancelled
    assert set(harness.world.lanes.held) == {run.message}
    harness.end(run)

    task = harness.world.task(run.task.id)
    assert (task.status, task.attempt) == (Status.SUCCEEDED, 1)


def test_run_that_outlasts_its_message_has_none(harness: Harness):
    run = harness.begin(timeout=7 * DAY // SECOND, retry=ONCE)
    assert harness.world.lanes.deleted == [run.message]
    harness.world.lanes.send([run.message.delivery], harness.world.clock.now())
    [copy] = harness.receive()
    harness.loop.accept([copy])
    harness.step()
    assert harness.world.lanes.deleted == [run.message, copy]
    for _ in range(HOUR // HEARTBEAT):
        harness.after(HEARTBEAT)
    assert harness.world.lanes.held == []
    harness.end(run)

    assert harness.world.status(run.task.id) is Status.SUCCEEDED


def test_dead_letter_of_a_run_that_outlasts_its_message_is_sent_when_it_has_died(
    harness: Harness,
):
    harness.world.script = fail
    run = harness.begin(timeout=7 * DAY // SECOND, retry=ONCE)
    harness.end(run)

    task = harness.world.task(run.task.id)
    assert (task.status, task.wake) == (Status.DEAD, None)
    harness.accept()
    letter = harness.world.lanes.buried[-1]
    assert (letter.delivery.token, letter.delivery.written_at) == (task.token, task.sends)


def test_dead_letter_that_could_not_be_sent_is_sent_by_the_scanner(harness: Harness):
    harness.world.script = fail
    run = harness.begin(timeout=7 * DAY // SECOND, retry=ONCE)
    harness.world.lanes.fate = "refused"
    harness.end(run)
    harness.world.lanes.fate = "sent"
    assert harness.receive() == []
    harness.world.advance(6 * MINUTE)
    harness.world.tick()
    harness.accept()

    letter = harness.world.lanes.buried[-1]
    assert letter.delivery.written_at == harness.world.clock.now()
    assert harness.world.task(run.task.id).wake is None


def test_dead_letter_that_was_sent_late_is_no_redrive_and_is_replaced(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
):
    world = harness.world
    world.script = fail
    run = harness.begin(timeout=7 * DAY // SECOND, retry=ONCE)
    send = world.lanes.send

    def send_late(deliveries, now):
        world.advance(2 * MINUTE)
        return send(deliveries, now)

    with monkeypatch.context() as slow:
        slow.setattr(world.lanes, "send", send_late)
        harness.end(run)
    [letter] = harness.receive()
    late = replace(letter, sent_at=world.clock.now())
    assert late.redriven(world.task(run.task.id).updated_at)
    harness.loop.accept([late])
    harness.step()

    assert world.lanes.buried[-1:] == [late]
    assert world.status(run.task.id) is Status.DEAD
    assert lacks_dead_letter(world.task(run.task.id))

    world.advance(6 * MINUTE)
    world.tick()
    harness.accept()
    assert world.lanes.buried[-1].delivery.written_at > letter.delivery.written_at
    assert not lacks_dead_letter(world.task(run.task.id))


def test_a_second_copy_of_a_message_whose_attempt_runs_is_hidden_not_deleted(harness: Harness):
    run = harness.begin(timeout=30)
    harness.world.lanes.send([run.message.delivery], harness.world.clock.now())
    [copy] = harness.receive()
    harness.loop.accept([copy])
    assert harness.step().not_started == 1
    assert harness.world.lanes.deleted == []

    harness.end(run)
    harness.world.advance(30 * SECOND + LEASE_OVER_AFTER)
    harness.accept()
    assert copy.delivery in [m.delivery for m in harness.world.lanes.deleted]


def test_a_late_outcome_of_a_task_that_is_dead_leaves_the_dead_letter(harness: Harness):
    run = harness.begin(timeout=300, retry=ONCE)
    harness.world.advance(5 * MINUTE)
    harness.world.tick()
    assert harness.world.status(run.task.id) is Status.DEAD

    harness.end(run)

    assert harness.world.lanes.deleted == []
    assert harness.world.lanes.buried == [run.message]
