"""Every step of a task: a task, and the change that the step makes of it."""

from dataclasses import replace
from typing import Any

from duetime.core.change import Change
from duetime.core.codec import to_json
from duetime.core.delivery import delivery_of
from duetime.core.lanes import Lane
from duetime.core.lifecycle import Outcome, Status
from duetime.core.limits.definition import LimitUse
from duetime.core.occurrence import Occurrence
from duetime.core.retry import RetryPolicy
from duetime.core.shifts import mark_of, shifted
from duetime.core.steps.cancel import cancel, cancel_seen, cancel_unstarted, expire, request_cancel
from duetime.core.steps.claim import claim, release, set_aside
from duetime.core.steps.defer import Deferral, defer
from duetime.core.steps.discard import discard
from duetime.core.steps.follow_up import follow_up_done
from duetime.core.steps.hold import hold
from duetime.core.steps.lease import lease, renew
from duetime.core.steps.record import INTERRUPTED, Failure, fail, lease_expired, succeed
from duetime.core.steps.revive import revive
from duetime.core.steps.revoke import revoke
from duetime.core.steps.supersede import supersede
from duetime.core.steps.suspend import (
    expire_wait,
    resume_with_cancellation,
    resume_with_failure,
    resume_with_success,
    suspend,
    watch_again,
)
from duetime.core.steps.watch import check_held, check_wake
from duetime.core.suspension import Suspension, WaitsFor
from duetime.core.task import ORDERING_KEY, Progress, Promotion, Task, TaskError
from duetime.core.times import HOUR, MINUTE, SECOND
from tests.factories import (
    NOW,
    WAKE_POLICY,
    a_draw,
    a_running_task,
    a_sent_task,
    a_spec,
    a_task,
    an_id,
)

LONG = {"rows": "é" * 100_000}
FAILED = Failure(outcome=Outcome.FAILED, error=TaskError(type="ValueError", message="nein — 不行"))
LATER = NOW + HOUR


def a_retrying_task() -> Task:
    task = a_running_task()
    return fail(WAKE_POLICY, task, FAILED, now=NOW + 20 * SECOND, draw=a_draw()).applied_to(task)


def a_failing_task(max_attempts: int = 3) -> Task:
    return a_running_task(
        spec=a_spec(run_at=NOW, retry=RetryPolicy(max_attempts=max_attempts, base_delay=600)),
    )


def an_owing_task() -> Task:
    occurrence = Occurrence(schedule_id=an_id(), scheduled_for=NOW, version=1, has_follow_up=True)
    return a_sent_task(spec=a_spec(run_at=NOW, occurrence=occurrence))


def looked_at(task: Task, now: int, *, backed_up: bool = False) -> Change:
    verdict = check_wake(WAKE_POLICY, task, now=now, draw=a_draw(), backed_up=backed_up)
    assert verdict is not None
    return verdict.change


Made = tuple[Task, Change]


def claimed() -> Made:
    task = a_task()
    return task, claim(WAKE_POLICY, task.wake, now=NOW, draw=a_draw())


def claimed_for_retry() -> Made:
    failing = a_failing_task()
    task = fail(WAKE_POLICY, failing, FAILED, now=NOW, draw=a_draw()).applied_to(failing)
    return task, claim(WAKE_POLICY, task.wake, now=NOW, draw=a_draw(), before=Status.RETRYING)


def released() -> Made:
    task = a_sent_task()
    return task, release(WAKE_POLICY, delivery_of(task, NOW), now=NOW)


def put_aside() -> Made:
    task = a_task()
    return task, set_aside(WAKE_POLICY, task.wake, now=LATER)


def leased() -> Made:
    task = a_sent_task()
    return task, lease(delivery_of(task, NOW), now=NOW + 10 * SECOND, holder="me")


def leased_by_a_later_sending() -> Made:
    task = a_sent_task(sends=1)
    return task, lease(delivery_of(task, NOW + SECOND), now=LATER, holder="me")


def leased_before_the_claim_was_known() -> Made:
    task = a_sent_task(status=Status.PENDING)
    return task, lease(delivery_of(task, NOW), now=NOW + 10 * SECOND, holder="me")


def leased_again() -> Made:
    task = a_retrying_task()
    return task, lease(delivery_of(task, NOW), now=NOW + 30 * SECOND, holder="me")


