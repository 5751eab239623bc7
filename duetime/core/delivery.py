"""A delivery: one message for one due time in one lane, named by its token."""

from collections.abc import Sequence
from zlib import crc32

from lambdas.core.lanes import MAX_RECEIVES, Lane
from lambdas.core.lease import GRACE
from lambdas.core.occurrence import Occurrence
from lambdas.core.task import Task
from lambdas.core.times import MINUTE, SECOND, Millis
from lambdas.core.values import value
from lambdas.core.wakes import Wake

REDRIVEN_AFTER: Millis = MINUTE
DEAD_LETTER_DELAY: Millis = SECOND  # after the first receive; it doubles with each
LONGEST_DEAD_LETTER_DELAY: Millis = 10 * SECOND


@value(frozen=True, kw_only=True, slots=True)
class Delivery:
    task_id: str
    token: str
    attempt: int  # the attempt that this delivery may start
    lane: Lane
    written_at: Millis
    timeout: float  # seconds that the attempt may take
    not_before: Millis = 0  # overdue work is spread: when it may reach an executor at last
    occurrence: Occurrence | None = None  # until it has started: see core.schedules.overlap
    watch: Wake | None = None  # the wake that stands behind it; not part of the message

    @property
    def due_at(self) -> Millis:
        return int(self.token.partition("-")[0])

    @property
    def visible_at(self) -> Millis:
        return max(self.due_at, self.not_before)


@value(frozen=True, kw_only=True, slots=True)
class Message:
    """A delivery as a queue hands it out; `receipt` is how the queue knows this handing-out."""

    delivery: Delivery
    receipt: str
    message_id: str
    sent_at: Millis  # when the queue took it in
    receives: int = 1  # how often it was handed out, this time included
    source: Lane | None = None  # the queue it came from, where the queue says so

    @property
    def lane(self) -> Lane:
        """The lane whose queue holds this message. The SQS console can redrive a message into
        another lane's queue than that of its task, and only the queue that holds a message can
        delete or hide it."""
        return self.source or self.delivery.lane

    def redriven(self, died_at: Millis) -> bool:
        """Whether somebody moved it back from a dead-letter queue: that enqueues it anew, after
        its task died, whatever the clocks. (The move into a dead-letter queue leaves its time
        alone.) A send that was slow to arrive may come after a quick death too, so it must also
        be far from the time when it was written."""
        return self.sent_at > max(died_at + GRACE, self.delivery.written_at + REDRIVEN_AFTER)


def dead_letter_delays(letters: Sequence[Message]) -> list[Millis]:
    """How long each dead letter stays hidden before its queue hands it out again: longer each
    time, so that the receives of many letters leave room for the other messages of their lane.
    Letters that are handed back together return together, in one batch; other batches return at
    another time. A letter that was received often enough goes to the dead-letter queue at once."""
    jitter = crc32("".join(letter.message_id for letter in letters[:1]).encode()) / 2**32
    return [round(dead_letter_delay(letter.receives) * (0.5 + jitter)) for letter in letters]


def dead_letter_delay(receives: int) -> Millis:
    """On average, once a dead letter was received so often."""
    if receives >= MAX_RECEIVES:
        return 0
    return min(DEAD_LETTER_DELAY << (receives - 1), LONGEST_DEAD_LETTER_DELAY)


def new_token(due_at: Millis, nonce: str) -> str:
    return f"{due_at:013d}-{nonce}"


def delivery_of(task: Task, now: Millis, not_before: Millis = 0) -> Delivery:
    return Delivery(
        task_id=task.id,
        token=task.token,
        attempt=task.attempt + 1,
        lane=task.lane,
        written_at=now,
        timeout=task.spec.timeout,
        not_before=not_before,
        occurrence=task.spec.occurrence if task.attempt == 0 else None,
        watch=task.wake,
    )
