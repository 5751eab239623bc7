"""The books, turn by turn: time is stepped, and a run ends when a test says so."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from lambdas.aws.clients import CONNECT_TIMEOUT, TABLE_READ_TIMEOUT
from lambdas.core.change import Answer, Change, Unknown
from lambdas.core.delivery import Message
from lambdas.core.lanes import Lane
from lambdas.core.lease import GRACE, HEARTBEAT, LENGTH, SILENCE, WATCH_AFTER
from lambdas.core.lifecycle import Outcome, Status, Step
from lambdas.core.ports import Ports
from lambdas.core.retry import RetryPolicy
from lambdas.core.steps.cancel import request_cancel
from lambdas.core.times import DAY, HOUR, MINUTE, SECOND
from lambdas.executor.books import AGAIN, LEASE_TRIES, STOP_GRACE, Books, Turn
from lambdas.executor.executor import HELD_FOR, Executor
from lambdas.executor.messages import LATEST, SOON
from lambdas.executor.runs import Ended, Run
from lambdas.executor.settling import AFTER_LEASE
from tests.world import World

ONCE = RetryPolicy(max_attempts=1)


class Deaf:
    """A store that makes writes and does not say so, as often as it is told."""

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


class Desk:
    """Books over a world, with the interruptions written down."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.store = Deaf(world.store)
        ports = Ports(
            store=self.store,
            schedules=world.ports.schedules,
            lanes=world.lanes,
            rules=world.ports.rules,
            clock=world.clock,
            chance=world.chance,
        )
        self.executor = Executor(ports, {"python": world._run})
        self.books = Books(self.executor, world.clock)
        self.interrupted: list[str] = []

    def begin(self, **fields: Any) -> Run:
        """A task that is running since just now."""
        task_id = self.world.submit(**fields)
        [run] = self.take().begun
        assert run.task.id == task_id
        return run

    def take(self) -> Turn:
        self.books.take(self.receive())
        return self.turn()

    def receive(self) -> list[Message]:
        return self.world.lanes.receive(Lane.MEDIUM, 10, 0)

    def turn(self, *ended: Ended) -> Turn:
        turn = self.books.turn(ended)
        for run in turn.begun:
            run.context.interrupt = self._interrupter(run)  # type: ignore[method-assign]
        return turn

    def end(self, run: Run) -> Turn:
        return self.turn(self.executor.execute(run))

    def after(self, ms: int) -> Turn:
        self.world.advance(ms)
        self.books.guard()
        return self.turn()

    def _interrupter(self, run: Run) -> Callable[[], None]:
        def interrupt() -> None:
            run.context.interrupted = True
            self.interrupted.append(run.task.id)

        return interrupt


@pytest.fixture
def desk(world: World) -> Desk:
    return Desk(world)


def fail(task: Any, ctx: Any) -> None:
    raise ConnectionError("no route")


# silence


