"""The process of a worker: it starts, serves until a signal or a notice, drains, and ends.

Signals, `POST /drain` and spot notices only leave an event; the main thread acts on it."""

import logging
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

from duetime.core.errors import DuetimeError, NotConfigured
from duetime.core.ports import Clock
from duetime.core.shares import DEFAULT_WEIGHTS, Shares
from duetime.core.workers import WorkerStore
from duetime.executor.lane_sources import LaneSource
from duetime.executor.worker_pool import WorkerPool
from duetime.handlers import registry
from duetime.logs import formatting as log_lines
from duetime.logs.formatting import Format, LogSettings
from duetime.version import VERSION
from duetime.worker.control_port import ControlPort
from duetime.worker.options import BadConfiguration, WorkerOptions
from duetime.worker.scale_in import ScaleInProtection
from duetime.worker.spot_notice import SpotNotice
from duetime.worker.upkeep import Upkeep
from duetime.worker.worker import Worker

LOG = logging.getLogger("duetime.worker")

DRAINED, FAILED, MISCONFIGURED = 0, 1, 2
CHECK = 0.2  # seconds of one wait for an event

DRAIN, DRAIN_NOW = "drain", "drain at once"  # events; a failure is its reason
Event = str | BadConfiguration


@dataclass(frozen=True, kw_only=True)
class Connected:
    """A worker's way to its tasks.

    Attributes:
        workers: Where the worker says that it is there; None if its leases say so.
        finish: Called once the pool has ended: sends what is still to be sent."""

    pool: WorkerPool
    source: LaneSource
    clock: Clock
    workers: WorkerStore | None = None
    finish: Callable[[], object] = lambda: None


Connect = Callable[[WorkerOptions], Connected]


def run(options: WorkerOptions, connect: Connect) -> int:
    """Returns the exit code. `connect` raises BadConfiguration, or DuetimeError."""
    _set_up_log(options)
    try:
        empty = [source for source in options.handlers if not registry.load(source)]
        control = _open_control_port(options)  # before anything is leased, as the signals
        events = Events()
        events.catch_signals()
        process = _Process(options, connect(options), control, events)
    except (BadConfiguration, NotConfigured) as error:
        LOG.error("worker not started: %s", error)
        return MISCONFIGURED
    except DuetimeError as error:
        LOG.error("worker not started: %s", error)
        return FAILED
    for source in empty:
        LOG.warning("handlers: %s registers no new handler", source)
    return process.serve()


class Events:
    """What the main thread acts on. Signals, notices and any thread leave it here."""

    def __init__(self) -> None:
        self._left: SimpleQueue[Event] = SimpleQueue()
        self._asked = False  # to drain, by a signal, a notice or a call

    def catch_signals(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._signalled)

    def put(self, event: Event) -> None:
        self._left.put(event)

    def ask_to_drain(self) -> None:
        if not self._asked:
            self._asked = True
            self._left.put(DRAIN)

    def next(self) -> Event:
        while (event := self.next_within(CHECK)) is None:
            pass
        return event

    def next_within(self, seconds: float) -> Event | None:
        """A signal that comes just before the wait begins does not end it: it is handled, and its
        event is there, only after the wait. So each wait is short."""
        try:
            return self._left.get(timeout=seconds)
        except Empty:
            return None

    def _signalled(self, number: int, frame: object) -> None:  # noqa: ARG002
        self._left.put(DRAIN_NOW if self._asked else DRAIN)
        self._asked = True


class _Process:
    def __init__(
        self,
        options: WorkerOptions,
        connected: Connected,
        control: ControlPort | None,
        events: Events,
    ) -> None:
        self._options = options
        self._connected = connected
        self._events = events
        shares = Shares(DEFAULT_WEIGHTS)
        self._worker = Worker(
            connected.pool,
            connected.source,
            shares,
            on_failure=self._events.put,
            on_refused=self._events.put,
        )
        self._upkeep = Upkeep(
            options,
            connected.pool,
            connected.clock,
            workers=connected.workers,
            draining=lambda: self._worker.draining,
            protection=ScaleInProtection(os.environ),
            notice=SpotNotice(os.environ) if options.spot_notice else None,
            on_notice=events.ask_to_drain,
        )
        self._control = control

    def serve(self) -> int:
        self._worker.start()
        self._upkeep.start()
        if self._control:
            self._control.start(self._health, self._events.ask_to_drain)
        LOG.info("worker started", extra=self._about())
        event = self._events.next()
        refused = isinstance(event, BadConfiguration)
        if refused:
            LOG.error("worker refused: %s", event)
        reason = None
        if refused or event == DRAIN:
            reason = self._drain(0 if refused else self._options.grace)
        elif isinstance(event, str):
            reason = event
        if reason is not None:
            return self._fail(reason)
        self._connected.finish()
        self._upkeep.end()
        LOG.info("worker drained", extra={"step": "drain", "not_stopped": self._not_stopped})
        _flush()
        code = MISCONFIGURED if refused else DRAINED
        if self._not_stopped:
            os._exit(code)  # a handler that cannot be stopped would keep the interpreter
        return code

    def _drain(self, grace: float) -> str | None:
        """Returns why the worker failed meanwhile; None once it has ended. A poll of a queue that
        is under way may take longer than the pool; it is not waited for after a second signal."""
        fields = {"step": "drain", "grace": grace, "running": self._worker.running}
        LOG.info("worker draining", extra=fields)
        self._worker.drain(grace)
        patient = True
        while not self._worker.ended(with_polls=patient):
            event = self._events.next_within(CHECK)
            if event == DRAIN_NOW:
                LOG.info("grace skipped", extra={"step": "drain"})
                self._worker.drain(0)
                patient = False
            elif event != DRAIN and isinstance(event, str):
                return event
        return None

    @property
    def _not_stopped(self) -> int:
        return self._connected.pool.not_stopped

    def _fail(self, reason: str) -> int:
        """Ends the process without a wait: its leases run out, and other workers take over."""
        LOG.critical("worker failed: %s", reason)
        _flush()
        os._exit(FAILED)

    def _health(self) -> dict[str, Any]:
        reason = self._worker.failure()
        status = "draining" if self._worker.draining else "ok"
        health = {
            "status": "failed" if reason else status,
            "worker": self._options.name,
            "pool": self._options.pool,
            "running": self._worker.running,
        }
        return health | ({"reason": reason} if reason else {})

    def _about(self) -> dict[str, Any]:
        options = self._options
        about = {
            "version": VERSION,
            "lanes": ",".join(options.lanes),
            "handlers": len(registry.names()),
            "concurrency": options.concurrency,
        }
        return about | ({"control_port": self._control.port} if self._control else {})


def _open_control_port(options: WorkerOptions) -> ControlPort | None:
    port = options.control_port
    if port is None:
        return None
    try:
        return ControlPort(port)
    except OSError as error:
        raise BadConfiguration(f"the control port {port} cannot be used: {error}") from error


def _set_up_log(options: WorkerOptions) -> None:
    form: Format = _fitting_format() if options.log_format == "auto" else options.log_format  # type: ignore[assignment]
    named = (("worker", options.name), *((("pool", options.pool),) if options.pool else ()))
    log_lines.install(LogSettings(format=form, level=options.log_level, fields=named))
    LOG.setLevel(min(logging.INFO, logging.getLogger().level))


def _fitting_format() -> Format:
    return "terminal" if sys.stdout.isatty() and sys.stderr.isatty() else "json"


def _flush() -> None:
    logging.shutdown()
    sys.stdout.flush()
