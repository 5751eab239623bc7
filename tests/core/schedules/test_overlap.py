"""Whether an occurrence may start: every combination of who runs and who waits."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdas.core.lifecycle import Status
from lambdas.core.occurrence import Occurrence, OverlapPolicy
from lambdas.core.schedules.overlap import Skip, Start, Wait, decide, stale
from lambdas.core.schedules.schedule import ScheduleStatus
from tests.factories import NOW, a_schedule, a_sent_task, a_spec

SKIP, QUEUE, CANCEL, ALLOW = (
    OverlapPolicy.SKIP,
    OverlapPolicy.QUEUE,
    OverlapPolicy.CANCEL,
    OverlapPolicy.ALLOW,
)


def an_occurrence(overlap: OverlapPolicy, number: int = 1, **fields) -> Occurrence:
    given = {"schedule_id": "s", "scheduled_for": NOW + number, "version": 1, "owes": True}
    return Occurrence(**(given | {"overlap": overlap} | fields))


def a_run(number: int, status: Status = Status.RUNNING, **fields):
    occurrence = an_occurrence(QUEUE, number, **fields)
    return a_sent_task(id=f"run{number}", status=status, spec=a_spec(occurrence=occurrence))


def decided(overlap, number, *, active=None, waiting=None, **names):
    schedule = a_schedule(
        active=names.get("active_id", active and active.id),
        waiting=names.get("waiting_id", waiting and waiting.id),
    )
    occurrence = an_occurrence(overlap, number)
    return decide(schedule, occurrence, f"run{number}", active=active, waiting=waiting)


@pytest.mark.parametrize("overlap", [SKIP, QUEUE, CANCEL])
@pytest.mark.parametrize("status", [Status.SUCCEEDED, Status.DEAD, Status.CANCELLED, None])
def test_it_starts_when_nothing_goes_on(overlap, status):
    active = a_run(1, status) if status else None
    decision = decided(overlap, 2, active=active, active_id="run1")

    assert isinstance(decision, Start)
    assert (decision.schedule.active, decision.schedule.waiting) == ("run2", None)
    assert decision.schedule.revision == 2


def test_while_one_goes_on():
    going = a_run(1)
    assert decided(ALLOW, 2, active=going) == Start()
    assert decided(SKIP, 2, active=going) == Skip(reason="overlap")
    queued, cancels = decided(QUEUE, 2, active=going), decided(CANCEL, 2, active=going)

    assert isinstance(queued, Wait)
    assert (queued.schedule.waiting, queued.cancels, queued.unheard) == ("run2", (), False)
    assert isinstance(cancels, Wait)
    assert (cancels.schedule.waiting, cancels.cancels) == ("run2", ("run1",))


def test_while_another_waits():
    going, waits = a_run(1), a_run(2, Status.ENQUEUED)
    assert decided(QUEUE, 3, active=going, waiting=waits) == Skip(reason="overlap")
    cancels = decided(CANCEL, 3, active=going, waiting=waits)

    assert isinstance(cancels, Wait)
    assert cancels.cancels == ("run1", "run2")
    assert cancels.schedule.waiting == "run3"


def test_who_came_first_goes_first():
    decision = decided(QUEUE, 3, active=a_run(1, Status.DEAD), waiting=a_run(2, Status.ENQUEUED))

    assert isinstance(decision, Wait)
    assert decision.wakes == "run2"
    assert (decision.schedule.active, decision.schedule.waiting) == ("run2", "run3")


def test_whose_turn_it_is_starts_whoever_waits_behind_it():
    turn, next_one = a_run(2, Status.ENQUEUED), a_run(3, Status.ENQUEUED)

    assert decided(QUEUE, 2, active=turn, waiting=next_one) == Start()


def test_a_late_one_does_not_cancel_a_newer():
    assert decided(CANCEL, 1, active=a_run(2)) == Skip(reason="overlap")


def test_who_waits_for_a_run_that_owes_nothing_is_told():
    going = a_run(1, owes=False)
    decision = decided(QUEUE, 2, active=going)

    assert isinstance(decision, Wait)
    assert decision.unheard


@pytest.mark.parametrize(
    ("schedule", "reason"),
    [
        (None, "deleted"),
        (a_schedule(version=2), "changed"),
        (a_schedule(version=2, status=ScheduleStatus.PAUSED), "paused"),
        (a_schedule(), None),
    ],
)
def test_an_old_version_starts_no_more(schedule, reason):
    occurrence = an_occurrence(ALLOW)
    assert stale(schedule, occurrence) == reason
    decision = decide(schedule, occurrence, "run1", active=None, waiting=None)
    assert decision == (Skip(reason=reason) if reason else Start())


def test_a_run_outside_the_rule_is_of_every_version():
    assert stale(a_schedule(version=7), an_occurrence(SKIP, version=None)) is None


@given(
    st.sampled_from([SKIP, QUEUE, CANCEL]),
    st.lists(st.integers(0, 3), min_size=4, max_size=40),
    st.data(),
)
def test_of_any_messages_in_any_order_one_runs_and_nobody_is_forgotten(overlap, order, data):
    """A queue in any order, doubled messages, debts that are paid at any time."""
    schedule = a_schedule()
    tasks = {
        f"run{n}": a_sent_task(
            id=f"run{n}",
            status=Status.ENQUEUED,
            spec=a_spec(occurrence=an_occurrence(overlap, n)),
        )
        for n in range(4)
    }
    messages = [f"run{n}" for n in range(4)] + [f"run{n}" for n in order]

    def end(task_id: str) -> None:
        nonlocal schedule
        tasks[task_id] = replace(tasks[task_id], status=Status.SUCCEEDED)
        if schedule.active == task_id:  # the debt is paid
            schedule = replace(schedule, active=None)
            if schedule.waiting:
                messages.append(schedule.waiting)

    while messages:
        task_id = messages.pop(0)
        task = tasks[task_id]
        if task.status is Status.ENQUEUED:
            decision = decide(
                schedule,
                task.spec.occurrence,
                task_id,
                active=tasks.get(schedule.active),
                waiting=tasks.get(schedule.waiting),
            )
            match decision:
                case Skip():
                    tasks[task_id] = replace(task, status=Status.CANCELLED)
                case Start(schedule=named):
                    schedule = named or schedule
                    tasks[task_id] = replace(task, status=Status.RUNNING)
                case Wait(schedule=named, cancels=cancels, wakes=wakes):
                    schedule = named or schedule
                    messages += [wakes] if wakes else []
                    for other in cancels:
                        if tasks[other].status is Status.ENQUEUED:
                            tasks[other] = replace(tasks[other], status=Status.CANCELLED)
        running = [i for i, task in tasks.items() if task.status is Status.RUNNING]
        assert len(running) <= 1
        if running and (not messages or data.draw(st.booleans())):
            end(running[0])

    assert all(task.status.finished for task in tasks.values())
