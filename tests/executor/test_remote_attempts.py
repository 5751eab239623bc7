"""The attempts of HTTP workers, as the runner leases, renews and ends them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from duetime.core.change import Unknown
from duetime.core.errors import Unavailable
from duetime.core.lanes import Lane, Queue
from duetime.core.lifecycle import Outcome, Status
from duetime.core.limits.definition import Limit, LimitUse
from duetime.core.retry import RetryPolicy
from duetime.core.shares import DEFAULT_WEIGHTS
from duetime.core.steps.cancel import request_cancel
from duetime.core.steps.lease import LENGTH, RETURN_TIME
from duetime.core.steps.record import INTERRUPTED, Failure
from duetime.core.task import Progress, TaskError
from duetime.core.times import CLOCK_SKEW, MINUTE, SECOND
from duetime.core.worker_calls import (
    ANSWER_LIMIT,
    ANSWERS_KEPT,
    Leased,
    LeaseRequest,
    Recorded,
    Renewal,
    Renewed,
    Report,
)
from duetime.core.workers import LIVE_FOR
from duetime.engine.refusal import Refusal
from duetime.executor.remote_attempts import RemoteAttempts
from tests.factories import SteppedClock
from tests.world import WAKE_POLICY, World, sqlite_world

HANDLER = "shop.restock"
POOL = "batch"
PYTHON = {"type": "python", "handler": HANDLER}
FAILED = Failure(outcome=Outcome.FAILED, error=TaskError(type="ValueError", message="no"))
CANCELLED = Failure(outcome=Outcome.CANCELLED, error=TaskError(type="Cancelled", message=""))


class Workers:
    """HTTP workers of the pool, in a stepped world."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.remote = RemoteAttempts(world.ports, world.lanes.port, DEFAULT_WEIGHTS)
        self._requests = 0

    def submit(self, handler: str = HANDLER, **fields: Any) -> str:
        target = {"type": "python", "handler": handler}
        return self.world.submit(**{"target": target, "pool": POOL, **fields})

    def wanted(self, worker: str = "w1", most: int = 1, **fields: Any) -> LeaseRequest:
        self._requests += 1
        given = {
            "pool": POOL,
            "lanes": tuple(Lane),
            "handlers": (HANDLER,),
            "wait": 0.0,
            "request": f"{self._requests}",
            "body_hash": "a",
        }
        return LeaseRequest(worker=worker, most=most, **(given | fields))

    def lease(self, worker: str = "w1", most: int = 1, **fields: Any) -> list[Leased]:
        return self.remote.lease(self.wanted(worker, most, **fields))

    def one(self, **fields: Any) -> Leased:
        """Submits a task and leases it."""
        self.submit(**fields)
        [leased] = self.lease()
        return leased

    def renew(self, leased: Leased, worker: str = "w1", **fields: Any) -> Renewed | Refusal:
        renewal = Renewal(task_id=leased.task.id, holder=leased.holder, **fields)
        [answer] = self.remote.renew(worker, [renewal])
        return answer

    def report(
        self, leased: Leased, failure: Failure | None = None, worker: str = "w1", **fields: Any
    ) -> Recorded | Refusal:
        report = Report(task_id=leased.task.id, holder=leased.holder, failure=failure, **fields)
        [answer] = self.remote.record(worker, [report])
        return answer

    def pass_time(self, span: int) -> None:
        """As the runner does: without a tick."""
        for _ in range(span // SECOND):
            self.world.advance(SECOND)
            self.remote.end_expired()


@pytest.fixture
def workers() -> Iterator[Workers]:
    with sqlite_world() as world:
        world.chance.luck = 0
        yield Workers(world)


def status_of(answer: Any) -> int:
    return answer.status if isinstance(answer, Refusal) else 200


def in_flight(workers: Workers) -> int:
    depths = [workers.world.lanes.port.depth(q) for q in workers.world.lanes.port._queues]
    return sum(depth.in_flight for depth in depths)


def test_worker_leases_runs_and_reports_a_task(workers: Workers):
    task_id = workers.submit(payload={"sku": 7})

    [leased] = workers.lease()

    assert (leased.task.id, leased.task.spec.payload, leased.task.attempt) == (
        task_id,
        {"sku": 7},
        1,
    )
    assert leased.holder.startswith("w:w1:")
    assert len(leased.holder) == len("w:w1:") + 32
    assert workers.world.status(task_id) is Status.RUNNING
    assert workers.report(leased, result="7") == Recorded(task_id=task_id, status="SUCCEEDED")
    assert workers.world.task(task_id).result == "7"
    assert in_flight(workers) == 0


def test_only_the_handlers_and_lanes_that_were_asked_for_are_leased(workers: Workers):
    others = [workers.submit("other.handler") for _ in range(3)]
    low = workers.submit(priority=Lane.LOW)
    mine = workers.submit()

    assert [each.task.id for each in workers.lease(most=10, lanes=(Lane.MEDIUM,))] == [mine]
    assert [each.task.id for each in workers.lease(most=10)] == [low]
    assert not workers.remote.has_work(workers.wanted())
    found = workers.lease("w2", most=10, handlers=("other.handler",))
    assert {each.task.id for each in found} == set(others)


def test_another_pool_and_no_pool_are_not_leased(workers: Workers):
    workers.submit(pool=None)
    workers.submit(pool="other")

    assert workers.lease(most=10) == []


def test_nothing_is_leased_before_it_is_due(workers: Workers):
    workers.submit(due_in=10 * SECOND)
    wanted = workers.wanted()

    assert not workers.remote.has_work(wanted)
    assert workers.remote.next_visible(wanted) == workers.world.clock.now() + 10 * SECOND
    workers.world.advance(10 * SECOND)
    assert workers.remote.has_work(wanted)
    assert len(workers.remote.lease(wanted)) == 1


def test_lanes_share_the_leases_by_their_weights(workers: Workers):
    for lane in Lane:
        for _ in range(100):
            workers.submit(priority=lane)

    found = [each.task.lane for _ in range(10) for each in workers.lease(most=10)]

    assert [found.count(lane) for lane in Lane] == [60, 30, 10]


def test_repeated_request_leases_nothing_new_and_returns_the_same(workers: Workers):
    for _ in range(3):
        workers.submit()
    wanted = workers.wanted(most=2)

    first, again = workers.remote.lease(wanted), workers.remote.lease(wanted)

    assert [each.holder for each in again] == [each.holder for each in first]
    workers.report(first[0])
    assert [each.holder for each in workers.remote.lease(wanted)] == [first[1].holder]
    workers.world.advance(ANSWERS_KEPT + 1)
    assert len(workers.remote.lease(wanted)) == 1  # it is another request now


def test_request_of_another_body_is_refused(workers: Workers):
    workers.submit()
    wanted = workers.wanted(request="same")
    workers.remote.lease(wanted)

    with pytest.raises(Refusal) as refused:
        workers.remote.lease(workers.wanted(request="same", body_hash="b"))

    assert refused.value.status == 409
    assert workers.remote.lease(workers.wanted("w2", request="same", body_hash="b")) == []


def test_renewal_extends_the_lease_and_carries_progress(workers: Workers):
    leased = workers.one()
    workers.world.advance(10 * SECOND)

    answer = workers.renew(leased, progress=Progress(fraction=0.5, message="half"))

    assert isinstance(answer, Renewed)
    assert answer.lease_until == workers.world.clock.now() + LENGTH
    task = workers.world.task(leased.task.id)
    assert task.progress == Progress(fraction=0.5, message="half")
    assert not answer.cancel_requested


def test_renewal_says_that_the_task_is_cancelled_and_its_outcome_ends_it(workers: Workers):
    leased = workers.one()
    assert status_of(workers.report(leased, CANCELLED)) == 422  # it has no cancel request
    now = workers.world.clock.now()
    workers.world.store.apply([request_cancel(leased.task.id, now=now)])

    answer = workers.renew(leased)

    assert isinstance(answer, Renewed)
    assert answer.cancel_requested
    assert workers.report(leased, CANCELLED) == Recorded(task_id=leased.task.id, status="CANCELLED")


@pytest.mark.parametrize(
    ("failure", "status", "attempts_left"),
    [
        (FAILED, "RETRYING", 4),
        (INTERRUPTED, "RETRYING", 5),
        (Failure(outcome=Outcome.SNOOZED, error=FAILED.error, delay=MINUTE), "RETRYING", 5),
        (Failure(outcome=Outcome.TIMED_OUT, error=FAILED.error), "RETRYING", 4),
        (Failure(outcome=Outcome.FAILED, error=FAILED.error, permanent=True), "DEAD", 4),
    ],
)
def test_runner_decides_what_follows_an_outcome(
    workers: Workers, failure: Failure, status: str, attempts_left: int
):
    leased = workers.one(retry=RetryPolicy(max_attempts=5))

    answer = workers.report(leased, failure)

    assert answer == Recorded(task_id=leased.task.id, status=status)
    task = workers.world.task(leased.task.id)
    assert task.budget - task.attempt == attempts_left
    assert task.current is not None
    assert task.current.outcome is failure.outcome
    assert in_flight(workers) == 0


def test_interrupted_task_is_leased_at_once_by_another_worker(workers: Workers):
    leased = workers.one()
    workers.report(leased, INTERRUPTED)

    [again] = workers.lease("w2")

    assert (again.task.id, again.task.attempt) == (leased.task.id, 2)


def test_same_outcome_is_answered_again_and_another_one_is_refused(workers: Workers):
    leased = workers.one()
    first = workers.report(leased, FAILED)

    assert workers.report(leased, FAILED) == first
    assert status_of(workers.report(leased)) == 409
    workers.world.advance(2 * SECOND)
    workers.world.tick()
    [again] = workers.lease("w2")
    assert workers.report(leased, FAILED) == first  # the next attempt runs, and goes on
    assert status_of(workers.report(leased)) == 409
    assert workers.world.task(leased.task.id).holder == again.holder


def test_outcome_in_one_call_twice_is_recorded_once(workers: Workers):
    leased = workers.one()
    report = Report(task_id=leased.task.id, holder=leased.holder, result="1")

    first, second = workers.remote.record("w1", [report, report])

    assert (status_of(first), status_of(second)) == (200, 409)


def test_items_of_a_call_do_not_affect_each_other(workers: Workers):
    for _ in range(2):
        workers.submit()
    one, other = workers.lease(most=2)
    workers.report(one)

    answers = workers.remote.renew(
        "w1", [Renewal(task_id=each.task.id, holder=each.holder) for each in (one, other)]
    )

    assert [status_of(answer) for answer in answers] == [409, 200]


@pytest.mark.parametrize("lie", ["worker", "holder", "task", "never_leased"])
def test_worker_that_lies_about_its_lease_changes_nothing(workers: Workers, lie: str):
    for _ in range(2):
        workers.submit()
    [mine], [theirs] = workers.lease("w1"), workers.lease("w2")
    unleased = workers.submit()
    before = [workers.world.task(i) for i in (mine.task.id, theirs.task.id, unleased)]
    task_id, holder = {
        "worker": (theirs.task.id, theirs.holder),  # it is the holder of w2
        "holder": (theirs.task.id, mine.holder),
        "task": (mine.task.id, theirs.holder),
        "never_leased": (unleased, mine.holder),
    }[lie]

    [renewed] = workers.remote.renew("w1", [Renewal(task_id=task_id, holder=holder)])
    [recorded] = workers.remote.record("w1", [Report(task_id=task_id, holder=holder)])
    parent = workers.remote.parent("w1", task_id, holder)

    assert [status_of(answer) for answer in (renewed, recorded, parent)] == [409, 409, 409]
    assert [workers.world.task(i) for i in (mine.task.id, theirs.task.id, unleased)] == before


def test_lease_of_a_dead_worker_ends_without_a_tick_and_is_leased_again(workers: Workers):
    leased = workers.one(retry=RetryPolicy(base_delay=0))

    workers.pass_time(LENGTH)
    assert workers.world.status(leased.task.id) is Status.RUNNING
    workers.pass_time(CLOCK_SKEW + 2 * SECOND)

    assert workers.world.attempts(leased.task.id)[0].outcome is Outcome.LEASE_EXPIRED
    [again] = workers.lease("w2")
    assert again.task.attempt == 2
    assert status_of(workers.renew(leased)) == 409
    assert status_of(workers.report(leased)) == 409
    assert workers.report(again, worker="w2") == Recorded(
        task_id=leased.task.id, status="SUCCEEDED"
    )
    assert in_flight(workers) == 0


def test_lease_that_is_renewed_does_not_end(workers: Workers):
    leased = workers.one()

    for _ in range(30):
        workers.pass_time(10 * SECOND)
        assert status_of(workers.renew(leased)) == 200

    assert workers.world.task(leased.task.id).attempt == 1


def test_outcome_after_the_lease_is_accepted_while_the_attempt_is_not_ended(workers: Workers):
    leased = workers.one()
    workers.world.advance(LENGTH + MINUTE)  # nobody has looked since

    assert status_of(workers.report(leased)) == 200


def test_task_is_dead_when_its_last_attempt_has_lost_its_worker(workers: Workers):
    leased = workers.one(retry=RetryPolicy(max_attempts=1))

    workers.pass_time(LENGTH + CLOCK_SKEW + 2 * SECOND)

    assert workers.world.status(leased.task.id) is Status.DEAD
    assert in_flight(workers) == 0


def test_slot_of_a_limit_is_freed_when_the_worker_has_reported(workers: Workers):
    workers.world.limits.put(Limit(namespace="default", name="gpu", concurrency=1))  # type: ignore[call-arg]
    use = (LimitUse(name="gpu"),)
    workers.submit(limits=use)
    waiting = workers.submit(limits=use)

    [leased] = workers.lease(most=10)
    workers.report(leased)
    [other] = workers.lease(most=10)

    assert other.task.id == waiting


def test_ordering_key_is_kept_across_workers(workers: Workers):
    first = workers.submit(ordering_key="k")
    workers.world.advance(1)
    second = workers.submit(ordering_key="k")

    [leased] = workers.lease(most=10)
    assert leased.task.id == first
    assert workers.lease("w2", most=10) == []
    workers.report(leased)
    assert [each.task.id for each in workers.lease("w2", most=10)] == [second]


def test_large_payloads_are_shared_out_among_several_answers(workers: Workers):
    text = "x" * (ANSWER_LIMIT // 4)
    ids = [workers.submit(payload=text) for _ in range(6)]

    first = workers.lease(most=6)
    second = workers.lease(most=6)

    assert (len(first), len(second)) == (3, 3)
    assert {each.task.id for each in (*first, *second)} == set(ids)
    assert all(t.budget - t.attempt == 4 for t in map(workers.world.task, ids))


def test_store_that_does_not_answer_is_a_503_and_the_outcome_is_kept(workers: Workers):
    leased = workers.one()
    workers.world.store.apply = lambda changes: [Unknown("disk full")] * len(changes)

    assert status_of(workers.report(leased)) == 503
    assert status_of(workers.renew(leased)) == 503
    del workers.world.store.apply
    assert status_of(workers.report(leased)) == 200


def test_workers_are_listed_with_what_they_run(workers: Workers):
    since = workers.world.clock.now()
    leased = workers.one()
    workers.lease("w2")

    first, second = workers.remote.list(since)

    assert (first.name, first.pool, first.handlers, first.backend) == (
        "w1",
        POOL,
        (HANDLER,),
        "http",
    )
    assert [tuple(one) for one in first.running] == [(leased.task.id, since)]
    assert second.running == ()
    assert workers.remote.running_by_queue() == {Queue(Lane.MEDIUM, POOL): 1}
    workers.world.advance(LIVE_FOR // 2)
    workers.remote.renew(
        "w1", [Renewal(task_id=leased.task.id, holder=leased.holder)], draining=True
    )
    workers.world.advance(LIVE_FOR // 2 + 1)
    [left] = workers.remote.list(workers.world.clock.now())
    assert (left.name, left.draining, left.since) == ("w1", True, since)


class Restarts:
    """A runner on a file, which can be restarted."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.clock = SteppedClock()

    def __call__(self) -> Any:
        return sqlite_world(self.path, self.clock)

    def recovered(self, world: World) -> Workers:
        store = world.store.port
        store.recover(WAKE_POLICY, self.clock.now())
        workers = Workers(world)
        workers.remote.adopt(store.held_by_workers())
        return workers


@pytest.fixture
def restarts(tmp_path: Path) -> Restarts:
    return Restarts(tmp_path / "duetime.db")


def leased_before(restarts: Restarts, **fields: Any) -> Leased:
    with restarts() as world:
        world.chance.luck = 0
        return Workers(world).one(**fields)


def test_restart_of_the_runner_leaves_the_lease_of_a_worker_alive(restarts: Restarts):
    leased = leased_before(restarts)
    restarts.clock.advance(20 * SECOND)

    with restarts() as world:
        workers = restarts.recovered(world)
        world.tick()
        assert world.status(leased.task.id) is Status.RUNNING
        [record] = workers.remote.list(restarts.clock.now()) or [None]
        assert record is None  # until it calls
        assert status_of(workers.renew(leased)) == 200
        for _ in range(12):
            workers.pass_time(10 * SECOND)
            world.tick()
            assert status_of(workers.renew(leased)) == 200
        assert workers.report(leased, result="1") == Recorded(
            task_id=leased.task.id, status="SUCCEEDED"
        )
        assert world.task(leased.task.id).attempt == 1


def test_worker_returns_with_its_outcome_after_its_lease_has_run_out(restarts: Restarts):
    leased = leased_before(restarts)
    restarts.clock.advance(5 * MINUTE)  # the runner was down

    with restarts() as world:
        workers = restarts.recovered(world)
        world.tick()
        workers.pass_time(RETURN_TIME - SECOND)
        assert status_of(workers.report(leased)) == 200


def test_worker_that_does_not_return_loses_its_task_without_a_tick(restarts: Restarts):
    leased = leased_before(restarts, retry=RetryPolicy(base_delay=0))
    restarts.clock.advance(5 * SECOND)

    with restarts() as world:
        workers = restarts.recovered(world)
        workers.pass_time(LENGTH - 6 * SECOND)
        assert world.status(leased.task.id) is Status.RUNNING
        workers.pass_time(CLOCK_SKEW + 4 * SECOND)
        assert world.attempts(leased.task.id)[0].outcome is Outcome.LEASE_EXPIRED
        assert [each.task.id for each in workers.lease("w2")] == [leased.task.id]


def test_tick_alone_ends_the_lease_of_a_worker_that_does_not_return(restarts: Restarts):
    leased = leased_before(restarts)

    with restarts() as world:
        restarts.recovered(world)
        world.advance(LENGTH + CLOCK_SKEW + SECOND)
        world.tick()
        assert world.attempts(leased.task.id)[0].outcome is Outcome.LEASE_EXPIRED


def test_repeated_outcome_is_recognised_after_a_restart(restarts: Restarts):
    with restarts() as world:
        workers = Workers(world)
        leased = workers.one()
        workers.report(leased)

    with restarts() as world:
        workers = restarts.recovered(world)
        assert status_of(workers.report(leased)) == 200
        assert status_of(workers.report(leased, FAILED)) == 409


def test_slot_and_ordering_key_of_a_worker_survive_a_restart(restarts: Restarts):
    leased = leased_before(restarts, ordering_key="k")
    restarts.clock.advance(SECOND)

    with restarts() as world:
        workers = restarts.recovered(world)
        second = workers.submit(ordering_key="k")
        assert workers.lease("w2", most=10) == []
        workers.report(leased)
        assert [each.task.id for each in workers.lease("w2", most=10)] == [second]


def test_store_that_cannot_be_read_refuses_nothing(workers: Workers):
    leased = workers.one()
    workers.remote._running.forget(leased.holder)  # as after a restart

    def unavailable(ids: Any) -> Any:
        raise Unavailable("busy")

    workers.world.store.get = unavailable
    with pytest.raises(Unavailable):
        workers.report(leased)
    del workers.world.store.get
    assert status_of(workers.report(leased)) == 200


def test_lease_that_has_run_out_ends_although_the_store_does_not_answer_once(workers: Workers):
    leased = workers.one(retry=RetryPolicy(max_attempts=1))
    workers.world.advance(LENGTH + CLOCK_SKEW + SECOND)
    workers.world.store.silent = True
    workers.remote.end_expired()
    assert workers.world.task(leased.task.id).status is Status.RUNNING

    workers.remote.end_expired()

    assert workers.world.task(leased.task.id).status is Status.DEAD
