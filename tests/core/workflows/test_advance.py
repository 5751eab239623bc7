"""Ends of steps, in any order, and what they change in their run."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.core.times import DAY, MINUTE
from duetime.core.workflows.advance import advance, ready
from duetime.core.workflows.reconcile import admits, task_id_at
from duetime.core.workflows.retry import RetryRefused, retry_run, steps_to_retry
from duetime.core.workflows.run import RunStatus, StopReason
from duetime.core.workflows.stop import cancel_run, time_out
from duetime.core.workflows.watches import move_watch
from tests.core.workflows.runs import MOMENT, RunIf, a_definition, a_moment, a_run, a_step, an_end
from tests.factories import NOW, an_id

NEVER = {"input": {"is": ["so"]}}


@st.composite
def definitions(draw):
    count = draw(st.integers(1, 7))
    steps = []
    for n in range(count):
        needs = draw(st.sets(st.integers(0, n - 1), max_size=3)) if n else set()
        rule = draw(st.sampled_from(RunIf)) if needs else RunIf.ALL_SUCCEEDED
        steps.append(a_step(f"s{n}", *(f"s{need}" for need in needs), run_if=rule))
    if draw(st.booleans()):
        steps.append(a_step("last", last=True))
    return a_definition(*steps)


def played(definition, run, fates, order):
    """Ends the steps that are under way, each with its fate, in a random order and repeatedly."""
    chance = random.Random(order)
    while not run.status.over:
        under_way = [n for n, state in enumerate(run.states) if state == "p"]
        some = chance.choices(under_way, k=chance.randint(1, len(under_way) + 1))
        run = advance(
            definition, run, [an_end(definition, run, n, fates[n]) for n in some], **MOMENT
        )
    return run


fates = st.lists(st.sampled_from("ssdc"), min_size=8, max_size=8)


@given(definitions(), fates, st.integers(), st.integers())
def test_order_and_repetition_of_ends_do_not_change_how_a_run_ends(definition, fates, one, other):
    run = a_run(definition)
    first, second = (played(definition, run, fates, order) for order in (one, other))
    assert (first.states, first.status) == (second.states, second.status)
    assert not set(first.states) & set("wp")
    assert (first.status is RunStatus.FAILED) == bool(set(first.states) & set("dc"))
    assert first.finished_at
    assert first.wake is None


@given(definitions(), fates, st.integers())
def test_retry_takes_back_the_failed_steps_and_what_comes_after_them(definition, fates, order):
    run = played(definition, a_run(definition), fates, order)
    plan = steps_to_retry(definition, run)
    if run.status is RunStatus.SUCCEEDED:
        assert isinstance(plan, RetryRefused)
        return
    retried = retry_run(definition, run, {}, **MOMENT)
    kept = set(range(len(run.states))) - plan.steps
    assert all(retried.states[n] == run.states[n] for n in kept)
    assert all(retried.generation(n) == run.generation(n) for n in kept)
    assert all(run.states[n] not in "dcf" for n in kept)
    assert all(retried.states[n] == "p" for n in plan.revive)
    assert retried.attempt == 2
    assert retried.wake


def branch():
    return a_definition(
        a_step("a", when={"input": {"day": [{"exists": True}]}}),
        a_step("b"),
        a_step("join", "a", "b", run_if=RunIf.NONE_FAILED),
        a_step("after_a", "a"),
    )


def test_join_after_a_branch_runs_and_a_false_condition_is_passed_on():
    definition = branch()
    run = a_run(definition)
    assert run.states == "xpwx"
    after = advance(definition, run, [an_end(definition, run, 1, "s")], **MOMENT)
    assert after.states == "xspx"
    assert ready(run, after) == [2]


@pytest.mark.parametrize(
    ("rule", "decided"),
    [
        (RunIf.ALL_SUCCEEDED, {"ss": "p", "sd": "u", "sc": "u", "sx": "x", "dx": "u", "xx": "x"}),
        (RunIf.NONE_FAILED, {"ss": "p", "sd": "u", "sc": "u", "sx": "p", "dx": "u", "xx": "x"}),
        (RunIf.ANY_FAILED, {"ss": "x", "sd": "p", "sc": "p", "sx": "x", "dx": "p", "xx": "x"}),
        (RunIf.ALL_FINISHED, dict.fromkeys(["ss", "sd", "sc", "sx", "dx", "xx"], "p")),
    ],
)
def test_rule_of_a_step_is_decided_by_how_its_needs_have_ended(rule, decided):
    for ends, expected in decided.items():
        needs = [
            a_step(n, when=NEVER if s == "x" else None) for n, s in zip("ab", ends, strict=True)
        ]
        definition = a_definition(*needs, a_step("c", "a", "b", run_if=rule))
        run = a_run(definition)
        ended = [an_end(definition, run, n, s) for n, s in enumerate(ends) if s != "x"]
        after = advance(definition, run, ended, **MOMENT) if ended else run
        assert (ends, after.states) == (ends, ends + expected)


def test_failure_that_is_allowed_does_not_fail_the_run_and_is_one_for_its_dependents():
    definition = a_definition(
        a_step("a", allow_failure=True),
        a_step("b", "a"),
        a_step("c", "a", run_if=RunIf.ALL_FINISHED),
    )
    run = a_run(definition, fail_fast=True)
    after = advance(definition, run, [an_end(definition, run, 0, "d")], **MOMENT)
    assert (after.status, after.states) == ("RUNNING", "dup")
    over = advance(definition, after, [an_end(definition, after, 2, "s")], **MOMENT)
    assert (over.status, over.error) == ("SUCCEEDED", None)


def test_step_two_levels_below_a_failure_sees_it():
    definition = a_definition(
        a_step("a"), a_step("b", "a"), a_step("c", "b", run_if=RunIf.ANY_FAILED)
    )
    run = a_run(definition)
    assert advance(definition, run, [an_end(definition, run, 0, "d")], **MOMENT).states == "dup"


def test_end_of_another_generation_is_not_recorded():
    definition = a_definition(a_step("a"))
    run = a_run(definition)
    stale = an_end(definition, a_run(definition), 0, "s")
    assert advance(definition, run, [stale], **MOMENT) is None


def test_fail_fast_stops_the_run_and_runs_its_finally_step():
    definition = a_definition(a_step("a"), a_step("b"), a_step("c", "b"), a_step("last", last=True))
    run = a_run(definition, fail_fast=True)
    run = advance(definition, run, [an_end(definition, run, 0, "d")], **MOMENT)
    assert (run.status, run.stop, run.states) == ("CANCELLING", "fail_fast", "dpww")
    assert not admits(definition, run, 1, task_id_at(definition, run, 1))
    run = advance(definition, run, [an_end(definition, run, 1, "c")], **MOMENT)
    assert run.states == "dcfp"
    assert admits(definition, run, 3, task_id_at(definition, run, 3))
    run = advance(definition, run, [an_end(definition, run, 3, "s")], **MOMENT)
    assert (run.status, run.error.step) == ("FAILED", "a")


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        ([a_step("a"), a_step("b", "a")], None),
        ([a_step("a"), a_step("b", "a", run_if=RunIf.ANY_FAILED)], "compensated"),
        ([a_step("a"), a_step("last", last=True)], "compensated"),
    ],
)
def test_late_success_resumes_a_run_only_if_nothing_reacted_to_the_failure(steps, reason):
    definition = a_definition(*steps)
    run = played(definition, a_run(definition), "dsss", 1)
    late = advance(definition, run, [an_end(definition, run, 0, "s")], **MOMENT)
    if reason is None:
        assert (late.status, late.states, late.attempt, late.error) == ("RUNNING", "sp", 2, None)
        return
    assert (late.status, late.states, late.error.reason) == ("FAILED", run.states, reason)
    assert advance(definition, late, [an_end(definition, late, 0, "s")], **MOMENT) is None


def test_second_cancel_stops_the_finally_steps_and_a_third_changes_nothing():
    definition = a_definition(a_step("a"), a_step("last", last=True))
    run = cancel_run(definition, a_run(definition), **MOMENT)
    assert (run.status, run.stop, run.wake.at) == ("CANCELLING", "cancel", NOW + MINUTE)
    run = cancel_run(definition, run, **MOMENT)
    assert run.stop is StopReason.CANCEL_ALL
    assert cancel_run(definition, run, **MOMENT) is None
    run = advance(definition, run, [an_end(definition, run, 0, "c")], **MOMENT)
    assert (run.states, run.status) == ("cf", "CANCELLED")


def test_run_times_out_at_its_timeout_and_fails():
    definition = a_definition(a_step("a"))
    run = a_run(definition)
    assert time_out(definition, run, **MOMENT) is None
    late = time_out(definition, run, moment=a_moment(NOW + DAY))
    late = advance(definition, late, [an_end(definition, late, 0, "c")], **MOMENT)
    assert (late.status, late.error.type) == ("FAILED", "TimedOut")


def test_run_with_a_parent_keeps_a_wake_until_it_has_reported():
    definition = a_definition(a_step("a"))
    run = a_run(definition, parent_task_id=an_id())
    run = advance(definition, run, [an_end(definition, run, 0, "s")], **MOMENT)
    assert run.status.over
    assert 2 * MINUTE <= run.wake.at - NOW <= 4 * MINUTE


def test_watch_of_a_run_moves_further_ahead_each_time():
    run, ahead = a_run(a_definition(a_step("a"))), []
    for _ in range(6):
        run = move_watch(run, **MOMENT)
        ahead.append((run.wake.at - NOW) // MINUTE)
    assert ahead == [5, 15, 45, 135, 360, 360]


def test_condition_sees_the_status_in_the_row():
    """The task of a dead step may have been revived and cancelled since."""
    died = {"steps": {"a": {"status": ["DEAD"]}}}
    definition = a_definition(a_step("a"), a_step("b", "a", run_if=RunIf.ANY_FAILED, when=died))
    run = a_run(definition)
    now = {"a": {"status": "CANCELLED", "result": None}}

    after = advance(definition, run, [an_end(definition, run, 0, "d")], **MOMENT, outputs=now)

    assert after is not None
    assert after.states == "dp"
