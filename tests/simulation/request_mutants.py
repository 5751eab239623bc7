"""Mutants of what clients ask for: changes, bulk operations, unique keys."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from unittest.mock import patch

from duetime.core.change import Change
from duetime.core.steps import cancel as cancels
from duetime.core.steps import defer as deferrals
from duetime.core.task import Task
from duetime.sqlite.task_store import SqliteTaskStore
from tests.simulation import bulk_workload, change_workload, unique_workload
from tests.simulation.mutant import Mutant, aimed, careless, change_mutant, mutant

# Changes.


def _changed(**fields: Callable[[Task, Change], object]) -> AbstractContextManager[object]:
    """Replaces what a deferral writes to these fields."""

    def broken(wake_policy, task, wanted, **options):
        change = deferrals.defer(wake_policy, task, wanted, **options)
        sets = {name: value(task, change) for name, value in fields.items()}
        return replace(change, sets={**change.sets, **sets})

    return patch("duetime.engine.defer.defer", broken)


@change_mutant
def change_keeps_the_token_of_a_due_time():
    def kept(task: Task, change: Change) -> str:
        return task.token if task.due_at == change.sets["due_at"] else change.sets["token"]

    return _changed(token=kept)


@change_mutant
def change_keeps_the_wake():
    return _changed(wake=lambda task, change: task.wake)


@change_mutant
def change_keeps_the_budget():
    return _changed(budget=lambda task, change: task.budget)


@change_mutant
def change_without_a_condition():
    return patch("duetime.engine.defer.defer", careless(deferrals.defer))


@change_mutant
@contextmanager
def change_made_from_an_old_version() -> Iterator[None]:
    """The token is not expected, so that of two changes the second brings the old fields back."""

    def hasty(*args, **options):
        change = deferrals.defer(*args, **options)
        return replace(change, expect=replace(change.expect, token=None))

    with (
        patch.object(change_workload, "RUN_BESIDE", 1.0),
        patch("duetime.engine.defer.defer", hasty),
    ):
        yield


@change_mutant
def change_of_a_running_task():
    """The status is not expected, so that an attempt that has started counts as not sent."""

    def hasty(*args, **options):
        change = deferrals.defer(*args, **options)
        return replace(change, expect=replace(change.expect, statuses=None, attempt=None))

    return patch("duetime.engine.defer.defer", hasty)


# Bulk operations.


@mutant
def shift_repeated_without_its_mark():
    return patch("duetime.api.bulk_actions.is_marked", lambda task, mark: False)


@mutant
@aimed(often=("frozen", "slow"), SCHEDULES=[0])
@contextmanager
def shift_of_a_task_that_no_longer_matches() -> Iterator[None]:
    with (
        patch.multiple(change_workload, SHARES=[1.0]),
        patch.multiple(bulk_workload, SHARES=[1.0], TAGS=["shift"], SHIFTS=4, PAGE=50),
        patch("duetime.api.bulk_actions.unwanted", lambda task, wanted: None),
    ):
        yield


@mutant
@aimed(often=("frozen", "slow"), SCHEDULES=[0])
@contextmanager
def bulk_cancel_without_a_condition() -> Iterator[None]:
    """A task whose tags a client has changed since the page was read is cancelled."""

    def hasty(task, **options):
        change = cancels.cancel_seen(task, **options)
        return replace(change, expect=replace(change.expect, token=None))

    with (
        patch.multiple(change_workload, SHARES=[1.0]),
        patch.multiple(bulk_workload, SHARES=[1.0], TAGS=["cancel"], CANCELS=10, PAGE=50),
        patch("duetime.api.bulk_actions.cancel_seen", hasty),
    ):
        yield


@mutant
@aimed(often=("frozen", "slow"), SCHEDULES=[0])
@contextmanager
def discard_without_a_condition() -> Iterator[None]:
    """A task that was revived since the request read it is given up."""
    from duetime.core.steps import discard as discards

    with (
        patch.multiple(bulk_workload, SHARES=[1.0], DISCARDS=10),
        patch("duetime.api.bulk_actions.discard", careless(discards.discard)),
    ):
        yield


# Unique keys.


def unique(make: Mutant) -> Mutant:
    """Aims the worlds at unique keys: every submission has one of two."""

    @contextmanager
    def made() -> Iterator[None]:
        with patch.multiple(unique_workload, SHARES=[1], KEYS=2), make():
            yield

    made.__name__ = make.__name__
    return made


@mutant
@unique
def unique_key_taken_over_without_its_condition():
    take_keys = SqliteTaskStore.take_keys

    def careless(store, keys):
        return [take_keys(store, [_from_its_holder(store, key)])[0] for key in keys]

    def _from_its_holder(store, key):
        if key.instead_of is None:
            return key
        [holder] = take_keys(store, [replace(key, instead_of=None)])
        return replace(key, instead_of=holder)

    return patch.object(SqliteTaskStore, "take_keys", careless)


@mutant
@unique
def unique_key_taken_from_a_live_task():
    from duetime.core.steps.supersede import KeyState

    return patch("duetime.engine.unique.key_state", lambda task, key: KeyState.FREE)


@mutant
@unique
def unique_key_taken_from_a_dead_task_that_can_be_revived():
    from duetime.core.steps.supersede import KeyState, key_state

    def hasty(task, key):
        state = key_state(task, key)
        return KeyState.FREE if state is KeyState.DEAD else state

    return patch("duetime.engine.unique.key_state", hasty)


@mutant
@unique
def unique_key_taken_from_a_task_that_is_still_to_be_stored():
    return patch("duetime.engine.unique.UniqueTasks._is_abandoned", lambda *args: True)


@mutant
@unique
def unique_key_never_freed():
    from duetime.core.steps.supersede import KeyState

    return patch("duetime.engine.unique.key_state", lambda task, key: KeyState.HELD)
