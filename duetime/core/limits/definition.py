"""A limit, and how a task names the limits that it is under."""

from enum import StrEnum

from duetime.core.times import Millis
from duetime.core.value import value

MAX_LIMIT_NAME = 64  # characters, as the next
MAX_LIMIT_KEY = 128
MAX_ORDERING_KEY = 128
MAX_FAIRNESS_KEY = 128
MAX_LIMITS = 2  # of one task: at most one with a rate, and one with a concurrency
MAX_CONCURRENCY = 100


class OnFull(StrEnum):
    """What happens to a task that reaches a full limit."""

    QUEUE = "queue"  # it waits for its place
    SKIP = "skip"  # it is cancelled
    CANCEL = "cancel"  # the oldest holder is cancelled, and it waits for that place


class OnDead(StrEnum):
    """What a dead task does to the tasks behind it with the same ordering key."""

    CONTINUE = "continue"  # the next one starts
    BLOCK = "block"  # they wait until it is retried and ends, or is discarded


@value(frozen=True, kw_only=True, slots=True)
class Rate:
    """At most `count` starts in each `period`, and `burst` more after a pause."""

    count: int
    period: Millis
    burst: int = 0


@value(frozen=True, kw_only=True, slots=True)
class Limit:
    """A named limit of a namespace. Each key that tasks use it with is counted on its own."""

    namespace: str
    name: str
    rate: Rate | None = None
    concurrency: int | None = None
    draining: bool = False  # no new task may name it; it is deleted when it is not in use
    created_at: Millis = 0
    updated_at: Millis = 0


@value(frozen=True, kw_only=True, slots=True)
class LimitUse:
    """A limit that a task is under. Without a key, all such tasks share one count."""

    name: str
    key: str = ""
    on_full: OnFull = OnFull.QUEUE
