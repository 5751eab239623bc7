"""Who lives in the simulated world: the roles, each in processes of its own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lambdas.api.app import Api
from lambdas.api.http import Request, Response
from lambdas.core.codec import to_json
from lambdas.core.errors import Unavailable
from lambdas.core.lanes import Lane
from lambdas.core.lease import SILENCE
from lambdas.core.ports import Ports
from lambdas.core.times import MINUTE, SECOND, Millis
from lambdas.executor.books import STOP_GRACE, Books
from lambdas.executor.executor import Executor
from lambdas.executor.runs import Ended, Run
from lambdas.scanner.report import TickReport
from lambdas.scanner.scanner import Scanner
from tests.simulation import plans
from tests.simulation.engine import Process
from tests.simulation.monitor import Monitor
from tests.simulation.queue import SimulatedSqs
from tests.simulation.store import SimulatedStore

HANDLER = "simulated"
SLOTS = 10
LONGEST_NAP: Millis = MINUTE


class Interrupted(Exception):
    """A handler that was made to stop, or obeyed."""


def call_api(
    ports: Ports, method: str, path: str, body: Any, headers: Mapping[str, str]
) -> Response:
    api = Api(ports, handlers=lambda: {HANDLER}, version="simulated")
    request = Request(
        method=method,
        path=path,
        headers={"content-type": "application/json", **headers},
        body=b"" if body is None else to_json(body).encode(),
    )
    return api.call(request)


@dataclass(frozen=True, slots=True)
class Slice:
    """What the event of a tick names."""

    number: int
    slices: int
    continues: str | None = None


@dataclass(frozen=True, slots=True)
class ScannerSettings:
    catch_up: int  # overdue tasks a second
    time: Millis = 50 * SECOND  # of a tick
    call_takes: Millis = 0


def scan(ports: Ports, store: SimulatedStore, part: Slice, settings: ScannerSettings) -> TickReport:
    until = ports.clock.monotonic() + settings.time
    scanner = Scanner(ports, store, catch_up=settings.catch_up)
    return scanner.tick(part.number, part.slices, until, continues=part.continues)


@dataclass(slots=True)
class Handler:
    """One attempt under way in virtual time."""

    run: Run
    ends_at: Millis
    obeys: bool
    interrupted: bool = False

    def over(self, now: Millis) -> bool:
        told = self.obeys and self.run.context.cancelled
        return self.interrupted or told or self.ends_at <= now


class ExecutorLife:
    """A runner that polls the lanes and keeps books, until it is killed."""

    def __init__(self, process: Process, ports: Ports, sqs: SimulatedSqs, monitor: Monitor) -> None:
        self._process = process
        self._engine = process.engine
        self._lanes = ports.lanes
        self._sqs = sqs
        self._monitor = monitor
        self._executor = Executor(ports, {"python": lambda task, ctx: self._play(task)})
        self._books = Books(self._executor, process.clock)
        self._handlers: dict[str, Handler] = {}
        self.on_begin: Callable[[str], object] = lambda task_id: None
        process.on_thaw = self._thawed

    def live(self) -> None:
        while True:
            turn = self._books.turn(self._ended())
            self._monitor.settled(self._process)
            for run in turn.begun:
                self._begin(run)
            if not self._receive():
                self._process.sleep_until(self._next(), restless=True)

    def _receive(self) -> bool:
        took = False
        for lane in Lane:
            if not self._sqs.has_ready(lane):
                continue
            free = SLOTS - len(self._handlers) - self._books.open
            if free > 0:
                try:
                    messages = self._lanes.receive(lane, free, 0)
                except Unavailable as error:  # as the pump does: go on
                    self._process.note("receive failed", str(error))
                    continue
                self._books.take(messages)
                took = took or bool(messages)
        return took

    def _begin(self, run: Run) -> None:
        plan = plans.of(run.task)
        run.context.starts(self._process.clock.monotonic())
        handler = Handler(run, self._engine.now + plan["takes"], plan["obeys"])
        self._handlers[run.holder] = handler
        if run.context.interrupted:  # held up since its lease: it does not begin
            handler.interrupted = True
            return
        run.context.interrupt = lambda: self._interrupt(handler)  # type: ignore[method-assign]
        self._monitor.began(self._process, run.task)
        self._process.note("begins", run.task.id, f"attempt={run.task.attempt}", plan["end"])
        self._guard_at(run.context.renewed_at + SILENCE)
        self.on_begin(run.task.id)

    def _guard_at(self, at: Millis) -> None:
        """The guard is a thread of its own: slow calls do not hold it up, a freeze does."""

        def look() -> None:
            if not self._process.alive or not self._handlers or self._process.frozen:
                return
            self._books.guard()
            self._process.nudge(self._engine.now)
            oldest = min(h.run.context.renewed_at for h in self._handlers.values())
            told = oldest + SILENCE <= self._process.clock.monotonic()
            self._guard_at(max(oldest + SILENCE + told * STOP_GRACE, at + SECOND))

        self._engine.at(at, look)

    def _interrupt(self, handler: Handler) -> None:
        """It ends there and then; the bookkeeper learns of it when it next looks."""
        if not handler.interrupted:
            handler.interrupted = handler.run.context.interrupted = True
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
        return [self._executor.execute(h.run) for h in over]

    def _play(self, task: Any) -> str:
        handler = self._over[task.id]
        if handler.interrupted or handler.run.context.cancelled:
            raise Interrupted("stopped")
        return plans.played(task)

    def _thawed(self) -> None:
        self._books.guard()
        self._monitor.thawed(self._process)
        self._guard_at(self._engine.now + SECOND)

    def _next(self) -> Millis:
        times = [self._engine.now + LONGEST_NAP]
        times += [
            self._engine.now if h.over(self._engine.now) else h.ends_at
            for h in self._handlers.values()
        ]
        if (timer := self._books.next_timer) is not None:
            times.append(timer)
        if len(self._handlers) + self._books.open < SLOTS:
            visible = self._sqs.next_visible()
            times += [] if visible is None else [visible]
        return max(min(times), self._engine.now + 1)
