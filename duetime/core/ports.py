"""What the roles need from the world. Two backends fill these in: duetime.embedded, lambdas.aws.

Verbs that take several values answer for each of them, in order, and treat each alone: one
that fails its condition does not hold back the rest, and a write for which the backend did not
answer is Unknown. Any other call that a backend does not answer raises Unavailable.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Protocol

from lambdas.core.change import Answer, Change
from lambdas.core.delivery import Delivery, Message
from lambdas.core.ids import new_id
from lambdas.core.lanes import Lane
from lambdas.core.lifecycle import Status
from lambdas.core.rules import Draw, Rules
from lambdas.core.task import Attempt, Task
from lambdas.core.times import Millis
from lambdas.core.values import value
from lambdas.core.wakes import Wake, WakeKind

if TYPE_CHECKING:  # most tasks have none, and a cold function waits for every import
    from lambdas.core.schedules.ports import ScheduleStore


class Clock(Protocol):
    """Two clocks: one that says what time it is, and one that says how long something took."""

    def now(self) -> Millis:
        """Wall time: for what is stored, and for what other processes judge. It can be set."""
        ...

    def monotonic(self) -> Millis:
        """For spans within this process: timeouts, heartbeats, patience. Nobody sets it, and it
        goes on while the process is frozen or the machine asleep."""
        ...


class Chance(Protocol):
    """Where everything random comes from."""

    def draw(self) -> Draw: ...

    def nonce(self) -> str: ...

    def new_id(self, now: Millis) -> str: ...


@value(frozen=True, kw_only=True, slots=True)
class Reservation:
    """An idempotency key and the task that it stands for."""

    namespace: str
    key: str
    task_id: str
    body_hash: str
    expires_at: Millis


@value(frozen=True, kw_only=True, slots=True)
class Listing:
    """Which tasks to list; newest first."""

    namespace: str = "default"
    status: Status | None = None
    schedule_id: str | None = None
    before: Millis | None = None  # with ids of an earlier time; a run's id has its fire time
    limit: int = 50
    cursor: str | None = None

    @property
    def below(self) -> str | None:
        """No id of the list is this one or sorts after it."""
        return None if self.before is None else new_id(self.before, 0)

    def wants(self, task: Task) -> bool:
        occurrence = task.spec.occurrence
        schedule_id = occurrence.schedule_id if occurrence else None
        return self.status in (None, task.status) and self.schedule_id in (None, schedule_id)


@value(frozen=True, kw_only=True, slots=True)
class DeadListing:
    """Which dead tasks to list; the one that died last comes first."""

    namespace: str | None = None
    error_type: str | None = None
    since: Millis | None = None  # died then or later
    before: Millis | None = None  # died before then
    limit: int = 50
    cursor: str | None = None

    def wants(self, task: Task) -> bool:
        failed = task.last_failure
        died_at = task.updated_at
        return (
            task.status is Status.DEAD
            and self.namespace in (None, task.spec.namespace)
            and (self.error_type is None or _type_of(failed) == self.error_type)
            and (self.since is None or died_at >= self.since)
            and (self.before is None or died_at < self.before)
        )


def _type_of(failed: Attempt | None) -> str | None:
    return failed.error.type if failed and failed.error else None


@value(frozen=True, kw_only=True, slots=True)
class Page:
    """Filters apply while reading, so a page may be short; only no cursor ends a list."""

    tasks: Sequence[Task]
    cursor: str | None


class TaskStore(Protocol):
    """The truth."""

    def put(self, tasks: Sequence[Task]) -> list[Answer]:
        """Store each task if its id is not taken; Refused tells what stands there."""
        ...

    def get(self, task_ids: Sequence[str]) -> dict[str, Task]:
        """The tasks that exist, as they are after every write that has been answered."""
        ...

    def apply(self, changes: Sequence[Change]) -> list[Answer]:
        """Each change, if it holds. Applied tells the whole task as it stands now. A change
        that was made but whose answer was lost counts as applied when it is repeated. One
        task that cannot be read is Unreadable, and the others' business goes on."""
        ...

    def set_aside(self, change: Change) -> None:
        """Move a wake, if it still stands, without reading its task: see claim.set_aside."""
        ...

    def wakes(self, minute: int, shard: int, kind: WakeKind | None = None) -> Iterable[Wake]:
        """One bucket of the wake index, or one kind in it, in key order. It may lag behind."""
        ...

    def few_wakes(self, limit: int) -> list[Wake] | None:
        """Every wake there is, bucket by bucket in key order, if they are few: None if there are
        more than `limit`. However many there are, it costs no more than reading that many."""
        ...

    def page(self, listing: Listing) -> Page: ...

    def dead(self, listing: DeadListing) -> Page:
        """Dead tasks. Reads no others, however many there are."""
        ...

    def keep_attempt(self, task_id: str, attempt: Attempt) -> None:
        """Give an ended attempt a row of its own; repeating it changes nothing."""
        ...

    def attempts(self, task_id: str) -> list[Attempt]:
        """The rows of a task's earlier attempts, oldest first."""
        ...

    def reserve(self, reservations: Sequence[Reservation], now: Millis) -> list[Reservation]:
        """For each key the reservation that stands: ours if the key was free or has expired."""
        ...


