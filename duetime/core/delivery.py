"""A delivery: one message for one due time in one lane, named by its token."""

from collections.abc import Sequence
from zlib import crc32

from duetime.core.lanes import MAX_RECEIVES, Lane, Queue, queue_of
from duetime.core.limits.definition import LimitUse
from duetime.core.occurrence import Occurrence
from duetime.core.step_ref import StepRef
from duetime.core.task import Task
from duetime.core.times import CLOCK_SKEW, MINUTE, SECOND, Millis
from duetime.core.value import value
from duetime.core.wakes import Wake

MIN_REDRIVE_AGE: Millis = MINUTE
DEAD_LETTER_DELAY: Millis = SECOND  # after the first receive; doubles with each further one
LONGEST_DEAD_LETTER_DELAY: Millis = 10 * SECOND


@value(frozen=True, kw_only=True, slots=True)
class Limits:
    """The limits that the executor checks before the attempt starts."""

    namespace: str
    uses: tuple[LimitUse, ...] = ()
    ordering_key: str | None = None
    order_at: Millis | None = None
    grant: Millis | None = None  # when its rate limit lets it start


@value(frozen=True, kw_only=True, slots=True)
class Delivery:
    task_id: str
    token: str
    attempt: int  # the attempt that this delivery may start
    lane: Lane
    written_at: Millis
    timeout: float  # seconds that the attempt may take
    pool: str | None = None
    not_before: Millis = 0  # it starts no earlier: overdue work is spread out, and rates have slots
    occurrence: Occurrence | None = None  # of the first attempt: see core.schedules.overlap
    limits: Limits | None = None
    step: StepRef | None = None  # of a workflow run: see duetime.executor.run_gate
    group: str = ""  # its fairness key; not part of the body, as the next
    watch: Wake | None = None  # the watch that backs it up
    handler: str | None = None  # of a python target

    @property
    def queue(self) -> Queue:
        return queue_of(self.lane, self.pool)

    @property
    def due_at(self) -> Millis:
        return int(self.token.partition("-")[0])

    @property
    def visible_at(self) -> Millis:
        return max(self.due_at, self.not_before)

    @property
    def paced(self) -> bool:
        """Whether it is overdue work that is spread out, and not a task at its granted time."""
        granted = self.limits is not None and self.limits.grant == self.not_before
        return self.not_before > 0 and not granted


@value(frozen=True, kw_only=True, slots=True)
class Message:
    """A received delivery. The queue identifies this receive by `receipt`."""

    delivery: Delivery
    receipt: str
    message_id: str
    sent_at: Millis  # when the queue accepted it
    receives: int = 1  # how often it was received, including this time
    source: Queue | None = None  # the queue it came from, if the backend says so

    @property
    def queue(self) -> Queue:
        """The queue that holds this message. The SQS console can redrive a message into another
        queue than its task's, and only the queue that holds a message can delete or hide it."""
        return self.source or self.delivery.queue

    def redriven(self, died_at: Millis) -> bool:
        """Whether the message was moved back from a dead-letter queue. A redrive enqueues it anew,
        so its `sent_at` is after the death of the task by more than the clocks can differ. (The
        move into a dead-letter queue keeps `sent_at`.) A slow send can also arrive after a quick
        death, so `sent_at` must also be long after the message was written."""
        return self.sent_at > max(died_at + CLOCK_SKEW, self.delivery.written_at + MIN_REDRIVE_AGE)


def dead_letter_delays(letters: Sequence[Message]) -> list[Millis]:
    """Returns how long each dead letter stays hidden before it can be received again. The delay
    grows with each receive, so that many letters leave room for the other messages of their lane.
    Letters that are handed back together share one jitter and return as one batch; other batches
    return at other times. After MAX_RECEIVES a letter goes to the dead-letter queue at once."""
    jitter = crc32("".join(letter.message_id for letter in letters[:1]).encode()) / 2**32
    return [round(dead_letter_delay(letter.receives) * (0.5 + jitter)) for letter in letters]


def dead_letter_delay(receives: int) -> Millis:
    """Returns the mean delay of a dead letter after so many receives."""
    if receives >= MAX_RECEIVES:
        return 0
    return min(DEAD_LETTER_DELAY << (receives - 1), LONGEST_DEAD_LETTER_DELAY)


def new_token(due_at: Millis, nonce: str) -> str:
    return f"{due_at:013d}-{nonce}"


def delivery_of(
    task: Task, now: Millis, not_before: Millis = 0, grant: Millis | None = None
) -> Delivery:
    """Returns the delivery of a task. `grant` replaces the grant that is stored with it."""
    return Delivery(
        task_id=task.id,
        token=task.token,
        attempt=task.attempt + 1,
        lane=task.lane,
        written_at=now,
        timeout=task.spec.timeout,
        pool=task.spec.pool,
        not_before=not_before,
        occurrence=task.spec.occurrence if task.attempt == 0 else None,
        limits=_limits_of(task, grant),
        step=task.spec.step,
        group=task.spec.fairness_key or task.spec.namespace,
        watch=task.wake,
        handler=task.spec.target.get("handler"),
    )


def _limits_of(task: Task, grant: Millis | None) -> Limits | None:
    spec = task.spec
    if not spec.limits and spec.ordering_key is None:
        return None
    return Limits(
        namespace=spec.namespace,
        uses=spec.limits,
        ordering_key=spec.ordering_key,
        order_at=spec.order_at,
        grant=task.grant if grant is None else grant,
    )
