"""The roles in a simulation, each in its own processes."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

from duetime.api.app import Api
from duetime.api.http import Request, Response
from duetime.core.codec import to_json
from duetime.core.delivery import Message
from duetime.core.errors import Unavailable
from duetime.core.lanes import Lane, Queue
from duetime.core.ports import LaneQueue, Ports
from duetime.core.steps.lease import MAX_SILENCE
from duetime.core.task import Task
from duetime.core.times import MINUTE, SECOND, Millis
from duetime.executor.attempt_io import AttemptIO
from duetime.executor.attempt_loop import STOP_GRACE, AttemptLoop
from duetime.executor.executor import Executor
from duetime.executor.new_tasks import NewTasks
from duetime.executor.runs import Ended, Run
from duetime.scanner.report import TickReport
from duetime.scanner.scanner import Scanner
from tests.simulation import handler_plans
from tests.simulation.child_workload import submit_children
from tests.simulation.drain_workload import EXIT_TAKES, STOPS_AFTER
from tests.simulation.engine import Killed, Process
from tests.simulation.monitor import Monitor
from tests.simulation.queue import SimulatedSqs
from tests.simulation.store import SimulatedStore

HANDLER = "simulated"
SLOTS = 10
LONGEST_NAP: Millis = MINUTE


class Interrupted(Exception):
    """Raised by a handler that was interrupted or cancelled."""


def call_api(
    ports: Ports,
    method: str,
    path: str,
    body: Any,
    headers: Mapping[str, str],
    query: Mapping[str, str],
) -> Response:
    api = Api(ports, handlers=lambda: {HANDLER}, version="simulated", callbacks=True)
    request = Request(
        method=method,
        path=path,
        query=query,
        headers={"content-type": "application/json", **headers},
        body=b"" if body is None else to_json(body).encode(),
    )
    return api.call(request)


@dataclass(frozen=True, slots=True)
class Slice:
    """The parameters in the event of a tick."""

    number: int
    slices: int
    continues: str | None = None


@dataclass(frozen=True, slots=True)
class ScannerSettings:
    catch_up: int  # overdue tasks a second
    time: Millis = 50 * SECOND  # limit of a tick
    call_takes: Millis = 0


def scan(ports: Ports, store: SimulatedStore, part: Slice, settings: ScannerSettings) -> TickReport:
    until = ports.clock.monotonic() + settings.time
    scanner = Scanner(ports, store, catch_up=settings.catch_up)
    return scanner.tick(part.number, part.slices, until, continues=part.continues)


@dataclass(slots=True)
class Handler:
    """A running attempt in virtual time. `obeys`: it ends when it is cancelled. `stopping`: a drain
    has interrupted it, which takes a while."""

    run: Run
    begins_at: Millis  # by the monotonic clock
    ends_at: Millis
    obeys: bool
    interrupted: bool = False
    stopping: bool = False

    @property
    def stopped(self) -> bool:
        """Whether it ends because it was asked to. While it is drained it may also go on."""
        drained = self.run.context.reason == "draining" and not self.obeys
        return self.interrupted or self.stopping or (self.run.context.cancelled and not drained)

    def over(self, now: Millis) -> bool:
        cancelled = self.obeys and self.run.context.cancelled
        return self.interrupted or cancelled or self.ends_at <= now


class Source(Protocol):
    """Where an executor gets its messages from."""

    def receive(self, free: Callable[[], int]) -> Iterable[list[Message]]:
        """`free` returns how many slots are free."""
        ...

    def next_message(self) -> Millis | None: ...


class SqsSource:
    """The polled lanes."""

    def __init__(self, process: Process, lanes: LaneQueue, sqs: SimulatedSqs) -> None:
        self._process = process
        self._lanes = lanes
        self._sqs = sqs

    def receive(self, free: Callable[[], int]) -> Iterator[list[Message]]:
        for lane in Lane:
            if self._sqs.has_ready(Queue(lane)) and (limit := free()) > 0:
                try:
                    yield self._lanes.receive(Queue(lane), limit, 0)
                except Unavailable as error:  # the pump goes on, too
                    self._process.note("receive failed", str(error))

    def next_message(self) -> Millis | None:
        return self._sqs.next_visible()


Play = Callable[[Task, object], str]


class ExecutorProcess:
    """Runs attempts until it is killed or drained. `make` returns its executor, given what runs
    the target of a task."""

    def __init__(
        self,
        process: Process,
        monitor: Monitor,
        source: Source,
        make: Callable[[Play], AttemptIO],
    ) -> None:
        self._process = process
        self._engine = process.engine
        self._monitor = monitor
        self._source = source
        self._executor = make(lambda task, ctx: self._play(task))
        self._loop = AttemptLoop(self._executor, process.clock)
        self._handlers: dict[str, Handler] = {}
        self.on_begin: Callable[[str], object] = lambda task_id: None
        self.children_of: Callable[[Task], list[dict[str, Any]]] = lambda task: []
        self.on_step: Callable[[Task], object] = lambda task: None
        self.on_stepped: Callable[[], object] = lambda: None
        self._grace: Millis | None = None  # of a drain that was asked for
        self._draining = False
        self._new: list[tuple[NewTasks, Process]] = []  # each with the process that waits for it
        process.on_thaw = self._thawed

    def drain(self, grace: Millis) -> None:
        self._grace = grace
        self._process.nudge(self._engine.now)

    @property
    def process(self) -> Process:
        return self._process

    def store(self, new: NewTasks, waits: Process) -> None:
        """Stores new tasks with leases, as the worker pool does. `waits` is woken after that."""
        self._new.append((new, waits))
        self._process.nudge(self._engine.now)

    def run(self) -> None:
        while not (self._draining and self._loop.unfinished == 0):
            self._begin_drain()
            ended = self._ended()
            new, self._new = self._new, []
            step = self._loop.step(ended, self._take_slots(new))
            for one, waits in new:
                one.answered.set()
                waits.nudge(self._engine.now)
            self._monitor.settled(self._process)
            self.on_stepped()
            for run in step.started:
                self._begin(run)
            if self._draining or not self._receive():
                self._process.sleep_until(self._next(), restless=True)
        self._process.note("drained")
        self._process.sleep_until(self._engine.now + EXIT_TAKES)

    def _begin_drain(self) -> None:
        if self._grace is not None:
            grace, self._grace, self._draining = self._grace, None, True
            self._loop.drain(grace)

    def free(self) -> int:
        """Returns how many slots are free."""
        return SLOTS - len(self._handlers) - self._loop.unfinished

    def _take_slots(self, new: list[tuple[NewTasks, Process]]) -> list[NewTasks]:
        """Returns those that have slots."""
        free = 0 if self._draining else self.free()
        for one, _ in new:
            one.slots = min(len(one.tasks), max(free, 0))
            free -= one.slots
        return [one for one, _ in new if one.slots]

    def _receive(self) -> bool:
        took = False
        for messages in self._source.receive(self.free):
            self._loop.accept(messages)
            took = took or bool(messages)
        return took

    def _begin(self, run: Run) -> None:
        plan, now = handler_plans.plan_of(run.task), self._engine.now
        begins_at = self._process.clock.monotonic()
        handler = Handler(run, begins_at, now + plan["takes"], plan["obeys"])
        self._handlers[run.holder] = handler
        if run.control.force_stopped:  # delayed since its lease: it does not begin
            handler.interrupted = True
            return
        run.control.force_stop = lambda: self._interrupt(handler)  # type: ignore[method-assign]
        self._monitor.began(self._process, run.task)
        self._process.note("begins", run.task.id, f"attempt={run.task.attempt}", plan["end"])
        self._guard_at(self._process.clock.when(run.control.renewed_at) + MAX_SILENCE)
        self.on_begin(run.task.id)

    def _guard_at(self, at: Millis) -> None:
        """Schedules the check of leases. In the runner it has its own thread, so a slow call does
        not delay it, but a freeze does."""

        def look() -> None:
            if not self._process.alive or not self._handlers or self._process.frozen:
                return
            self._loop.check_leases()
            self._process.nudge(self._engine.now)
            renewed_at = min(h.run.control.renewed_at for h in self._handlers.values())
            oldest = self._process.clock.when(renewed_at)
            stopped = oldest + MAX_SILENCE <= self._engine.now
            self._guard_at(max(oldest + MAX_SILENCE + stopped * STOP_GRACE, at + SECOND))

        self._engine.at(at, look)

    def _interrupt(self, handler: Handler) -> None:
        """Ends the attempt now. The attempt loop sees that at its next step."""
        if handler.run.context.reason == "draining":
            if not handler.stopping:
                handler.stopping = handler.run.control.force_stopped = True
                takes = Random(handler.run.task.id).choice(STOPS_AFTER)
                handler.ends_at = self._engine.now + takes
                self._process.nudge(self._engine.now)
        elif not handler.interrupted:
            handler.interrupted = handler.run.control.force_stopped = True
            self._process.note("interrupts", handler.run.task.id)
            self._monitor.ended(handler.run.task)
            self._process.nudge(self._engine.now)

    def _ended(self) -> list[Ended]:
        now = self._engine.now
        over = [h for h in self._handlers.values() if h.over(now)]
        for handler in over:
            del self._handlers[handler.run.holder]
            self._monitor.ended(handler.run.task)
        self._over = {h.run.task.id: h for h in over}
        ended = []
        for handler in over:
            ended.append(self._executor.run_target(handler.run))
            if self._process.killed:  # the executor has taken it for a failure of the handler
                raise Killed
        return ended

    def _play(self, task: Task) -> str:
        handler = self._over[task.id]
        # Its target is called when it ends: it notes when it began, as a handler process does.
        handler.run.control.mark_started(handler.begins_at)
        if handler.stopped:
            raise Interrupted("stopped")
        if task.spec.step is not None:
            self.on_step(task)
        elif bodies := self.children_of(task):
            answers = submit_children(handler.run.control, bodies)
            self._monitor.children.answered(task, answers)
        return handler_plans.play(task)

    def _thawed(self) -> None:
        self._loop.check_leases()
        self._monitor.thawed(self._process)
        self._guard_at(self._engine.now + SECOND)

    def _next(self) -> Millis:
        times = [self._engine.now if self._new else self._engine.now + LONGEST_NAP]
        times += [
            self._engine.now if h.over(self._engine.now) else h.ends_at
            for h in self._handlers.values()
        ]
        if (timer := self._loop.next_timer) is not None:
            times.append(self._process.clock.when(timer))
        if self.free() > 0:
            message = self._source.next_message()
            times += [] if message is None else [message]
        return max(min(times), self._engine.now + 1)


def executor_process(
    process: Process, ports: Ports, sqs: SimulatedSqs, monitor: Monitor
) -> ExecutorProcess:
    """Returns a runner that polls the lanes."""

    def make(play: Play) -> Executor:
        return Executor(ports, {"python": play}, callback_url="http://simulated")

    return ExecutorProcess(process, monitor, SqsSource(process, ports.lanes, sqs), make)
