"""Mutants of the tasks that handlers submit."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from unittest.mock import patch

from duetime.core import child_ids
from duetime.core.change import Applied
from duetime.engine import submission
from tests.simulation import child_workload
from tests.simulation.mutant import Mutant, mutant

MAKE_ID, CALL_OF, STORE = child_ids.child_id, child_ids.call_of, submission.store_tasks


def child_mutant(make: Mutant) -> Mutant:
    """Registers a mutant in whose worlds every handler submits others."""

    @contextmanager
    def made() -> Iterator[None]:
        with patch.object(child_workload, "SHARES", [1.0]), make():
            yield

    made.__name__ = make.__name__
    return mutant(made)


@child_mutant
def child_ids_of_each_attempt():
    def broken(parent, call, ordinal):
        return MAKE_ID(parent, (*call, str(parent.attempt)), ordinal)

    return patch.object(child_ids, "child_id", broken)


@child_mutant
def child_ids_drawn_at_random():
    numbers = count()

    def broken(parent, call, _ordinal):
        return MAKE_ID(parent, call, next(numbers))

    return patch.object(child_ids, "child_id", broken)


@child_mutant
def payload_in_the_id_of_a_step():
    def broken(step, handler, payload):
        if step is None:
            return CALL_OF(step, handler, payload)
        return CALL_OF(None, f"{step}/{handler}", payload)

    return patch.object(child_ids, "call_of", broken)


@child_mutant
def child_sent_and_not_stored():
    def broken(ports, tasks, requests):
        if all(task.spec.parent_id is None for task in tasks):
            return STORE(ports, tasks, requests)
        return [Applied(task) for task in tasks]

    return patch.object(submission, "store_tasks", broken)


@child_mutant
def child_stored_without_a_watch_and_not_sent():
    """The submission answers before it has sent anything, and nothing else sends it."""

    def broken(ports, tasks, requests):
        lost = [replace(t, wake=None) if t.spec.parent_id else t for t in tasks]
        return STORE(ports, lost, requests)

    return patch.multiple(submission, store_tasks=broken, enqueue_due=lambda ports, tasks: None)
