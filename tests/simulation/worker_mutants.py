"""Mutants of the leases of HTTP workers."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

from duetime.core.lifecycle import Status
from duetime.core.steps import watch as watches
from duetime.core.steps.lease import held_by_worker
from duetime.engine.refusal import Refusal
from duetime.executor.remote_attempts import RemoteAttempts
from duetime.executor.remote_executor import RemoteExecutor
from duetime.executor.remote_leases import RemoteLeases
from duetime.executor.running_attempts import RunningAttempts
from tests.simulation import worker_draws
from tests.simulation.mutant import Mutant, mutant


def worker_mutant(*, restarts: int = 0, liar: bool = False):
    """Registers a mutant in whose worlds there are HTTP workers."""

    def register(make: Mutant) -> Mutant:
        @contextmanager
        def made() -> Iterator[None]:
            with patch.multiple(worker_draws, RESTARTS=[restarts], LIARS=[liar]), make():
                yield

        made.__name__ = make.__name__
        return mutant(made, workers=2)

    return register


@worker_mutant(restarts=3)
@contextmanager
def outcome_of_a_lost_worker() -> Iterator[None]:
    """The runner remembers every lease, and what it remembers counts more than what is stored."""
    begin, find, record = RunningAttempts.begin, RunningAttempts.find, RemoteExecutor._record
    begun = {}

    def remembered(attempts, run, worker, leased):
        begun[run.holder] = attempt = begin(attempts, run, worker, leased)
        return attempt

    def found(attempts, worker, leases):
        known = zip(leases, find(attempts, worker, leases), strict=True)
        return [begun.get(h, a) if isinstance(a, Refusal) else a for (_, h), a in known]

    def careless(executor, end, now):
        change = record(executor, end, now)
        return replace(change, expect=replace(change.expect, holder=None, attempt=None))

    with (
        patch.multiple(RunningAttempts, begin=remembered, find=found),
        patch.object(RemoteExecutor, "_record", careless),
    ):
        yield


@worker_mutant(restarts=3)
def recover_ends_remote_leases():
    return patch("duetime.core.steps.lease.held_by_worker", lambda task: False)


@worker_mutant(restarts=3)
@contextmanager
def recover_forgets_remote_watch() -> Iterator[None]:
    """Neither the store nor the memory of the next runner says when the lease ends."""
    recover = watches.recover_orphan

    def forgetful(wake_policy, task, *, now):
        remote = task.status is Status.RUNNING and held_by_worker(task)
        return None if remote else recover(wake_policy, task, now=now)

    with (
        patch("duetime.sqlite.task_store.recover_orphan", forgetful),
        patch.object(RemoteAttempts, "adopt", lambda attempts, tasks: None),
    ):
        yield


@worker_mutant()
def lease_answer_lost_leases_twice():
    return patch.object(RemoteLeases, "_known_answer", lambda leases, wanted: None)


@worker_mutant(liar=True)
def task_id_is_enough_to_hold_a_lease():
    """The runner asks for no holder."""
    return _believed(lambda attempt, worker, holder: True)


@worker_mutant(liar=True)
def name_of_the_worker_is_enough_to_hold_a_lease():
    """The runner compares the names, but not the random bits."""
    return _believed(lambda attempt, worker, holder: attempt.worker == worker)


def _believed(believes):
    find = RunningAttempts.find

    def found(attempts, worker, leases):
        running = {attempt.run.task.id: attempt for attempt in attempts._attempts.values()}
        return [
            attempt
            if (attempt := running.get(task_id)) and believes(attempt, worker, holder)
            else find(attempts, worker, [(task_id, holder)])[0]
            for task_id, holder in leases
        ]

    return patch.object(RunningAttempts, "find", found)
