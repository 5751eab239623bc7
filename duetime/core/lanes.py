"""Lanes: one priority class each, with its own queue and its own executor."""

from enum import StrEnum

MAX_RECEIVES = 10  # of one message, before its queue moves it to the dead letters
KEPT_FOR = 14 * 24 * 3600  # seconds, in a queue or among the dead letters: the longest of SQS


class Lane(StrEnum):
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    @property
    def rank(self) -> int:
        """Its place in a wake key: the smaller, the earlier in a tick."""
        return _RANKS[self]

    @classmethod
    def ranked(cls, rank: int) -> "Lane":
        return _BY_RANK[rank]


_BY_RANK = tuple(Lane)
_RANKS = {lane: rank for rank, lane in enumerate(Lane)}
