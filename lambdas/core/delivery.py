"""A delivery: one message for one due time in one lane, named by its token."""

from lambdas.core.lanes import Lane
from lambdas.core.task import Task
from lambdas.core.times import Millis
from lambdas.core.values import value
from lambdas.core.wakes import Wake


@value(frozen=True, kw_only=True, slots=True)
class Delivery:
    task_id: str
    token: str
    attempt: int  # the attempt that this delivery may start
    lane: Lane
    written_at: Millis
    timeout: float  # seconds that the attempt may take
    watch: Wake | None = None  # the wake that stands behind it; not part of the message

    @property
    def due_at(self) -> Millis:
        return int(self.token.partition("-")[0])


@value(frozen=True, kw_only=True, slots=True)
class Message:
    """A delivery as a queue hands it out; `receipt` is how the queue knows this handing-out."""

    delivery: Delivery
    receipt: str
    message_id: str


def new_token(due_at: Millis, nonce: str) -> str:
    return f"{due_at:013d}-{nonce}"


def delivery_of(task: Task, now: Millis) -> Delivery:
    return Delivery(
        task_id=task.id,
        token=task.token,
        attempt=task.attempt + 1,
        lane=task.lane,
        written_at=now,
        timeout=task.spec.timeout,
        watch=task.wake,
    )
