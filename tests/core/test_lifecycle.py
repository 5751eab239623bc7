import pytest

from duetime.core.lifecycle import FINISHED, TRANSITIONS, Status, Step, sources, status_after

# A submitted task starts in one of these.
BEGINNINGS = {Status.PENDING, Status.ENQUEUED}
ARROWS = {
    (before, after)
    for moves in TRANSITIONS.values()
    for before, afters in moves.items()
    for after in afters
}


def reachable(beginnings, arrows=frozenset(ARROWS)):
    seen, rest = set(), set(beginnings)
    while rest:
        seen |= rest
        rest = {after for before, after in arrows if before in rest} - seen
    return seen


def test_every_status_can_be_reached():
    assert reachable(BEGINNINGS) == set(Status)


@pytest.mark.parametrize("status", sorted(set(Status) - FINISHED))
def test_every_unfinished_task_can_succeed_or_be_ended(status):
    ends = reachable({status}) & FINISHED

    assert Status.CANCELLED in ends
    assert Status.SUCCEEDED in ends


def test_a_status_is_final_if_nothing_leads_out_of_it():
    ways_out = {before for before, after in ARROWS if before is not after}

    assert {status for status in Status if status.final} == set(Status) - ways_out
    assert all(status.finished for status in Status if status.final)


def test_the_finished_statuses():
    assert {s for s in Status if s.finished} == {"SUCCEEDED", "DEAD", "CANCELLED", "EXPIRED"}


@pytest.mark.parametrize("step", Step)
def test_every_step_is_in_the_table_and_starts_somewhere(step):
    assert sources(step) == set(TRANSITIONS[step])
    assert sources(step)


def test_transitions_are_those_of_the_design():
    real = {(before.value, after.value) for before, after in ARROWS if before is not after}

    assert real == {
        ("PENDING", "ENQUEUED"),
        ("ENQUEUED", "PENDING"),  # a message that was refused, or a later due time
        ("ENQUEUED", "RUNNING"),
        ("PENDING", "RUNNING"),  # released, but its message did arrive
        ("RETRYING", "RUNNING"),
        ("RUNNING", "SUCCEEDED"),
        ("RUNNING", "RETRYING"),
        ("RUNNING", "DEAD"),
        ("RUNNING", "CANCELLED"),
        ("DEAD", "RETRYING"),  # revived
        ("DEAD", "CANCELLED"),  # discarded
        ("PENDING", "CANCELLED"),
        ("ENQUEUED", "CANCELLED"),
        ("RETRYING", "CANCELLED"),
        ("WAITING", "CANCELLED"),
        ("PENDING", "EXPIRED"),
        ("ENQUEUED", "EXPIRED"),
        ("RUNNING", "WAITING"),  # suspended, until a run or a callback resumes it
        ("WAITING", "SUCCEEDED"),
        ("WAITING", "RETRYING"),  # what it waited for has failed
        ("WAITING", "EXPIRED"),
    }


def test_the_steps_that_leave_a_status_as_it_is():
    stays = {
        step.value: {before.value for before, afters in moves.items() if before in afters}
        for step, moves in TRANSITIONS.items()
    }

    assert {step: statuses for step, statuses in stays.items() if statuses} == {
        "claim": {"RETRYING"},
        "release": {"RETRYING"},
        "watch": {"PENDING", "ENQUEUED", "RETRYING", "RUNNING", "WAITING"},
        "renew": {"RUNNING"},
        "request_cancel": {"RUNNING"},
        "revoke": {"PENDING", "ENQUEUED"},
        "defer": {"PENDING", "ENQUEUED", "RETRYING"},
        "promote": {"ENQUEUED", "RETRYING"},
        "hold": {"PENDING", "ENQUEUED", "RETRYING"},
        "supersede": {"DEAD"},
        "follow_up": {"SUCCEEDED", "DEAD", "CANCELLED", "EXPIRED"},
    }


def test_only_a_lease_starts_a_task():
    starting = {
        step
        for step, moves in TRANSITIONS.items()
        for before, afters in moves.items()
        if Status.RUNNING in afters and before is not Status.RUNNING
    }

    assert starting == {Step.LEASE}


def test_only_a_deferral_and_a_resumption_have_a_choice():
    choices = {
        (step.value, before.value)
        for step, moves in TRANSITIONS.items()
        for before, afters in moves.items()
        if len(afters) > 1
    }

    assert choices == {("defer", "PENDING"), ("defer", "ENQUEUED"), ("resume", "WAITING")}


def test_status_after_a_step_without_a_choice_is_that_of_the_table():
    assert status_after(Step.CLAIM, Status.PENDING) is Status.ENQUEUED
