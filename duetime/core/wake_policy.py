"""The numbers of the protocol, and how they place a wake."""

from lambdas.core.lanes import Lane
from lambdas.core.times import MINUTE, SECOND, Millis
from lambdas.core.values import value
from lambdas.core.wakes import Wake, WakeKind, bucket_of, minute_of, shard_of

LONGEST_HORIZON: Millis = 900 * SECOND  # SQS delays a message no longer
FIRST_WATCH: Millis = 2 * MINUTE
WATCH_SPREAD: Millis = 2 * MINUTE


@value(frozen=True, kw_only=True, slots=True)
class Draw:
    """Everything random that one decision may need, drawn by the caller."""

    luck: float  # [0, 1): jitter
    spread: float  # [0, 1): where in its range a watch falls
    nonce: str  # makes a token or a holder unique


@value(frozen=True, kw_only=True, slots=True)
class Rules:
    shards: int
    horizon: Millis = 4 * MINUTE  # a tick may come a minute late, and two may be missed

    def __post_init__(self) -> None:
        if self.shards < 1:
            raise ValueError("shards: at least 1")
        if not 0 < self.horizon <= LONGEST_HORIZON:
            raise ValueError(f"horizon: above 0 and at most {LONGEST_HORIZON} ms")

    def within_horizon(self, due_at: Millis, now: Millis) -> bool:
        return due_at - now <= self.horizon

    def place(self, task_id: str, lane: Lane, due_at: Millis, *, now: Millis, draw: Draw) -> Wake:
        """Within the horizon a delivery goes out at once and a watch stands behind it;
        beyond it the scanner dispatches the task at its time."""
        if self.within_horizon(due_at, now):
            return self.first_watch(task_id, lane, due_at, now=now, draw=draw)
        return self.wake(WakeKind.DISPATCH, task_id, lane, due_at, now=now)

    def first_watch(
        self, task_id: str, lane: Lane, due_at: Millis, *, now: Millis, draw: Draw
    ) -> Wake:
        at = max(due_at, now) + FIRST_WATCH + round(WATCH_SPREAD * draw.spread)
        return self.wake(WakeKind.WATCH, task_id, lane, at, now=now)

    def wake(self, kind: WakeKind, task_id: str, lane: Lane, at: Millis, *, now: Millis) -> Wake:
        """A wake to be written now: never in a minute that the scanner may have left behind."""
        bucket = bucket_of(minute_of(max(at, now)), shard_of(task_id, self.shards))
        return Wake(kind=kind, lane=lane, at=at, task_id=task_id, bucket=bucket)
