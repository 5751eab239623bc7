"""Mutants of workflow runs: what a run decides, records and takes back."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

from duetime.core.change import Expect
from duetime.core.lifecycle import FINISHED, Status
from duetime.core.steps import follow_up as follow_ups
from duetime.core.steps import record as records
from duetime.core.times import HOUR, SECOND
from duetime.core.workflows import advance as advances
from duetime.core.workflows import decide as decides
from duetime.core.workflows import maps
from duetime.core.workflows import retry as retries
from duetime.core.workflows.run import LIVE, RunStatus, StepState
from duetime.engine.workflows import followups, progress, steps
from duetime.sqlite.run_store import SqliteRunStore
from tests.simulation.run_mutant import aimed_runs, pause, run_mutant

ADVANCE, END_OF, WITH_END = progress.advance, progress.end_of, advances._with_end
DECISION, RULE_MET = decides._decision, decides.rule_met
FILLED, LATE_SUCCESS, TAKEN_BACK = maps.filled, advances.late_success, retries._taken_back
PUT_RUNS, STEP_TASK, NEW_RUN = SqliteRunStore.put, steps.step_task, advances.new_run
RECORD_ENDS = followups.record_ends
FOLLOW_UP_WAKE, FOLLOW_UP_DONE = follow_ups.follow_up_wake, follow_ups.follow_up_done


# the row


@run_mutant
def no_revision_on_the_run():
    def put(store, runs):
        stored = store.get([run.id for run in runs])
        latest = [
            replace(run, revision=stored[run.id].revision + 1) if run.id in stored else run
            for run in runs
        ]
        return PUT_RUNS(store, latest)

    return patch.object(SqliteRunStore, "put", put)


@aimed_runs(ALLOWED=0.6, LOOK_EVERY=10 * SECOND, REDRIVEN=1.0, CANCELLED=0.5)
def recorded_after_the_end():
    def recording(definition, run, ends, **options):
        if run.status.final:
            run = replace(run, status=RunStatus.FAILED)
        return ADVANCE(definition, run, ends, **options)

    return patch.object(progress, "advance", recording)


@run_mutant
def death_over_success():
    """A task that has failed once counts as dead, although a later attempt has succeeded."""

    def dead(position, task):
        end = END_OF(position, task)
        failed = task.last_failure is not None
        return replace(end, state=StepState.DEAD) if end and failed else end

    return patch.object(progress, "end_of", dead)


@run_mutant
def run_without_a_wake():
    def unwatched(*run):
        return replace(NEW_RUN(*run), wake=None)

    return patch.object(advances, "new_run", unwatched)


# decisions


@run_mutant
def joins_counted():
    """A join counts ended steps, whichever they are."""

    def counted(definition, states, position):
        ended = sum(state not in LIVE for state in states)
        return ended >= len(definition.needs[position])

    return patch.object(decides, "_needs_ended", counted)


@run_mutant
def decided_before_all_needs():
    def any_ended(definition, states, position):
        needs = definition.needs[position]
        return not needs or any(states[need] not in LIVE for need in needs)

    return patch.object(decides, "_needs_ended", any_ended)


@run_mutant
def skip_not_passed_on():
    """A step that needs a skipped one runs."""

    def met(step, needs):
        return RULE_MET(step, ["s" if state in "xu" else state for state in needs])

    return patch.object(decides, "rule_met", met)


@run_mutant
def skip_cause_lost():
    """A step that a failure keeps from running looks like one whose condition is false."""

    def causeless(*args):
        state = DECISION(*args)
        return StepState.CONDITION if state is StepState.UPSTREAM else state

    return patch.object(decides, "_decision", causeless)


@run_mutant
def finally_forgotten_on_cancel():
    def stopped(run, step):
        return run.status is RunStatus.CANCELLING

    return patch.object(decides, "_is_stopped", stopped)


# retries and late successes


@run_mutant
def retry_forgets_stopped():
    def unstopped(definition, run, chosen):
        taken = TAKEN_BACK(definition, run, chosen)
        return {n for n in taken if run.states[n] != StepState.STOPPED}

    return patch.object(retries, "_taken_back", unstopped)


@run_mutant
def retry_forgets_downstream():
    def first_only(definition, run, chosen):
        taken = TAKEN_BACK(definition, run, chosen)
        return {n for n in taken if run.states[n] in retries.TAKEN_BACK}

    return patch.object(retries, "_taken_back", first_only)


@run_mutant
def late_success_resumes_a_stopped_run():
    def resuming(definition, run, position, moment):
        going = replace(run, stop=None, states=run.states.replace("f", "u"))
        return LATE_SUCCESS(definition, going, position, moment)

    return patch.object(advances, "late_success", resuming)


@run_mutant
def late_success_after_finally():
    """A dead step that succeeds resumes its run although others have reacted to its death."""

    def resuming(definition, run, position, moment):
        after = retries._downstream(definition, {position})
        if run.stop or StepState.STOPPED in run.states:
            return LATE_SUCCESS(definition, run, position, moment)
        name = definition.steps[position].name
        return retries.resumed(run, position, after, moment, name)

    return patch.object(advances, "late_success", resuming)


# maps


@run_mutant
def window_not_kept():
    def crowded(run, moment):
        filled = FILLED(run, moment)
        return replace(filled, states=filled.states.replace("w", "p", 1))

    return patch.object(maps, "filled", crowded)


@run_mutant
def item_passed_over():
    """The map leaves its last item out, and is over without it."""

    def passing(run, moment):
        if len(run.states) < 2 or run.states[-1] != "w":
            return FILLED(run, moment)
        filled = FILLED(replace(run, states=run.states[:-1]), moment)
        return replace(filled, states=filled.states + "w")

    return patch.object(maps, "filled", passing)


# the tasks of steps


@run_mutant
def step_ids_random():
    def anew(ports, *step):
        task = STEP_TASK(ports, *step)
        return replace(task, id=ports.chance.new_id(task.created_at))

    return patch.object(steps, "step_task", anew)


@aimed_runs(
    KINDS=["handler"],
    RULES=["all_succeeded"],
    FINALLY=[False],
    FAIL_FAST=[False],
    LOOK_EVERY=5 * SECOND,
    REDRIVEN=1.0,
    CANCELLED=0.0,
)
@contextmanager
def clears_any_end() -> Iterator[None]:
    """A follow-up that is done removes the watch of a newer end, too."""

    def careless(task):
        change = FOLLOW_UP_DONE(task)
        return replace(change, expect=Expect(statuses=FINISHED))

    def recorded(ports, tasks):
        if any(task.status is Status.SUCCEEDED and task.attempt > 1 for task in tasks):
            pause(ports)
        done = RECORD_ENDS(ports, tasks)
        if any(task.status is Status.DEAD for task in done):
            pause(ports)
        return done

    with (
        patch.object(followups, "record_ends", recorded),
        patch.object(progress, "follow_up_done", careless),
        patch("duetime.engine.followups.follow_up_done", careless),
    ):
        yield


@run_mutant
def follow_up_kept_too_far_ahead():
    """The watch of an ended task stays where it is, even if that is hours ahead."""

    def near(wake, now):
        return wake is not None and now <= wake.at <= now + 6 * HOUR

    return patch.object(records, "is_near", near)


@run_mutant
@contextmanager
def follow_up_left_as_dispatch() -> Iterator[None]:
    """The wake of a cancelled task that was not due stays a dispatch, years ahead."""

    def unmoved(task, now):
        due = task.status in (Status.PENDING, Status.ENQUEUED)
        return task.wake if due and FOLLOW_UP_WAKE(task, now) else FOLLOW_UP_WAKE(task, now)

    with (
        patch("duetime.core.steps.cancel.follow_up_wake", unmoved),
        patch("duetime.core.steps.suspend.follow_up_wake", unmoved),
    ):
        yield
