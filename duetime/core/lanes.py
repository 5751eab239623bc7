"""Lanes: priority classes, each with its own queue and its own executor. A pool has queues of its
own, one for each lane, which only its workers read."""

import re
from enum import StrEnum
from typing import NamedTuple

MAX_RECEIVES = 10  # of one message, before its queue moves it to the dead-letter queue
MESSAGE_RETENTION = 14 * 24 * 3600  # seconds, in a queue or a dead-letter queue: the maximum of SQS
MAX_POOLS = 10  # of a stage or a runner
POOL_NAME = re.compile(r"[a-z][a-z0-9-]{0,31}")
QUEUE = r"^([a-z][a-z0-9-]{0,31}/)?(high|medium|low)$"  # the text of a queue
POOL_NAME_RULE = "must be at most 32 of a-z, 0-9 and -, and begin with a letter"


class Lane(StrEnum):
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    @property
    def rank(self) -> int:
        """Its position in a wake key: a tick handles lower ranks first."""
        return _RANKS[self]

    @classmethod
    def ranked(cls, rank: int) -> "Lane":
        return _BY_RANK[rank]


_BY_RANK = tuple(Lane)
_RANKS = {lane: rank for rank, lane in enumerate(Lane)}


class Queue(NamedTuple):
    """What holds the messages of one lane: of a pool, or of the tasks without a pool. Its text is
    `high`, or `batch/high` of a pool."""

    lane: Lane
    pool: str | None = None

    def __str__(self) -> str:
        return self.lane.value if self.pool is None else f"{self.pool}/{self.lane.value}"

    @classmethod
    def parse(cls, text: str) -> "Queue":
        """Raises ValueError if there is no such lane, or the name of the pool is not valid."""
        pool, slash, lane = text.rpartition("/")
        if slash and not POOL_NAME.fullmatch(pool):
            raise ValueError(f"{text!r} is not the name of a queue")
        return cls(Lane(lane), pool if slash else None)


def queue_in(text: object) -> Queue:
    """Reads a queue that a client names. Raises ValueError, whose message is for the client."""
    try:
        return Queue.parse(str(text))
    except ValueError:
        raise ValueError(f"must be one of {', '.join(Lane)}, or of a pool: batch/high") from None


_WITHOUT_POOL = {lane: Queue(lane) for lane in Lane}


def queue_of(lane: Lane, pool: str | None) -> Queue:
    """Returns a queue; those of tasks without a pool are created once."""
    return _WITHOUT_POOL[lane] if pool is None else Queue(lane, pool)


def queues_of(pool: str | None) -> list[Queue]:
    """Returns the queues of a pool, or of the tasks without one, by rank."""
    return [queue_of(lane, pool) for lane in Lane]