def test_a_handler_is_told_after_three_missed_heartbeats_and_stopped_before_the_lease_ends(
    desk: Desk,
):
    run = desk.begin(timeout=300)
    desk.store.deaf_to[Step.RENEW] = 99
    desk.store.makes_them = False
    told, made = [], []
    for _ in range(8):
        desk.after(HEARTBEAT // 2)
        told.append(run.context.cancelled)
        made.append(bool(desk.interrupted))

    assert told.index(True) == SILENCE // (HEARTBEAT // 2) - 1
    assert made.index(True) == (SILENCE + STOP_GRACE) // (HEARTBEAT // 2) - 1
    assert run.task.lease_until is not None
    assert desk.world.clock.now() < run.task.lease_until


def test_the_guard_needs_no_turn_of_the_books(desk: Desk):
    """The bookkeeper may be waiting for an answer all the while."""
    run = desk.begin(timeout=300)
    desk.world.advance(SILENCE + STOP_GRACE)
    desk.books.guard()

    assert run.context.cancelled
    assert desk.interrupted == [run.task.id]


def test_a_handler_that_stops_for_want_of_heartbeats_is_retried_not_cancelled(desk: Desk):
    def give_in(task: Any, ctx: Any) -> None:
        if ctx.cancelled:
            raise InterruptedError("told to stop")

    desk.world.script = give_in
    run = desk.begin(timeout=300)
    desk.store.deaf_to[Step.RENEW] = 3
    desk.store.makes_them = False
    desk.after(SILENCE)
    desk.end(run)

    assert desk.world.status(run.task.id) is Status.RETRYING


def test_a_lost_lease_stops_the_handler_at_once(desk: Desk):
    run = desk.begin(timeout=300)
    desk.world.advance(LENGTH + GRACE + 1)
    desk.world.tick()
    desk.world.advance(2 * MINUTE)
    desk.world.tick()
    assert desk.world.status(run.task.id) is Status.RETRYING, "another took it for dead"

    desk.turn()

    assert run.context.lease_lost
    assert desk.interrupted == [run.task.id]


def test_an_attempt_does_not_begin_when_its_lease_may_have_passed_on(desk: Desk):
    task_id = desk.world.submit()
    desk.books.take(desk.receive())
    apply = desk.store.apply

    def slow(changes: Sequence[Change]) -> list[Answer]:
        answers = apply(changes)
        desk.world.advance(SILENCE)
        return answers

    desk.store.apply = slow  # type: ignore[method-assign]
    turn = desk.turn()

    assert (turn.begun, turn.let_go) == ([], 1)
    assert desk.world.status(task_id) is Status.RUNNING
    assert desk.books.open == 0
    desk.world.advance(SOON)
    assert [m.delivery.task_id for m in desk.receive()] == [task_id], "it was handed back"


# the end of its time


def test_a_timeout_stops_the_handler_and_waits_a_moment_for_it(desk: Desk):
    run = desk.begin(timeout=5)
    desk.after(5 * SECOND)
    assert desk.interrupted == [run.task.id]
    assert desk.world.status(run.task.id) is Status.RUNNING

    desk.end(run)

    attempt = desk.world.task(run.task.id).current
    assert attempt is not None
    assert attempt.outcome is Outcome.TIMED_OUT, "whatever it returned, it was late"
    assert desk.world.status(run.task.id) is Status.RETRYING


def test_a_handler_that_does_not_come_back_is_settled_all_the_same(desk: Desk):
    run = desk.begin(timeout=5)
    desk.after(5 * SECOND)
    desk.after(STOP_GRACE - 1)
    assert desk.books.running == 1
    desk.after(1)
    assert desk.books.running == 0
    assert desk.world.status(run.task.id) is Status.RETRYING

    before = desk.world.task(run.task.id)
    desk.end(run)
    assert desk.world.task(run.task.id) == before, "what it says later counts for nothing"


def test_a_failure_of_its_own_after_its_time_is_a_timeout(desk: Desk):
    """A target may keep time by itself, and fail of it before anybody else has looked."""
    desk.world.script = fail
    run = desk.begin(timeout=5)
    desk.world.advance(5 * SECOND)
    desk.end(run)

    attempt = desk.world.task(run.task.id).current
    assert attempt is not None
    assert attempt.outcome is Outcome.TIMED_OUT


def test_a_success_that_came_before_anybody_looked_counts(desk: Desk):
    run = desk.begin(timeout=5)
    desk.world.advance(5 * SECOND)
    desk.end(run)

    assert desk.world.status(run.task.id) is Status.SUCCEEDED


# cancellation


def test_a_cancelled_task_is_settled_at_the_next_heartbeat_and_its_handler_stopped_later(
    desk: Desk,
):
    run = desk.begin(timeout=300)
    desk.world.store.apply([request_cancel(run.task.id, now=desk.world.clock.now())])
    desk.after(HEARTBEAT)
    assert desk.world.status(run.task.id) is Status.CANCELLED
    assert run.context.cancelled
    desk.after(STOP_GRACE - 1)
    assert desk.interrupted == []
    assert desk.books.next_timer == desk.world.clock.now() + 1
    desk.after(1)
    assert desk.interrupted == [run.task.id]


def test_a_cancelled_handler_that_cannot_be_stopped_is_told_of(
    desk: Desk, caplog: pytest.LogCaptureFixture
):
    """Its task has ended, so nobody else would say why the slot stays taken."""
    run = desk.begin(timeout=300)
    desk.world.store.apply([request_cancel(run.task.id, now=desk.world.clock.now())])
    desk.after(HEARTBEAT)
    desk.after(STOP_GRACE)
    assert caplog.messages == []
    desk.after(STOP_GRACE)

    assert caplog.messages == ["handler not stopped: it keeps its slot"]
    assert (caplog.records[0].task_id, caplog.records[0].attempt) == (run.task.id, 1)
    assert desk.books.open == 0


def test_a_handler_that_stops_when_told_is_not_interrupted(desk: Desk):
    run = desk.begin(timeout=300)
    desk.world.store.apply([request_cancel(run.task.id, now=desk.world.clock.now())])
    desk.after(HEARTBEAT)
    desk.end(run)
    desk.after(STOP_GRACE)

    assert desk.interrupted == []


# a store that does not answer


@pytest.mark.parametrize("made", [True, False])
def test_a_lease_that_is_not_answered_is_repeated_as_it_is(desk: Desk, made: bool):
    desk.store.makes_them = made
    desk.store.deaf_to[Step.LEASE] = 2
    task_id = desk.world.submit()
    assert desk.take().begun == []
    assert desk.after(AGAIN).begun == []
    [run] = desk.after(AGAIN).begun

    assert desk.world.task(task_id).holder == run.holder
    assert desk.world.task(task_id).attempt == 1
    desk.end(run)
    assert desk.world.status(task_id) is Status.SUCCEEDED


def test_a_store_that_stays_silent_gets_the_message_back(desk: Desk):
    desk.store.makes_them = False
    desk.store.deaf_to[Step.LEASE] = LEASE_TRIES
    task_id = desk.world.submit()
    desk.take()
    turns = [desk.after(AGAIN) for _ in range(LEASE_TRIES - 1)]

    assert [turn.let_go for turn in turns] == [0] * (LEASE_TRIES - 2) + [1]
    assert desk.books.open == 0
    desk.world.advance(SOON)
    [run] = desk.take().begun
    assert run.task.id == task_id


def test_a_message_that_comes_in_vain_stays_away_for_longer_each_time(desk: Desk):
    """SQS counts how often it was received, and then takes it for a dead letter."""
    desk.world.submit()
    [message] = desk.receive()
    away = []
    desk.world.lanes.hand_back = lambda message, delay: away.append(delay)  # type: ignore[method-assign]
    for receives in range(1, 11):
        desk.executor.give_back(replace(message, receives=receives))

    assert away[:4] == [SOON, 2 * SOON, 4 * SOON, 8 * SOON]
    assert max(away) == LATEST
    assert sum(away) > 20 * MINUTE


@pytest.mark.parametrize("made", [True, False])
def test_an_outcome_that_is_not_answered_is_repeated_as_it_is(desk: Desk, made: bool):
    run = desk.begin()
    desk.store.makes_them = made
    desk.store.deaf_to[Step.SUCCEED] = 5
    desk.end(run)
    tries = 1
    while desk.books.open:
        assert desk.books.next_timer is not None
        desk.world.advance_to(desk.books.next_timer)
        desk.turn()
        tries += 1
    assert tries == 6
    assert desk.world.clock.now() == run.context.renewed_at + (1 + 2 + 4 + 8 + 10) * SECOND

    assert desk.books.open == 0
    task = desk.world.task(run.task.id)
    assert (task.status, task.attempt, task.result) == (Status.SUCCEEDED, 1, '"done"')
    assert [m.delivery.task_id for m in desk.world.lanes.deleted] == [task.id]


def test_a_retry_whose_answer_was_lost_is_sent_once_it_is_known(desk: Desk):
    desk.world.script = fail
    run = desk.begin(retry=RetryPolicy(base_delay=0, jitter=0))
    desk.store.deaf_to[Step.RETRY] = 1
    desk.end(run)
    sent = len(desk.world.lanes.sent)
    desk.after(AGAIN)

    assert len(desk.world.lanes.sent) == sent + 1
    [again] = desk.take().begun
    assert (again.task.id, again.task.attempt) == (run.task.id, 2)


def test_an_outcome_is_given_up_when_the_lease_has_run_out(desk: Desk):
    run = desk.begin()
    desk.store.deaf_to = {Step.SUCCEED: 999, Step.RENEW: 999}
    desk.store.makes_them = False
    desk.end(run)
    for _ in range((LENGTH + WATCH_AFTER) // AGAIN):
        desk.after(AGAIN)

    assert desk.books.open == 0
    desk.store.deaf_to = {}
    desk.world.advance(AFTER_LEASE)
    desk.take()
    assert desk.world.status(run.task.id) is Status.RETRYING
    assert [a.outcome for a in desk.world.attempts(run.task.id)] == [Outcome.LEASE_EXPIRED]


def test_one_outcome_that_is_not_taken_stops_nobody_else(desk: Desk):
    """Each try takes as long as the SDK has patience, and all the others' heartbeats wait."""
    bad = desk.begin(timeout=300)
    healthy = desk.begin(timeout=300)
    real = desk.store.apply

    def slow(changes: Sequence[Change]) -> list[Answer]:
        if any(change.task_id == bad.task.id for change in changes):
            desk.world.advance(round(3 * (CONNECT_TIMEOUT + TABLE_READ_TIMEOUT) * SECOND))
            desk.books.guard()
            desk.store.deaf_to[Step.SUCCEED] = 1
        return real(changes)

    desk.store.makes_them = False
    desk.store.apply = slow  # type: ignore[method-assign]
    desk.end(bad)
    while desk.books.open > 1:
        assert desk.books.next_timer is not None
        desk.world.advance_to(desk.books.next_timer)
        desk.books.guard()
        desk.turn()

    assert not healthy.context.cancelled
    assert desk.interrupted == []


# messages


def test_the_message_of_a_long_run_is_kept_from_coming_again(desk: Desk):
    run = desk.begin(timeout=600)
    for _ in range(17):
        desk.after(HEARTBEAT)
    assert desk.world.lanes.held == []
    desk.after(HEARTBEAT)
    assert desk.world.lanes.held == [run.message]
    for _ in range(18):
        desk.after(HEARTBEAT)
    assert desk.world.lanes.held == [run.message] * 2
    assert HELD_FOR > 18 * HEARTBEAT


def test_run_of_hours_keeps_its_lease_and_its_message(desk: Desk):
    """With a scanner that looks at it every minute."""
    run = desk.begin(timeout=7 * DAY // SECOND, retry=ONCE)
    for _ in range(3 * HOUR // MINUTE):
        for _ in range(MINUTE // HEARTBEAT):
            desk.after(HEARTBEAT)
        desk.world.tick()
    assert not run.context.cancelled
    assert set(desk.world.lanes.held) == {run.message}
    desk.end(run)

    task = desk.world.task(run.task.id)
    assert (task.status, task.attempt) == (Status.SUCCEEDED, 1)


def test_a_second_copy_of_a_message_whose_attempt_runs_is_hidden_not_deleted(desk: Desk):
    run = desk.begin(timeout=30)
    desk.world.lanes.send([run.message.delivery], desk.world.clock.now())
    [copy] = desk.receive()
    desk.books.take([copy])
    assert desk.turn().let_go == 1
    assert desk.world.lanes.deleted == []

    desk.end(run)
    desk.world.advance(30 * SECOND + AFTER_LEASE)
    desk.take()
    assert copy.delivery in [m.delivery for m in desk.world.lanes.deleted]


def test_a_late_outcome_of_a_task_that_is_dead_leaves_the_dead_letter(desk: Desk):
    run = desk.begin(timeout=300, retry=ONCE)
    desk.world.advance(5 * MINUTE)
    desk.world.tick()
    assert desk.world.status(run.task.id) is Status.DEAD

    desk.end(run)

    assert desk.world.lanes.deleted == []
    assert desk.world.lanes.buried == [run.message]
