"""Mutants of tasks that start with their submission."""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from duetime.core.steps.lease import lease_new
from duetime.core.value import replace
from duetime.executor.executor import Executor
from duetime.executor.new_tasks import NewTasks
from duetime.sqlite.bulk_sql import ID, Columns, row_by_row
from duetime.sqlite.new_rows import with_leases
from tests.simulation.mutant import Mutant, aimed, mutant

WAKE = ("wake_bucket", "wake_key")  # columns


def new_task_mutant(make: Mutant) -> Mutant:
    """Registers a mutant in whose worlds batches are submitted to runners."""
    return mutant(make, batches=12)


@new_task_mutant
@aimed(often=("unanswered", "answer_lost"), SCHEDULES=[0])
def unanswered_start_begins():
    """The run begins although the store has not said that its task is stored."""
    finish = NewTasks.finish

    def hopeful(new):
        finish(new)
        if new.error is not None:
            new.stored, new.error = True, None

    return patch.object(NewTasks, "finish", hopeful)


@new_task_mutant
@aimed(often=("answer_lost",), SCHEDULES=[0])
def starts_although_an_id_is_taken():
    finish = NewTasks.finish

    def careless(new):
        finish(new)
        if new.stored is False:
            new.stored = True

    return patch.object(NewTasks, "finish", careless)


@new_task_mutant
def starts_a_task_that_is_not_due():
    return patch("duetime.local.batches.submission.can_start", lambda task, now: True)


@new_task_mutant
@aimed(often=("frozen",), SCHEDULES=[0])
def lease_counts_from_the_answer():
    """An executor that was frozen while it stored a task takes its lease for a new one."""
    begin_new = Executor._begin_new

    def fresh(executor, new, leased, written):
        begin_new(executor, new, replace(leased, asked_at=executor._clock.monotonic()), written)

    return patch.object(Executor, "_begin_new", fresh)


@new_task_mutant
def started_task_is_not_watched():
    return _unwatched()


@contextmanager
def _unwatched() -> Iterator[None]:
    def tasks_without(tasks, **options):
        return [replace(task, wake=None) for task in lease_new(tasks, **options)]

    def rows_without(rows, leased):
        columns, ids = with_leases(rows, leased).columns, [task.id for task in leased]
        width = len(columns.own)
        own = {name: list(columns.values[n::width]) for n, name in enumerate(columns.own)}
        shared = dict(columns.shared)
        for name in WAKE:
            values = own.setdefault(name, [shared.pop(name, None)] * len(own[ID]))
            values[: len(ids)] = [None] * len(ids)
        columns = Columns(shared=shared, own=tuple(own), values=row_by_row(own.values()))
        return replace(rows, columns=columns)

    with (
        patch("duetime.executor.new_tasks.lease_new", tasks_without),
        patch("duetime.local.batches.submission.with_leases", rows_without),
    ):
        yield