@value(frozen=True, kw_only=True, slots=True)
class Shards:
    """How many shards were ever used, and since when there have been tasks."""

    count: int
    since: Millis


@value(frozen=True, kw_only=True, slots=True)
class Chain:
    """Ticks that follow each other at once; see lambdas.scanner.chain."""

    id: str  # drawn at random for each tick that is to follow
    until: Millis  # by then it has saved its state
    slices: int  # into how many it cuts the shards


@value(frozen=True, kw_only=True, slots=True)
class SliceState:
    """How far the scanner of one slice of shards has come."""

    fence: int = 0  # grows with every save
    cursors: Mapping[int, int] = field(default_factory=dict)  # shard → oldest minute not empty
    swept: int = 0  # the older minute that was read last
    paced: Mapping[str, Millis] = field(default_factory=dict)  # lane → where its slots end
    ticked_at: Millis | None = None  # when the tick that saved it began
    backed_up: Mapping[str, int] = field(default_factory=dict)  # lane → ticks in a row it was
    chain: Chain | None = None  # that goes on where the tick that saved it ran out of time


class CursorStore(Protocol):
    def shards(self, now: Millis) -> Shards:
        """Reads the shard count; writes the configured one if it is larger."""
        ...

    def load(self, slice_number: int) -> SliceState: ...

    def save(self, slice_number: int, state: SliceState) -> bool:
        """Write state if the stored fence is one less than its own: False if another tick of
        this slice was faster, whose view is as good as ours."""
        ...


@value(frozen=True, kw_only=True, slots=True)
class Depth:
    """Roughly how many messages a lane holds."""

    ready: int
    delayed: int
    in_flight: int


class LaneQueue(Protocol):
    """A fast way to wake an executor; whatever it loses, the table brings back."""

    def send(self, deliveries: Sequence[Delivery], now: Millis) -> list[bool]:
        """Have each delivery reach an executor by its due time; False if it was refused or its
        fate is unknown."""
        ...

    def receive(self, lane: Lane, limit: int, wait: float) -> list[Message]:
        """Up to `limit` messages, waiting up to `wait` seconds for the first."""
        ...

    def delete(self, messages: Sequence[Message]) -> None: ...

    def hand_back(self, message: Message, delay: Millis) -> None:
        """Let the message be received again after `delay`."""
        ...

    def hold(self, messages: Sequence[Message], span: Millis) -> None:
        """Keep messages that were received from being received again for `span` from now."""
        ...

    def bury(self, messages: Sequence[Message]) -> None:
        """Let the last messages of dead tasks go the way of dead letters."""
        ...

    def depth(self, lane: Lane) -> Depth: ...


@value(frozen=True, kw_only=True, slots=True)
class Ports:
    """What every role that acts is given."""

    store: TaskStore
    schedules: "ScheduleStore"
    lanes: LaneQueue
    rules: Rules
    clock: Clock
    chance: Chance

    def with_lanes(self, lanes: LaneQueue) -> "Ports":
        return replace(self, lanes=lanes)
