"""The wake policy: the shard count, the horizon and the age of a promotion, and where they place a
wake."""

from duetime.core.lanes import Lane
from duetime.core.times import HOUR, MINUTE, SECOND, Millis
from duetime.core.value import value
from duetime.core.wakes import Wake, WakeKind, bucket_of, minute_of, shard_of

LONGEST_HORIZON: Millis = 900 * SECOND  # the longest delay of an SQS message
FIRST_WATCH: Millis = 2 * MINUTE
WATCH_SPREAD: Millis = 2 * MINUTE
AGE_AFTER: Millis = HOUR  # by default
AGING_SPREAD: Millis = 10 * SECOND  # or a tenth of `age_after`, if that is less


@value(frozen=True, kw_only=True, slots=True)
class Draw:
    """The random input of one decision, drawn by the caller."""

    luck: float  # [0, 1): jitter
    spread: float  # [0, 1): position of a watch within its range
    nonce: str  # makes a token or a holder unique


@value(frozen=True, kw_only=True, slots=True)
class WakePolicy:
    """`age_after` is how long a task waits in its lane before it is promoted; 0: for ever."""

    shards: int
    horizon: Millis = 4 * MINUTE  # covers a tick that is a minute late, and two missed ticks
    age_after: Millis = AGE_AFTER

    def __post_init__(self) -> None:
        if self.shards < 1:
            raise ValueError("shards: at least 1")
        if not 0 < self.horizon <= LONGEST_HORIZON:
            raise ValueError(f"horizon: above 0 and at most {LONGEST_HORIZON} ms")
        if self.age_after < 0:
            raise ValueError("age_after: at least 0")

    def within_horizon(self, due_at: Millis, now: Millis) -> bool:
        return due_at - now <= self.horizon

    def place(self, task_id: str, lane: Lane, due_at: Millis, *, now: Millis, draw: Draw) -> Wake:
        """Returns a watch for a task that is due within the horizon, since its delivery is sent
        at once; otherwise the wake at which the scanner dispatches the task."""
        if self.within_horizon(due_at, now):
            return self.first_watch(task_id, lane, due_at, now=now, draw=draw)
        return self.wake(WakeKind.DISPATCH, task_id, lane, due_at, now=now)

    def first_watch(
        self,
        task_id: str,
        lane: Lane,
        due_at: Millis,
        *,
        now: Millis,
        draw: Draw,
        visible_at: Millis = 0,
    ) -> Wake:
        """Returns the watch of a delivery that is sent now, and held back until `visible_at`."""
        at = max(due_at, visible_at, now) + FIRST_WATCH + round(WATCH_SPREAD * draw.spread)
        return self.watch(task_id, lane, at, since=due_at, now=now, draw=draw)

    def watch(
        self, task_id: str, lane: Lane, at: Millis, *, since: Millis, now: Millis, draw: Draw
    ) -> Wake:
        """Returns the watch of a task that waits in its lane since a time. It is not later than
        `age_after` from then. If that has passed, the task gets the same time once more, since its
        message has only just been sent.

        These watches are spread, too: of two scanners that write one for the same task, the second
        must not take the wake of the first for its own."""
        if self.age_after and lane is not Lane.HIGH:
            start = now if self.is_aged(since, now) else since
            spread = round(self._aging_spread * draw.spread)
            at = min(at, start + self.age_after - spread)
        return self.wake(WakeKind.WATCH, task_id, lane, at, now=now)

    def is_aged(self, since: Millis, now: Millis) -> bool:
        """Whether a task that waits since a time is to be promoted."""
        aged_at = since + self.age_after - self._aging_spread
        return bool(self.age_after) and aged_at <= now

    @property
    def _aging_spread(self) -> Millis:
        return min(AGING_SPREAD, self.age_after // 10)

    def wake(self, kind: WakeKind, task_id: str, lane: Lane, at: Millis, *, now: Millis) -> Wake:
        """Returns a wake to be written now. Its bucket is never in the past, where the scanner may
        not look again."""
        bucket = bucket_of(minute_of(max(at, now)), shard_of(task_id, self.shards))
        return Wake(kind=kind, lane=lane, at=at, task_id=task_id, bucket=bucket)
