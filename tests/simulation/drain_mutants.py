"""Mutants of draining, and of runs that outlast their messages."""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from duetime.core.delivery import delivery_of
from duetime.core.lifecycle import Outcome
from duetime.core.times import DAY
from duetime.executor.attempt_loop import AttemptLoop
from duetime.executor.runs import interrupted
from tests.simulation import drain_workload, run_workload
from tests.simulation.mutant import Mutant, mutant


def drain_mutant(make: Mutant) -> Mutant:
    """Registers a mutant whose worlds drain every executor."""
    return mutant(make, drained=1.0)


@drain_mutant
def interrupted_uses_an_attempt():
    return patch("duetime.core.steps.record.UNCOUNTED", frozenset({Outcome.SNOOZED}))


@drain_mutant
def drain_records_before_the_kill():
    def hasty(loop, running, now):
        running.run.control.force_stop()
        del loop._running[running.run.holder]
        loop._record_retries.append((now, interrupted(running.run)))

    return patch.object(AttemptLoop, "_stop_drained", hasty)


@drain_mutant
@contextmanager
def long_run_leaves_no_dead_letter() -> Iterator[None]:
    with (
        patch.object(drain_workload, "HIDDEN", [10]),
        patch("duetime.core.steps.follow_up.outlasts_message", lambda spec: False),
    ):
        yield


@drain_mutant
@contextmanager
def dead_letter_not_noted_before_it_is_sent() -> Iterator[None]:
    """An executor that receives it takes it for an old copy."""
    with (
        patch.object(drain_workload, "HIDDEN", [10]),
        patch(
            "duetime.engine.followups.dead_letter_of",
            _written_later,
        ),
    ):
        yield


@drain_mutant
@contextmanager
def late_dead_letter_counts_as_sent() -> Iterator[None]:
    """An executor that receives it takes it for a redriven one."""
    with (
        patch.object(drain_workload, "HIDDEN", [10]),
        patch("duetime.engine.followups.SEND_TAKES", DAY),
    ):
        yield


@mutant
@contextmanager
def reconciled_step_leaves_no_dead_letter() -> Iterator[None]:
    """A run that is reconciled takes the watch from a dead step before its dead letter is sent."""
    with (
        patch.object(drain_workload, "HIDDEN", [10]),
        patch.object(run_workload, "RUNS", [5]),
        patch("duetime.engine.workflows.progress.lacks_dead_letter", lambda task: False),
    ):
        yield


def _written_later(task):
    return delivery_of(task, task.sends + 1)
