"""Whether an occurrence may start, for every combination of active and waiting runs."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.core.lifecycle import Status
from duetime.core.occurrence import Occurrence, OverlapPolicy
from duetime.core.schedules.overlap import MAX_WAITING, Candidate, stale_reason
from duetime.core.schedules.plan import Plan
from duetime.core.schedules.schedule import LATE, Schedule, ScheduleStatus, Span
from duetime.core.schedules.start_decisions import Skip, Start, Wait
from duetime.core.task import Task
from duetime.core.times import MINUTE, SECOND
from tests.factories import NOW, a_schedule, a_sent_task, a_spec

SKIP, QUEUE, CANCEL, ALLOW = (
    OverlapPolicy.SKIP,
    OverlapPolicy.QUEUE,
    OverlapPolicy.CANCEL,
    OverlapPolicy.ALLOW,
)
BOUND = [SKIP, QUEUE, CANCEL]
HORIZON = 4 * MINUTE


def an_occurrence(overlap: OverlapPolicy, number: int = 1, **fields) -> Occurrence:
    given = {"schedule_id": "s", "scheduled_for": NOW + number, "version": 1, "has_follow_up": True}
    return Occurrence(**(given | {"overlap": overlap} | fields))


def a_run(number: int, status: Status = Status.RUNNING, **fields) -> Task:
    occurrence = an_occurrence(QUEUE, number, **fields)
    return a_sent_task(id=f"run{number}", status=status, spec=a_spec(occurrence=occurrence))


def a_candidate(overlap: OverlapPolicy, number: int, now: int | None = None, **fields) -> Candidate:
    return Candidate(
        task_id=f"run{number}",
        occurrence=an_occurrence(overlap, number, **fields),
        due_at=NOW + number,
        starts_at=NOW + number if now is None else now,
        horizon=HORIZON,
    )


def named(active: Task | None = None, waiting: tuple[Task, ...] = (), **fields) -> Schedule:
    """A schedule whose active run started a second ago."""
    given = {"active_since": NOW - SECOND, "waiting": tuple(task.id for task in waiting)}
    return a_schedule(**{"active": active and active.id, **given, **fields})


def decided(overlap, number, *, active=None, waiting=(), schedule=None, candidate=None):
    tasks = {task.id: task for task in (active, *waiting) if task}
    schedule = schedule or named(active, waiting)
    return (candidate or a_candidate(overlap, number)).decide(schedule, tasks)


@pytest.mark.parametrize("overlap", BOUND)
@pytest.mark.parametrize("status", [Status.SUCCEEDED, Status.DEAD, Status.CANCELLED, None])
def test_occurrence_starts_if_no_run_is_active(overlap, status):
    active = a_run(1, status) if status else None
    decision = decided(overlap, 2, active=active, schedule=replace(named(), active="run1"))

    assert isinstance(decision, Start)
    assert (decision.schedule.active, decision.schedule.waiting) == ("run2", ())
    assert decision.schedule.active_since == NOW + 2


def test_each_overlap_policy_while_a_run_is_active():
    going = a_run(1)
    assert decided(ALLOW, 2, active=going) == Start()
    assert decided(SKIP, 2, active=going) == Skip(reason="overlap")
    queued, cancels = decided(QUEUE, 2, active=going), decided(CANCEL, 2, active=going)

    assert isinstance(queued, Wait)
    assert (queued.schedule.waiting, queued.cancels, queued.polls) == (("run2",), (), False)
    assert isinstance(cancels, Wait)
    assert (cancels.schedule.waiting, cancels.cancels) == (("run2",), ("run1",))


def test_each_overlap_policy_while_a_run_is_active_and_another_waits():
    going, waits = a_run(1), a_run(2, Status.ENQUEUED)
    assert decided(QUEUE, 3, active=going, waiting=(waits,)) == Skip(reason="overlap")
    cancels = decided(CANCEL, 3, active=going, waiting=(waits,))

    assert isinstance(cancels, Wait)
    assert cancels.cancels == ("run1", "run2")
    assert cancels.schedule.waiting == ("run3",)


@pytest.mark.parametrize("overlap", BOUND)
def test_run_that_has_waited_longest_starts_first(overlap):
    over, first = a_run(1, Status.DEAD), a_run(2, Status.ENQUEUED)
    decision = decided(overlap, 3, active=over, waiting=(first,))

    assert isinstance(decision, Wait)
    assert decision.wakes == "run2"
    assert (decision.schedule.active, decision.schedule.waiting) == ("run2", ("run3",))


def test_waiting_run_starts_when_its_turn_comes():
    turn, next_one = a_run(2, Status.ENQUEUED), a_run(3, Status.ENQUEUED)
    over = a_run(1, Status.SUCCEEDED)

    assert decided(QUEUE, 2, active=turn, waiting=(next_one,)) == Start()
    decision = decided(QUEUE, 2, active=over, waiting=(turn, next_one))
    assert isinstance(decision, Start)
    assert (decision.schedule.active, decision.schedule.waiting) == ("run2", ("run3",))


def test_ended_task_is_removed_from_the_waiting_runs():
    over, cancelled = a_run(1, Status.SUCCEEDED), a_run(2, Status.CANCELLED)
    decision = decided(QUEUE, 3, active=over, waiting=(cancelled,))

    assert isinstance(decision, Start)
    assert decision.schedule.waiting == ()


@pytest.mark.parametrize("overlap", BOUND)
def test_waiting_run_keeps_waiting_while_a_run_is_active(overlap):
    decision = decided(overlap, 2, active=a_run(1), waiting=(a_run(2, Status.ENQUEUED),))

    assert decision == Wait(polls=False)


def test_run_that_waits_for_a_run_without_follow_up_polls():
    decision = decided(QUEUE, 2, active=a_run(1, has_follow_up=False))

    assert isinstance(decision, Wait)
    assert decision.polls


# Runs that the overlap policy does not drop.


@pytest.mark.parametrize("overlap", BOUND)
def test_run_outside_the_rule_waits_and_cancels_no_other(overlap):
    going, waits = a_run(1), a_run(2, Status.ENQUEUED)
    outside = a_candidate(overlap, 3, version=None)
    decision = decided(overlap, 3, active=going, waiting=(waits,), candidate=outside)

    assert isinstance(decision, Wait)
    assert (decision.schedule.waiting, decision.cancels) == (("run2", "run3"), ())


def test_run_outside_the_rule_is_not_cancelled_for_the_next_one():
    outside, ordinary = a_run(1, version=None), a_run(2, Status.ENQUEUED)
    decision = decided(CANCEL, 3, active=outside, waiting=(ordinary,))

    assert isinstance(decision, Wait)
    assert decision.cancels == ("run2",)
    assert decision.schedule.waiting == ("run3",)


def test_catch_up_run_waits_under_every_policy():
    span = Span(
        id=LATE,
        next_at=NOW,
        until=NOW + 1,
        due_at=NOW,
        interval=1,
        overlap=QUEUE,
        running="run2",
    )
    going = a_run(1)
    schedule = named(going, spans=(span,))
    late = a_candidate(SKIP, 2, now=NOW + 10 * MINUTE)
    decision = decided(SKIP, 2, active=going, schedule=schedule, candidate=late)

    assert isinstance(decision, Wait)
    assert decision.schedule.waiting == ("run2",)


@pytest.mark.parametrize("overlap", BOUND)
def test_runs_that_meet_only_because_both_are_late_do_not_overlap(overlap):
    """The active run started after this one was due: in time, the two would not have met."""
    going = a_run(1)
    schedule = named(going, active_since=NOW + 20 * SECOND)
    late = a_candidate(overlap, 2, now=NOW + 20 * SECOND)
    decision = decided(overlap, 2, active=going, schedule=schedule, candidate=late)

    assert isinstance(decision, Wait)
    assert (decision.schedule.waiting, decision.cancels) == (("run2",), ())


def test_a_late_run_does_not_cancel_a_newer_one():
    newer = a_run(2)
    late = a_candidate(CANCEL, 1, now=NOW + 20 * SECOND)
    decision = decided(CANCEL, 1, active=newer, candidate=late)

    assert isinstance(decision, Wait)
    assert decision.cancels == ()


def test_full_list_of_waiting_runs_admits_and_drops_none():
    line = tuple(a_run(n, Status.ENQUEUED, version=None) for n in range(2, 2 + MAX_WAITING))
    outside = a_candidate(SKIP, 500, version=None)
    decision = decided(SKIP, 500, active=a_run(1), waiting=line, candidate=outside)

    assert decision == Wait(polls=True)


# Versions.


@pytest.mark.parametrize(
    ("schedule", "reason"),
    [
        (None, "deleted"),
        (a_schedule(version=2), "changed"),
        (a_schedule(version=2, status=ScheduleStatus.PAUSED), "paused"),
        (a_schedule(), None),
    ],
)
def test_occurrence_of_an_old_version_does_not_start(schedule, reason):
    candidate = a_candidate(ALLOW, 1)
    assert stale_reason(schedule, candidate.occurrence) == reason
    decision = candidate.decide(schedule, {})
    assert decision == (Skip(reason=reason) if reason else Start())


def test_run_outside_the_rule_starts_in_every_version():
    assert stale_reason(a_schedule(version=7), an_occurrence(SKIP, version=None)) is None


@given(
    st.sampled_from(BOUND),
    st.lists(st.booleans(), min_size=4, max_size=4),
    st.lists(st.integers(0, 3), min_size=4, max_size=40),
    st.data(),
)
def test_with_messages_in_any_order_one_run_is_active_and_none_is_forgotten(
    overlap, outside, order, data
):
    """Messages come in any order and doubled, and ends are reported at any time."""
    schedule = a_schedule(plan=_patient(a_schedule().plan))
    occurrences = [
        an_occurrence(overlap, n, version=None if out else 1) for n, out in enumerate(outside)
    ]
    tasks = {
        f"run{n}": a_sent_task(
            id=f"run{n}", status=Status.ENQUEUED, spec=a_spec(occurrence=occurrence)
        )
        for n, occurrence in enumerate(occurrences)
    }
    messages = [f"run{n}" for n in range(4)] + [f"run{n}" for n in order]
    now = NOW + SECOND

    def end(task_id: str) -> None:
        nonlocal schedule
        tasks[task_id] = replace(tasks[task_id], status=Status.SUCCEEDED)
        if schedule.active == task_id:
            schedule = replace(schedule, active=None, active_since=None)
            messages.extend(schedule.waiting[:1])

    while messages:
        now += 1
        task_id = messages.pop(0)
        task = tasks[task_id]
        if task.status is Status.ENQUEUED:
            of = task.spec.occurrence
            candidate = Candidate(
                task_id=task_id,
                occurrence=of,
                due_at=of.scheduled_for,
                starts_at=now,
                horizon=HORIZON,
            )
            decision = candidate.decide(schedule, tasks)
            schedule = decision.schedule or schedule
            match decision:
                case Skip():
                    assert of.version is not None
                    tasks[task_id] = replace(task, status=Status.CANCELLED)
                case Start():
                    tasks[task_id] = replace(task, status=Status.RUNNING)
                case Wait(cancels=cancels, wakes=wakes):
                    messages += [wakes] if wakes else []
                    for other in cancels:
                        assert tasks[other].spec.occurrence.version is not None
                        if tasks[other].status is Status.ENQUEUED:
                            tasks[other] = replace(tasks[other], status=Status.CANCELLED)
        running = [i for i, task in tasks.items() if task.status is Status.RUNNING]
        assert len(running) <= 1
        if running and (not messages or data.draw(st.booleans())):
            end(running[0])

    assert all(task.status.finished for task in tasks.values())
    assert all(
        task.status is Status.SUCCEEDED
        for task in tasks.values()
        if task.spec.occurrence.version is None
    )


def _patient(plan: Plan) -> Plan:
    return replace(plan, misfire=replace(plan.misfire, grace=MINUTE))
