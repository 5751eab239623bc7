"""The interfaces that a backend implements. There are two: duetime.sqlite and duetime.aws.

A method that takes several values handles each of them independently and answers in the same
order: a refused write does not affect the others, and a write without an answer from the backend
is Unknown. Any other call that the backend does not answer raises Unavailable.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Protocol

from duetime.core.change import Answer, Change
from duetime.core.delivery import Delivery, Message
from duetime.core.forecast import DueCounts, DueSpan
from duetime.core.lanes import Queue
from duetime.core.listings import DeadListing, EndedListing, Listing, Page
from duetime.core.steps.remove import Removal
from duetime.core.task import Attempt, Task
from duetime.core.times import Millis
from duetime.core.value import value
from duetime.core.wake_policy import Draw, WakePolicy
from duetime.core.wakes import Wake, WakeKind

if TYPE_CHECKING:  # most tasks have no schedule and no limit; every import delays a cold start
    from duetime.core.limits.ports import LimitStore, RateStore
    from duetime.core.limits.slots import SlotStore
    from duetime.core.schedules.ports import ScheduleStore
    from duetime.core.stats.ports import StatsStore
    from duetime.core.workflows.ports import RunStore


class Clock(Protocol):
    """The wall clock, and a monotonic clock."""

    def now(self) -> Millis:
        """Wall time, for stored times and times that other processes read. It can be set."""
        ...

    def monotonic(self) -> Millis:
        """For durations within this process, such as timeouts and heartbeats. It cannot be set, and
        it runs on while the process is frozen or the machine is asleep."""
        ...


class RandomSource(Protocol):
    """The source of all randomness."""

    def draw(self) -> Draw: ...

    def draws(self, count: int) -> list[Draw]:
        """For tasks that are stored together. They have the same spread: their watches are then
        neighbours in the wake index, and a write changes few of its pages."""
        ...

    def nonce(self) -> str: ...

    def nonces(self, count: int) -> list[str]: ...

    def new_id(self, now: Millis) -> str: ...


@value(frozen=True, kw_only=True, slots=True)
class Reservation:
    """An idempotency key and the task that it identifies."""

    namespace: str
    key: str
    task_id: str
    body_hash: str
    expires_at: Millis


@value(frozen=True, kw_only=True, slots=True)
class UniqueKey:
    """A unique key, and the task that it is to name."""

    namespace: str
    key: str
    task_id: str
    instead_of: str | None = None  # the task that it may name so far; None: it must be free


class TaskStore(Protocol):
    """The tasks: the only source of truth about them."""

    def put(self, tasks: Sequence[Task]) -> list[Answer]:
        """Stores each task if its id is free; Refused has the task that is stored under it."""
        ...

    def get(self, task_ids: Sequence[str]) -> dict[str, Task]:
        """Returns the tasks that exist, after every write that was answered."""
        ...

    def apply(self, changes: Sequence[Change]) -> list[Answer]:
        """Applies each change whose expectation holds. Applied has the whole task after the write.
        A repeated change whose first answer was lost is Applied. A task that cannot be read is
        Unreadable, and does not affect the others."""
        ...

    def set_aside(self, change: Change) -> None:
        """Moves a wake, if it has not moved, without reading its task: see claim.set_aside."""
        ...

    def wakes(self, minute: int, shard: int, kind: WakeKind | None = None) -> Iterable[Wake]:
        """Returns a bucket of the wake index, or one kind in it, in key order. It may lag."""
        ...

    def few_wakes(self, limit: int) -> list[Wake] | None:
        """Returns all wakes, bucket by bucket in key order, or None if there are more than `limit`.
        It never costs more than reading `limit` wakes."""
        ...

    def due_counts(self, span: DueSpan) -> DueCounts:
        """Counts the tasks that are still to start by minute and lane. Its reads are bounded, so it
        may look at a part of the span only."""
        ...

    def page(self, listing: Listing) -> Page: ...

    def dead(self, listing: DeadListing) -> Page:
        """Returns dead tasks. Reads no others, so its cost does not grow with them."""
        ...

    def ended(self, listing: EndedListing) -> Page:
        """Returns tasks that may be removed. A task that becomes one meanwhile may be missing."""
        ...

    def remove(self, removals: Sequence[Removal]) -> list[Answer]:
        """Removes each task whose condition holds; Applied has the task that was removed. What is
        stored beside it (attempts, long texts, objects) leaves with it, or soon after."""
        ...

    def keep_attempt(self, task_id: str, attempt: Attempt) -> None:
        """Stores an ended attempt in a row of its own. Repeating it changes nothing."""
        ...

    def attempts(self, task_id: str) -> list[Attempt]:
        """Returns the rows of a task's earlier attempts, oldest first."""
        ...

    def reserve(self, reservations: Sequence[Reservation], now: Millis) -> list[Reservation]:
        """Returns the valid reservation of each key: ours if the key was free or has expired."""
        ...

    def take_keys(self, keys: Sequence[UniqueKey]) -> list[str]:
        """Makes each key name its task if the key is free or names `instead_of`. Returns the id
        that each key names now."""
        ...