def leased_with_long_payload() -> Made:
    task = a_sent_task(spec=a_spec(run_at=NOW + SECOND, payload=LONG))
    return task, lease(delivery_of(task, NOW), now=NOW + SECOND, holder="me")


def renewed() -> Made:
    task = a_running_task()
    return task, renew(task, now=NOW + 20 * SECOND)


def renewed_with_progress() -> Made:
    task = a_running_task()
    progress = Progress(fraction=0.5, message="half")
    return task, renew(task, now=NOW + 20 * SECOND, progress=progress)


def succeeded() -> Made:
    task = a_running_task()
    return task, succeed(task, result='{"sent":3}', now=NOW + 20 * SECOND)


def succeeded_with_nothing() -> Made:
    task = a_running_task()
    return task, succeed(task, result=None, now=NOW + 20 * SECOND)


def succeeded_with_long_result() -> Made:
    task = a_running_task(spec=a_spec(run_at=NOW, payload=LONG))
    return task, succeed(task, result=to_json(LONG), now=NOW + 20 * SECOND)


def failed_for_now() -> Made:
    task = a_running_task()
    return task, fail(WAKE_POLICY, task, FAILED, now=NOW + 20 * SECOND, draw=a_draw())


def failed_until_later() -> Made:
    task = a_failing_task()
    return task, fail(WAKE_POLICY, task, FAILED, now=NOW + 20 * SECOND, draw=a_draw())


def failed_at_length() -> Made:
    task = a_running_task()
    error = TaskError(type="Traceback", message="line\n" * 10_000)
    failure = replace(FAILED, error=error)
    return task, fail(WAKE_POLICY, task, failure, now=NOW + 20 * SECOND, draw=a_draw())


def buried() -> Made:
    task = a_failing_task(max_attempts=1)
    return task, fail(WAKE_POLICY, task, FAILED, now=NOW + 20 * SECOND, draw=a_draw())


def failed_with_a_short_traceback() -> Made:
    return failed_with("File 'a.py'")


def failed_with_a_long_traceback() -> Made:
    return failed_with("File „ä.py“, line 7\n" * 1_000)


def failed_with(traceback: str) -> Made:
    task = a_running_task()
    failure = replace(FAILED, error=replace(FAILED.error, traceback=traceback))
    return task, fail(WAKE_POLICY, task, failure, now=NOW + 20 * SECOND, draw=a_draw())


def buried_with_a_long_traceback() -> Made:
    task = a_failing_task(max_attempts=1)
    failure = replace(FAILED, error=replace(FAILED.error, traceback="line\n" * 1_000))
    return task, fail(WAKE_POLICY, task, failure, now=NOW + 20 * SECOND, draw=a_draw())


def snoozed() -> Made:
    task = a_failing_task(max_attempts=1)
    failure = replace(FAILED, outcome=Outcome.SNOOZED, delay=HOUR)
    return task, fail(WAKE_POLICY, task, failure, now=NOW + 20 * SECOND, draw=a_draw())


def interrupted() -> Made:
    task = a_failing_task(max_attempts=1)
    return task, fail(WAKE_POLICY, task, INTERRUPTED, now=NOW + 20 * SECOND, draw=a_draw())


def a_dead_task() -> Task:
    task, change = buried()
    return replace(change.applied_to(task), sends=2, cancel_requested=True)


def revived() -> Made:
    task = a_dead_task()
    return task, revive(WAKE_POLICY, task, now=LATER, draw=a_draw())


def superseded() -> Made:
    task = a_dead_task()
    return task, supersede(task, nonce="new")


def discarded() -> Made:
    task = a_dead_task()
    return task, discard(task, now=LATER)


def discarded_with_a_follow_up() -> Made:
    task = replace(a_dead_task(), wake=a_task().wake)
    return task, discard(task, now=LATER)


def cancelled_as_seen() -> Made:
    task = a_task()
    return task, cancel_seen(task, now=NOW)


def asked_to_stop_as_seen() -> Made:
    task = a_running_task()
    return task, cancel_seen(task, now=NOW)


def shifted_with_its_mark() -> Made:
    task = a_task(spec=a_spec(shifts=("000000000001", "000000000002")))
    wanted = shifted(task, HOUR, mark_of("key"))
    return task, defer(WAKE_POLICY, task, wanted, now=NOW, draw=a_draw())


