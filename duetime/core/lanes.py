"""Lanes: priority classes, each with its own queue and its own executor."""

from enum import StrEnum

MAX_RECEIVES = 10  # of one message, before its queue moves it to the dead-letter queue
MESSAGE_RETENTION = 14 * 24 * 3600  # seconds, in a queue or a dead-letter queue: the maximum of SQS


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
