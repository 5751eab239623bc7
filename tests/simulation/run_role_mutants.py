"""Mutants of workflow runs: the order of reads and writes, the gate, and what a task waits for."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

from duetime.core.lifecycle import Status
from duetime.core.steps.follow_up import follow_up_done
from duetime.core.suspension import Suspension, WaitsFor
from duetime.core.times import SECOND
from duetime.core.workflows.advance import End
from duetime.core.workflows.reconcile import task_id_at
from duetime.core.workflows.run import StepState, StopReason, step_task_id
from duetime.core.workflows.watches import reported
from duetime.engine.workflows import callbacks, outputs, progress, requests, waits
from duetime.engine.workflows.callbacks import TokenState
from duetime.engine.workflows.definitions import definitions_of, run_store
from duetime.executor import step_attempt
from duetime.executor.run_gate import RunGate
from tests.simulation.run_mutant import aimed_runs, pause, run_mutant

ACTIONS, ADVANCED = progress.reconcile_actions, progress._advanced
AFTER_WRITE = progress.after_write
REVIVE, RECONCILE = requests._revive, requests.reconcile
WAIT_FOR_RUN, REPORT_END, TOKEN_STATE = waits.wait_for_run, waits.report_end, callbacks.token_state
NESTED = ["workflow", "workflow", "map", "handler"]


@run_mutant
@contextmanager
def no_cancelled_placeholder() -> Iterator[None]:
    """A step of a cancelled run that has no task counts as cancelled."""
    missing = {}

    def without(definition, run, tasks):
        repairs = ACTIONS(definition, run, tasks)
        missing[run.id] = [
            End(position=n, state=StepState.CANCELLED, task_id=task_id_at(definition, run, n))
            for n in repairs.placeholders
        ]
        return replace(repairs, placeholders=[])

    def ending(ports, definition, run, ends):
        return ADVANCED(ports, definition, run, [*ends, *missing.pop(run.id, ())])

    with (
        patch.object(progress, "reconcile_actions", without),
        patch.object(progress, "_advanced", ending),
    ):
        yield


@run_mutant
def fail_fast_leaves_running_steps():
    def lenient(definition, run, tasks):
        repairs = ACTIONS(definition, run, tasks)
        fast = run.stop is StopReason.FAIL_FAST
        return replace(repairs, cancels=[]) if fast else repairs

    return patch.object(progress, "reconcile_actions", lenient)


@run_mutant
def no_gate_before_the_lease():
    return patch.object(RunGate, "admit", lambda gate, due: list(due))


@run_mutant
def results_of_an_earlier_generation():
    def first(run, *place):
        return step_task_id(replace(run, generations=""), *place)

    return patch.object(outputs, "step_task_id", first)


# orders


@aimed_runs(
    often=("message_late",),
    KINDS=["handler"],
    LOOK_EVERY=5 * SECOND,
    RETRIED=1.0,
    CANCELLED=0.0,
)
def task_read_before_its_run():
    def swapped(ports, tasks):
        store = run_store(ports)
        fresh = ports.store.get([task.id for task in tasks])
        pause(ports)
        runs = store.get(list({task.spec.step.run_id for task in tasks}))
        definitions = definitions_of(ports, runs.values())
        by_run = defaultdict(list)
        for task in fresh.values():
            if task.status.finished and task.spec.step.run_id in runs:
                by_run[task.spec.step.run_id].append(task)
        return [
            progress._Group(run=runs[i], definition=definitions[runs[i].spec.digest], tasks=found)
            for i, found in by_run.items()
        ], []

    return patch.object(progress, "_read", swapped)


@aimed_runs(often=("killed",), LOOK_EVERY=20 * SECOND, RETRIED=1.0, CANCELLED=0.0)
@contextmanager
def run_resumed_before_its_steps() -> Iterator[None]:
    """The row of the next attempt is written, and then the dead tasks are revived."""
    later = {}

    def not_yet(ports, definition, run, positions, revived):
        later[run.id, run.attempt + 1] = (definition, run, positions)
        return dict.fromkeys(positions, Status.RETRYING)

    def then(ports, runs, **options):
        for run in runs:
            REVIVE(ports, *later.pop((run.id, run.attempt)), [])
        return RECONCILE(ports, runs, **options)

    with patch.object(requests, "_revive", not_yet), patch.object(requests, "reconcile", then):
        yield


@run_mutant
def cleared_before_dependents_created():
    def clearing(ports, definition, before, after):
        pairs = zip(before.states, after.states, strict=True) if before else ()
        ended = [n for n, (old, new) in enumerate(pairs) if old == "p" != new]
        tasks = ports.store.get([task_id_at(definition, after, n) for n in ended]) if ended else {}
        done = [follow_up_done(t) for t in tasks.values() if t.status.finished and t.has_follow_up]
        ports.store.apply(done)
        return AFTER_WRITE(ports, definition, before, after)

    return patch.object(progress, "after_write", clearing)


# tasks that wait


@aimed_runs(KINDS=NESTED)
def suspended_after_the_start():
    """The run begins before the task that waits for it is suspended."""

    def eager(ports, task):
        found = WAIT_FOR_RUN(ports, task)
        if isinstance(found, Suspension) and found.run_attempt == 1:
            waits._create(ports, task)
        return found

    return patch.object(step_attempt, "wait_for_run", eager)


@aimed_runs(
    often=("unanswered", "killed"),
    KINDS=["workflow"],
    LOOK_EVERY=20 * SECOND,
    REDRIVEN=1.0,
    CANCELLED=0.0,
)
def resumed_without_the_run_attempt():
    def any_attempt(task, run):
        waited = task.suspended
        return task.status is Status.WAITING and waited is not None and waited.id == run.id

    return patch.object(waits, "_waits_for", any_attempt)


@aimed_runs(KINDS=NESTED)
def reported_after_the_wake():
    """The wake of an ended run is removed, and then the task that waits for it is resumed."""

    def unwatched(ports, run):
        if run.wake is not None:
            run_store(ports).put([reported(run, now=ports.clock.now())])
        REPORT_END(ports, replace(run, wake=None))

    return patch.object(waits, "report_end", unwatched)


@aimed_runs(KINDS=["callback", "callback", "handler"])
@contextmanager
def callback_of_an_earlier_attempt() -> Iterator[None]:
    def any_token(token, task):
        waited = task.suspended
        if task.status is Status.WAITING and waited and waited.kind is WaitsFor.CALLBACK:
            return TokenState.WAITED_FOR
        return TOKEN_STATE(token, task)

    with patch("duetime.api.callbacks.token_state", any_token):
        yield