def stopped() -> Made:
    task = a_running_task(cancel_requested=True)
    return task, fail(WAKE_POLICY, task, FAILED, now=NOW, draw=a_draw(), cancelled=True)


def lease_run_out() -> Made:
    task = a_running_task()
    return task, lease_expired(WAKE_POLICY, task, now=NOW + MINUTE, draw=a_draw())


def cancelled() -> Made:
    task = a_task()
    return task, cancel(task, now=NOW)


def cancelled_while_retrying() -> Made:
    task = a_retrying_task()
    return task, cancel(task, now=NOW)


def skipped() -> Made:
    task = an_owing_task()
    return task, cancel_unstarted(task, now=NOW, reason="overlap")


def ended_with_a_debt() -> Made:
    task = a_running_task(spec=an_owing_task().spec)
    return task, succeed(task, result=None, now=NOW + 20 * SECOND)


def settled() -> Made:
    task, change = skipped()
    ended = change.applied_to(task)
    return ended, follow_up_done(ended)


def asked_to_stop() -> Made:
    task = a_running_task()
    return task, request_cancel(task.id, now=NOW + 20 * SECOND)


def expired() -> Made:
    task = a_task(spec=a_spec(expires_at=LATER))
    return task, expire(task, now=LATER)


def revoked() -> Made:
    task = a_sent_task()
    return task, revoke(task, now=LATER, nonce="another")


def deferred(task: Task, due_at: int = LATER, **fields: Any) -> Made:
    wanted = Deferral(spec=replace(task.spec, **fields), due_at=due_at)
    return task, defer(WAKE_POLICY, task, wanted, now=NOW + SECOND, draw=a_draw())


def deferred_until_later() -> Made:
    return deferred(a_sent_task(), run_at=LATER)


def deferred_until_now() -> Made:
    return deferred(a_task(), NOW + SECOND, run_at=NOW + SECOND, expires_at=LATER)


def deferred_to_another_lane() -> Made:
    return deferred(a_task(spec=a_spec(expires_at=LATER)), priority=Lane.HIGH, expires_at=None)


def deferred_while_retrying() -> Made:
    return deferred(a_retrying_task(), retry=RetryPolicy(max_attempts=9), tags={"team": "growth"})


def deferred_with_a_long_payload() -> Made:
    return deferred(a_task(), payload=LONG)


def deferred_with_a_payload_that_is_no_longer_long() -> Made:
    return deferred(a_task(spec=a_spec(payload=LONG)), payload="short")


def deferred_with_another_long_payload() -> Made:
    return deferred(a_task(spec=a_spec(payload=LONG)), payload={"rows": "x" * 100_000})


def held_back() -> Made:
    task = a_sent_task()
    return task, hold(delivery_of(task, NOW), 0, now=LATER)


def held_back_while_retrying() -> Made:
    task = a_retrying_task()
    return task, hold(delivery_of(task, NOW), ORDERING_KEY, now=LATER)


def leased_after_it_was_held() -> Made:
    limits = (LimitUse(name="stripe"),)
    task = a_sent_task(spec=a_spec(run_at=NOW + SECOND, limits=limits), held=0)
    return task, lease(delivery_of(task, NOW), now=NOW + 10 * SECOND, holder="me")


def watched_in_its_line() -> Made:
    task = a_sent_task(held=0)
    verdict = check_held(WAKE_POLICY, task, now=LATER)
    assert verdict is not None
    return task, verdict.change


def watched_and_sent_again() -> Made:
    task = a_sent_task(skips=2)
    return task, looked_at(task, NOW + 30 * MINUTE)


def watched_and_held_back() -> Made:
    task = a_sent_task()
    return task, looked_at(task, NOW + 30 * MINUTE, backed_up=True)


def promoted() -> Made:
    task = a_sent_task(sends=2, skips=1, spec=a_spec(run_at=NOW, priority=Lane.LOW))
    return task, looked_at(task, LATER)


def promoted_again_while_retrying() -> Made:
    first = Promotion(lane=Lane.MEDIUM, at=NOW)
    task = replace(a_retrying_task(), promoted=first)
    return task, looked_at(task, LATER + HOUR)


def revived_after_a_promotion() -> Made:
    task = replace(a_dead_task(), promoted=Promotion(lane=Lane.HIGH, at=NOW))
    return task, revive(WAKE_POLICY, task, now=LATER, draw=a_draw())


