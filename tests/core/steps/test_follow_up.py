"""A finished task with a follow-up keeps a watch until the follow-up has run."""

from dataclasses import replace

import pytest
from hypothesis import given

from duetime.core.lifecycle import FINISHED, Status
from duetime.core.occurrence import Occurrence
from duetime.core.steps.cancel import cancel, cancel_unstarted, expire
from duetime.core.steps.follow_up import RELAY_GRACE, follow_up_done, follow_up_now, follow_up_wake
from duetime.core.steps.record import Failure, fail, succeed
from duetime.core.task import TaskError
from duetime.core.wakes import WakeKind
from tests.factories import NOW, WAKE_POLICY, a_draw, a_running_task, a_sent_task
from tests.strategies import moments, tasks

WITH_FOLLOW_UP = Occurrence(schedule_id="s", scheduled_for=NOW, version=1, has_follow_up=True)
WITHOUT_FOLLOW_UP = replace(WITH_FOLLOW_UP, has_follow_up=False)
PERMANENT = Failure(outcome="failed", error=TaskError(type="Boom", message="boom"), permanent=True)


def of(task, occurrence):
    return replace(task, spec=replace(task.spec, occurrence=occurrence))


def ends(occurrence):
    sent, runs = of(a_sent_task(), occurrence), of(a_running_task(), occurrence)
    return {
        "succeeded": (runs, succeed(runs, result=None, now=NOW)),
        "dead": (runs, fail(WAKE_POLICY, runs, PERMANENT, now=NOW, draw=a_draw())),
        "stopped": (
            runs,
            fail(WAKE_POLICY, runs, PERMANENT, now=NOW, draw=a_draw(), cancelled=True),
        ),
        "cancelled": (sent, cancel(sent, now=NOW)),
        "expired": (sent, expire(sent, now=NOW)),
    }


@pytest.mark.parametrize("how", ends(WITH_FOLLOW_UP))
def test_every_end_of_a_task_with_a_follow_up_leaves_a_watch(how):
    task, change = ends(WITH_FOLLOW_UP)[how]
    after = change.applied_to(task)

    assert after.has_follow_up
    assert (after.wake.kind, after.wake.at) == (WakeKind.WATCH, NOW + RELAY_GRACE)
    assert follow_up_done(after).applied_to(after).wake is None
    assert not follow_up_done(after).applied_to(after).has_follow_up


@pytest.mark.parametrize("how", ends(WITHOUT_FOLLOW_UP))
def test_end_of_a_task_without_a_follow_up_leaves_no_wake(how):
    task, change = ends(WITHOUT_FOLLOW_UP)[how]

    assert change.applied_to(task).wake is None


@given(tasks(), moments)
def test_watch_is_removed_only_from_a_finished_task_whose_wake_has_not_moved(task, now):
    task = of(task, WITH_FOLLOW_UP)
    if task.wake is None:
        return
    change = follow_up_done(task)
    assert change.expect.holds(task) == (task.status in FINISHED)
    moved = replace(task, wake=task.wake.moved(WakeKind.WATCH, now))
    if moved.wake != task.wake:
        assert not change.expect.holds(moved)


@given(tasks(*FINISHED), moments)
def test_watch_of_a_follow_up_comes_due_now_after_a_restart(task, now):
    watched = replace(
        task, wake=WAKE_POLICY.wake(WakeKind.WATCH, task.id, task.lane, now + 9, now=now)
    )
    moved = follow_up_now(watched, now).applied_to(watched)

    assert moved.wake.at == now
    assert moved.status is task.status


@given(tasks(), moments)
def test_watch_of_a_follow_up_is_in_the_shard_of_the_task(task, now):
    watch = follow_up_wake(of(task, WITH_FOLLOW_UP), now)
    if task.wake is None:
        assert watch is None
    else:
        assert watch.bucket.partition("#")[2] == task.wake.bucket.partition("#")[2]


@given(tasks(), moments)
def test_task_that_has_started_is_not_dropped(task, now):
    change = cancel_unstarted(task, now=now, reason="paused")
    unstarted = task.attempt == 0 and cancel(task, now=now).expect.holds(task)

    assert change.expect.holds(task) == unstarted
    if unstarted:
        dropped = change.applied_to(task)
        assert (dropped.status, dropped.reason) == (Status.CANCELLED, "paused")
