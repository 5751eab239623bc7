"""Ordered keys: tasks with one ordering key start one at a time, in the order of their due times.

An ordering key is a line with one slot. A task joins it when it is submitted, before it is stored,
so no later task can find the line without it. The slot names the task, not one of its deliveries:
it keeps the slot through its retries, and hands it over when it has ended.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from duetime.core.change import Answer, Refused
from duetime.core.limits.slots import Line, Place
from duetime.core.ports import Ports
from duetime.core.task import Task
from duetime.core.times import Millis
from duetime.engine.lines import order_line, place_of, store_of


def in_batch_order(tasks: Sequence[Task]) -> list[Task]:
    """Returns the tasks of one batch so that those with one ordering key and one due time keep the
    order of the batch: each is a millisecond behind the one before."""
    before: Counter[tuple[str, str, Millis]] = Counter()
    ordered = []
    for task in tasks:
        spec = task.spec
        if spec.ordering_key is not None:
            same = (spec.namespace, spec.ordering_key, task.due_at)
            spec = replace(spec, order_at=task.due_at + before[same])
            before[same] += 1
        ordered.append(replace(task, spec=spec))
    return ordered


def put_in_order(
    ports: Ports, tasks: Sequence[Task], put: Callable[[], list[Answer]]
) -> list[Answer]:
    """Puts the places of tasks with an ordering key, then the tasks. A task that was stored before
    has a place of its own. If the process dies before the tasks are stored, their places are passed
    after a minute; raises Unavailable if a place may not have been put."""
    if ports.slots is None:
        return put()
    now = ports.clock.now()
    places = [_place(task) if task.spec.ordering_key is not None else None for task in tasks]
    store_of(ports).join([(line, replace(p, since=now)) for line, p in filter(None, places)])
    answers = put()
    left = [
        pair
        for pair, answer in zip(places, answers, strict=True)
        if pair and isinstance(answer, Refused) and not _is_place_of(answer.stored, pair)
    ]
    if left:
        store_of(ports).leave(left)
    return answers


def _place(task: Task) -> tuple[Line, Place]:
    line = order_line(task.spec.namespace, task.spec.ordering_key or "")
    return line, place_of(line, task)


def _is_place_of(stored: Task | None, pair: tuple[Line, Place]) -> bool:
    """Whether a place is that of a stored task that is still to start."""
    if stored is None or stored.attempt > 0 or stored.status.finished:
        return False
    return stored.spec.ordering_key is not None and _place(stored) == pair
