"""Writes of others that come just before those of the API."""

from collections.abc import Callable, Iterator

from duetime.core.change import Answer, Change
from duetime.core.task import Task
from tests.api.service import Service


def overtaken_by(service: Service, *steps: Change) -> None:
    """Makes one of these changes before each write of the API."""
    left: Iterator[Change] = iter(steps)
    store = service.store

    def answer(change: Change) -> Answer | None:
        if change not in steps and (step := next(left, None)):
            store.apply([step])
        return None

    store.apply_answer = answer


def meanwhile(service: Service, *writes: Callable[[Task], Change | None]) -> None:
    """Makes one of these writes just before each of the next writes of the API."""
    left = list(writes)

    def overtake(change: Change) -> Answer | None:
        if left and (write := left.pop(0)(service.store.get([change.task_id])[change.task_id])):
            service.store._store.apply([write])
        return None

    service.store.apply_answer = overtake
