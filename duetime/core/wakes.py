"""The wake index: buckets, shards and keys.

Whatever the scanner must look at again has a wake. Its bucket is one UTC minute and one shard;
its key sorts by kind, lane rank, time and id. A key is rewritten by every step that moves the
wake, so the key itself is the optimistic lock of a claim.
"""

from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from zlib import crc32

from lambdas.core.lanes import Lane
from lambdas.core.times import MINUTE, Millis
from lambdas.core.values import value


class WakeKind(StrEnum):
    DISPATCH = "d"  # send it at its time; read ahead of time
    SCHEDULE = "s"  # its next occurrence is near; not touched before its time, nor is a watch
    WATCH = "w"  # look whether all is well; never touched before its time


@value(frozen=True, kw_only=True, slots=True)
class Wake:
    kind: WakeKind
    lane: Lane
    at: Millis
    task_id: str  # or that of a schedule
    bucket: str

    @property
    def key(self) -> str:
        return f"{self.kind}#{self.lane.rank}#{self.at:013d}#{self.task_id}"

    def moved(self, kind: WakeKind, at: Millis) -> "Wake":
        """To another time, which has not passed, in the same shard."""
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
    """Readable, since operators meet it in the console: `20261116T0907#03`."""
    return f"{datetime.fromtimestamp(minute * 60, UTC):%Y%m%dT%H%M}#{shard:02d}"
