"""How a limit is used now: who holds it, who waits, and when its rate has a free slot."""

from collections.abc import Iterable

from duetime.core.errors import Corrupt
from duetime.core.limits.definition import Limit
from duetime.core.limits.hand_over import is_void
from duetime.core.limits.rate import RateKey, next_slot
from duetime.core.limits.slots import Line, LineState
from duetime.core.ports import Ports
from duetime.core.times import Millis
from duetime.core.value import value
from duetime.core.wakes import TASK_WAKES

FEW_WAKES = 500


@value(frozen=True, kw_only=True, slots=True)
class Usage:
    """Of one key of a limit. None: not known."""

    holding: int | None = None  # running tasks
    waiting: int | None = None  # tasks in line
    next_slot: Millis | None = None  # when its rate lets the next task start


def usage_of(ports: Ports, limit: Limit, key: str) -> Usage:
    holding = waiting = next_start = None
    if limit.concurrency is not None and ports.slots:
        line = Line(namespace=limit.namespace, limit=limit.name, key=key)
        states = ports.slots.read([line])
        holding, waiting = _holding(ports, states), ports.slots.count_waiting(line)
    if limit.rate is not None and ports.rates:
        [rate] = ports.rates.states([RateKey(namespace=limit.namespace, name=limit.name, key=key)])
        next_start = next_slot(rate, limit.rate, ports.clock.now())
    return Usage(holding=holding, waiting=waiting, next_slot=next_start)


def is_used(ports: Ports, limit: Limit) -> bool:
    """Whether a task holds a slot of the limit, or waits in line for one, with any key. The keys
    are those of the live tasks; if there are too many, the store of the slots answers."""
    if ports.slots is None:
        return False
    try:
        keys = _keys_of_live_tasks(ports, limit)
        if keys is None:
            return ports.slots.in_use(limit.namespace, limit.name)
        lines = [Line(namespace=limit.namespace, limit=limit.name, key=key) for key in keys]
        states = ports.slots.read(lines)
        return any(state.places for state in states) or _holding(ports, states) > 0
    except Corrupt:
        return ports.slots.in_use(limit.namespace, limit.name)


def _keys_of_live_tasks(ports: Ports, limit: Limit) -> set[str] | None:
    """Returns the keys with which live tasks name a limit, and the empty one; None if there are too
    many tasks to read."""
    wakes = ports.store.few_wakes(FEW_WAKES)
    if wakes is None:
        return None
    tasks = ports.store.get([wake.task_id for wake in wakes if wake.kind in TASK_WAKES])
    specs = [task.spec for task in tasks.values() if task.spec.namespace == limit.namespace]
    return {""} | {use.key for spec in specs for use in spec.limits if use.name == limit.name}


def _holding(ports: Ports, states: Iterable[LineState]) -> int:
    """Returns how many slots are taken by attempts that run or may start: one that has ended may
    have left its slot to the next task."""
    slots = [slot for state in states for slot in state.slots]
    holders = ports.store.get([slot.task_id for slot in slots]) if slots else {}
    return sum(not is_void(slot, holders.get(slot.task_id)) for slot in slots)