@value(frozen=True, kw_only=True, slots=True)
class Shards:
    """The highest shard count ever used, and when the first task may have been stored."""

    count: int
    since: Millis


@value(frozen=True, kw_only=True, slots=True)
class Chain:
    """Ticks that follow each other without a pause; see duetime.scanner.tick_chain."""

    id: str  # random, new for each following tick
    until: Millis  # by then the tick has saved its state
    slices: int  # how many slices the shards are divided into


@value(frozen=True, kw_only=True, slots=True)
class SliceState:
    """The progress of the scanner in one slice of shards."""

    fence: int = 0  # grows with every save
    cursors: Mapping[int, int] = field(default_factory=dict)  # shard → oldest minute not empty
    swept: int = 0  # the older minute that was read last
    paced: Mapping[str, Millis] = field(default_factory=dict)  # lane → end of its used slots
    ticked_at: Millis | None = None  # when the tick that saved this state started
    backed_up: Mapping[str, int] = field(default_factory=dict)  # lane → backed-up ticks in a row
    chain: Chain | None = None  # continues where the saving tick ran out of time


class CursorStore(Protocol):
    def shards(self, now: Millis) -> Shards:
        """Returns the shard count; raises the stored one to the configured one if larger."""
        ...

    def load(self, slice_number: int) -> SliceState: ...

    def save(self, slice_number: int, state: SliceState) -> bool:
        """Writes the state if the stored fence is one less than its own. Returns False if another
        tick of this slice was faster; its state is as good as ours."""
        ...


@value(frozen=True, kw_only=True, slots=True)
class Depth:
    """The approximate number of messages in a queue.

    `oldest` is since when the oldest ready message waits. It is None if none is ready, and for SQS,
    which does not say."""

    ready: int
    delayed: int
    in_flight: int
    oldest: Millis | None = None


class LaneQueue(Protocol):
    """A fast way to reach an executor. A lost message is sent again from the task store."""

    def send(self, deliveries: Sequence[Delivery], now: Millis) -> list[bool]:
        """Sends each delivery so that it reaches an executor at its due time. Returns False for one
        that was refused or whose fate is unknown."""
        ...

    def receive(self, queue: Queue, limit: int, wait: float) -> list[Message]:
        """Returns up to `limit` messages; waits up to `wait` seconds for the first."""
        ...

    def delete(self, messages: Sequence[Message]) -> None: ...

    def hand_back(self, message: Message, delay: Millis) -> None:
        """Makes the message receivable again after `delay`."""
        ...

    def hold(self, messages: Sequence[Message], span: Millis) -> None:
        """Keeps received messages hidden for `span` from now."""
        ...

    def bury(self, messages: Sequence[Message]) -> None:
        """Hands back the last messages of dead tasks, on their way to the dead-letter queue."""
        ...

    def depth(self, queue: Queue) -> Depth: ...


class Archive(Protocol):
    """Where the records of removed tasks are kept. A record may be written more than once, by a
    remover that died before the removal; readers show it once."""

    def write(self, lines: Sequence[str]) -> None:
        """Appends records. When this returns, they are durable."""
        ...


class ObjectStore(Protocol):
    """The objects of tasks: see duetime.core.large_texts. An object never changes."""

    def put(self, task_id: str, name: str, content: bytes) -> None:
        """Stores an object. When this returns, it is durable. Repeating it changes nothing."""
        ...

    def get(self, task_id: str, name: str) -> bytes | None:
        """Returns an object, after every write that was answered; None if there is none."""
        ...

    def delete(self, task_ids: Sequence[str]) -> None:
        """Deletes all objects of these tasks. Repeating it changes nothing."""
        ...


@value(frozen=True, kw_only=True, slots=True)
class Ports:
    """The backend, as every role gets it. Without an `archive`, removed tasks are gone, or another
    role archives them. Without `objects`, large payloads and results are refused. Without `slots`
    and `rates`, limits hold no task back."""

    store: TaskStore
    schedules: "ScheduleStore"
    limits: "LimitStore"
    lanes: LaneQueue
    wake_policy: WakePolicy
    clock: Clock
    chance: RandomSource
    archive: Archive | None = None
    objects: ObjectStore | None = None
    slots: "SlotStore | None" = None
    rates: "RateStore | None" = None
    runs: "RunStore | None" = None  # without it, there are no workflows
    stats: "StatsStore | None" = None  # without it, nothing is counted in rows
    pools: Mapping[str, int] = field(default_factory=dict)  # name → longest timeout, in seconds

    def with_lanes(self, lanes: LaneQueue) -> "Ports":
        return replace(self, lanes=lanes)
