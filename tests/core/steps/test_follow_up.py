"""Debts: what a finished task keeps until what must follow has been done."""

from dataclasses import replace

import pytest
from hypothesis import given

from lambdas.core.lifecycle import FINISHED, Status
from lambdas.core.occurrence import Occurrence
from lambdas.core.steps.cancel import cancel, cancel_unstarted, expire
from lambdas.core.steps.record import Failure, fail, succeed
from lambdas.core.steps.settle import PATIENCE, debt, hasten, settle
from lambdas.core.task import TaskError
from lambdas.core.wakes import WakeKind
from tests.factories import NOW, RULES, a_draw, a_running_task, a_sent_task
from tests.strategies import moments, tasks

OWING = Occurrence(schedule_id="s", scheduled_for=NOW, version=1, owes=True)
FREE = replace(OWING, owes=False)
PERMANENT = Failure(outcome="failed", error=TaskError(type="Boom", message="boom"), permanent=True)


def of(task, occurrence):
    return replace(task, spec=replace(task.spec, occurrence=occurrence))


def ends(occurrence):
    sent, runs = of(a_sent_task(), occurrence), of(a_running_task(), occurrence)
    return {
        "succeeded": (runs, succeed(runs, result=None, now=NOW)),
        "dead": (runs, fail(RULES, runs, PERMANENT, now=NOW, draw=a_draw())),
        "stopped": (runs, fail(RULES, runs, PERMANENT, now=NOW, draw=a_draw(), cancelled=True)),
        "cancelled": (sent, cancel(sent, now=NOW)),
        "expired": (sent, expire(sent, now=NOW)),
    }


@pytest.mark.parametrize("how", ends(OWING))
def test_every_end_leaves_a_watch_if_something_must_follow(how):
    task, change = ends(OWING)[how]
    after = change.applied_to(task)

    assert after.owes
    assert (after.wake.kind, after.wake.at) == (WakeKind.WATCH, NOW + PATIENCE)
    assert settle(after).applied_to(after).wake is None
    assert not settle(after).applied_to(after).owes


@pytest.mark.parametrize("how", ends(FREE))
def test_and_none_if_nothing_does(how):
    task, change = ends(FREE)[how]

    assert change.applied_to(task).wake is None


@given(tasks(), moments)
def test_only_a_finished_task_settles_and_only_its_own_wake(task, now):
    task = of(task, OWING)
    if task.wake is None:
        return
    change = settle(task)
    assert change.expect.holds(task) == (task.status in FINISHED)
    moved = replace(task, wake=task.wake.moved(WakeKind.WATCH, now))
    if moved.wake != task.wake:
        assert not change.expect.holds(moved)


@given(tasks(*FINISHED), moments)
def test_after_a_restart_the_scanner_looks_now(task, now):
    owing = replace(task, wake=RULES.wake(WakeKind.WATCH, task.id, task.lane, now + 9, now=now))
    hastened = hasten(owing, now).applied_to(owing)

    assert hastened.wake.at == now
    assert hastened.status is task.status


@given(tasks(), moments)
def test_the_debt_stands_in_the_shard_of_the_task(task, now):
    owing = debt(of(task, OWING), now)
    if task.wake is None:
        assert owing is None
    else:
        assert owing.bucket.partition("#")[2] == task.wake.bucket.partition("#")[2]


@given(tasks(), moments)
def test_what_has_started_is_not_dropped(task, now):
    change = cancel_unstarted(task, now=now, reason="paused")
    unstarted = task.attempt == 0 and cancel(task, now=now).expect.holds(task)

    assert change.expect.holds(task) == unstarted
    if unstarted:
        dropped = change.applied_to(task)
        assert (dropped.status, dropped.reason) == (Status.CANCELLED, "paused")