def deferred_after_a_promotion() -> Made:
    return deferred(replace(a_sent_task(), promoted=Promotion(lane=Lane.HIGH, at=NOW)))


def watched_while_running() -> Made:
    task = a_running_task()
    return task, looked_at(task, NOW + 30 * SECOND)


A_WAIT = Suspension(kind=WaitsFor.RUN, id=an_id(), run_attempt=1)
LOST = TaskError(type="RunFailed", message="step b: nein — 不行")


def a_waiting_task() -> Task:
    task = a_running_task(spec=a_spec(run_at=NOW, target={"type": "workflow", "workflow": "etl"}))
    return suspend(WAKE_POLICY, task, A_WAIT, now=NOW + SECOND, draw=a_draw()).applied_to(task)


def suspended() -> Made:
    task = a_running_task()
    return task, suspend(WAKE_POLICY, task, A_WAIT, now=NOW + SECOND, draw=a_draw())


def suspended_until_a_time() -> Made:
    task = a_running_task()
    waits = Suspension(kind=WaitsFor.CALLBACK, id="", until=NOW + HOUR)
    return task, suspend(WAKE_POLICY, task, waits, now=NOW + SECOND, draw=a_draw())


def watched_while_waiting() -> Made:
    task = a_waiting_task()
    return task, watch_again(WAKE_POLICY, task, now=LATER)


def resumed_with_a_result() -> Made:
    task = a_waiting_task()
    return task, resume_with_success(task, result=to_json(LONG), now=LATER)


def resumed_with_a_failure() -> Made:
    task = a_waiting_task()
    return task, resume_with_failure(WAKE_POLICY, task, LOST, now=LATER, draw=a_draw())


def resumed_with_a_cancellation() -> Made:
    task = a_waiting_task()
    return task, resume_with_cancellation(task, reason="workflow", now=LATER)


def expired_while_waiting() -> Made:
    task = a_waiting_task()
    return task, expire_wait(task, now=LATER)


def cancelled_while_waiting() -> Made:
    task = a_waiting_task()
    return task, cancel(task, now=LATER)


def revived_after_a_failed_wait() -> Made:
    task, change = resumed_with_a_failure()
    task = change.applied_to(task)
    leased = lease(delivery_of(task, LATER), now=LATER, holder="h2").applied_to(task)
    failure = replace(FAILED, permanent=True)
    dead = fail(WAKE_POLICY, leased, failure, now=LATER, draw=a_draw()).applied_to(leased)
    return dead, revive(WAKE_POLICY, dead, now=LATER + MINUTE, draw=a_draw())


STEPS = [
    suspended,
    suspended_until_a_time,
    watched_while_waiting,
    resumed_with_a_result,
    resumed_with_a_failure,
    resumed_with_a_cancellation,
    expired_while_waiting,
    cancelled_while_waiting,
    revived_after_a_failed_wait,
    promoted,
    promoted_again_while_retrying,
    revived_after_a_promotion,
    deferred_after_a_promotion,
    claimed,
    claimed_for_retry,
    released,
    put_aside,
    leased,
    leased_by_a_later_sending,
    leased_before_the_claim_was_known,
    leased_again,
    leased_with_long_payload,
    renewed,
    renewed_with_progress,
    succeeded,
    succeeded_with_nothing,
    succeeded_with_long_result,
    failed_for_now,
    failed_until_later,
    failed_at_length,
    failed_with_a_short_traceback,
    failed_with_a_long_traceback,
    buried,
    buried_with_a_long_traceback,
    snoozed,
    interrupted,
    revived,
    superseded,
    discarded,
    discarded_with_a_follow_up,
    cancelled_as_seen,
    asked_to_stop_as_seen,
    shifted_with_its_mark,
    stopped,
    lease_run_out,
    cancelled,
    cancelled_while_retrying,
    skipped,
    ended_with_a_debt,
    settled,
    asked_to_stop,
    expired,
    revoked,
    deferred_until_later,
    deferred_until_now,
    deferred_to_another_lane,
    deferred_while_retrying,
    deferred_with_a_long_payload,
    deferred_with_a_payload_that_is_no_longer_long,
    deferred_with_another_long_payload,
    held_back,
    held_back_while_retrying,
    leased_after_it_was_held,
    watched_in_its_line,
    watched_and_sent_again,
    watched_and_held_back,
    watched_while_running,
]
