"""How a limit is used now: who holds it, who waits, and when its rate has a free slot."""

from duetime.core.limits.definition import Limit
from duetime.core.limits.rate import RateKey, next_slot
from duetime.core.limits.slots import Line
from duetime.core.ports import Ports
from duetime.core.times import Millis
from duetime.core.value import value


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
        [state] = ports.slots.read([line])
        holding, waiting = len(state.slots), ports.slots.count_waiting(line)
    if limit.rate is not None and ports.rates:
        [rate] = ports.rates.states([RateKey(namespace=limit.namespace, name=limit.name, key=key)])
        next_start = next_slot(rate, limit.rate, ports.clock.now())
    return Usage(holding=holding, waiting=waiting, next_slot=next_start)


def is_used(ports: Ports, limit: Limit) -> bool:
    """Whether a task holds a slot of the limit, or waits in line for one, with any key."""
    return ports.slots is not None and ports.slots.in_use(limit.namespace, limit.name)
