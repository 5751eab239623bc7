"""How a limit is used now: who holds it, who waits, and when its rate has a free slot."""

from duetime.core.limits.definition import Limit
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
    if limit.concurrency is None or ports.slots is None:
        return Usage()
    line = Line(namespace=limit.namespace, limit=limit.name, key=key)
    [state] = ports.slots.read([line])
    return Usage(holding=len(state.slots), waiting=ports.slots.count_waiting(line))


def is_used(ports: Ports, limit: Limit) -> bool:
    """Whether a task holds a slot of the limit, or waits in line for one, with any key."""
    return ports.slots is not None and ports.slots.in_use(limit.namespace, limit.name)
