"""The wake index: buckets, shards and keys.

Every row that the scanner must look at again has a wake. Its bucket is one UTC minute and one
shard; its key sorts by kind, lane rank, time and id. Every step that moves the wake rewrites the
key, so the key is the optimistic lock of a claim.
"""

from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from zlib import crc32

from duetime.core.lanes import Lane
from duetime.core.times import MINUTE, Millis
from duetime.core.value import value


class WakeKind(StrEnum):
    DISPATCH = "d"  # enqueue the task; read up to a horizon before its time
    SCHEDULE = "s"  # materialise the next occurrence; read at its time, as are the next two
    WATCH = "w"  # check whether the task makes progress
    RUN = "r"  # check whether a workflow run makes progress
    LINE = "l"  # check whether a free slot and a waiting task have missed each other


TASK_WAKES = (WakeKind.DISPATCH, WakeKind.WATCH)


@value(frozen=True, kw_only=True, slots=True)
class Wake:
    kind: WakeKind
    lane: Lane
    at: Millis
    task_id: str  # or the id of a schedule, a run or a line
    bucket: str

    @property
    def key(self) -> str:
        return f"{self.kind}#{self.lane.rank}#{self.at:013d}#{self.task_id}"

    def moved(self, kind: WakeKind, at: Millis) -> "Wake":
        """Returns the wake at another time, which must not have passed, in the same shard."""
        bucket = bucket_of(minute_of(at), int(self.bucket.partition("#")[2]))
        return replace(self, kind=kind, at=at, bucket=bucket)


def parse_wake(bucket: str, key: str) -> Wake:
    kind, rank, at, task_id = key.split("#")
    return Wake(
        kind=WakeKind(kind),
        lane=Lane.ranked(int(rank)),
        at=int(at),
        task_id=task_id,
        bucket=bucket,
    )


def minute_of(at: Millis) -> int:
    return at // MINUTE


def shard_of(task_id: str, shards: int) -> int:
    return crc32(task_id.encode()) % shards


@lru_cache(maxsize=1_024)
def bucket_of(minute: int, shard: int) -> str:
    """Returns the key of a bucket, readable for operators: `20261116T0907#03`."""
    return f"{datetime.fromtimestamp(minute * 60, UTC):%Y%m%dT%H%M}#{shard:02d}"
