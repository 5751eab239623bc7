"""`duetime local`: every role in one process."""

import gc
import logging
import os
import signal
import socket
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from queue import SimpleQueue
from typing import NoReturn

from rich.console import Console

from duetime import __version__
from duetime.local.activity import Activity
from duetime.local.backends import open_backend
from duetime.local.demo import submit_demo
from duetime.local.health import RunnerHealth
from duetime.local.http import asgi_app
from duetime.local.notices import LoggedNotices, Notices, TerminalNotices
from duetime.local.options import LocalOptions
from duetime.local.pump import Changes, Pump
from duetime.local.server import Server, listen
from duetime.local.threads import starting_threads
from lambdas import log_lines, registry
from lambdas.api.app import Api
from lambdas.api.http import Request, Response
from lambdas.core.errors import DuetimeError, StoreLost
from lambdas.core.lanes import Lane
from lambdas.debts import follow_up
from lambdas.executor.crew import Crew
from lambdas.executor.executor import Executor
from lambdas.executor.targets.address_rules import AddressRules, parse_allowed
from lambdas.executor.targets.addresses import Kind
from lambdas.executor.targets.http import HttpTarget
from lambdas.executor.targets.python import run_handler
from lambdas.log_lines import Format, LogSettings
from lambdas.relay.relay import Relay
from lambdas.scanner.scanner import Scanner

DRAIN = 30.0  # seconds that running handlers get to finish
# Threads of the runner hand small pieces of work to each other all the time; at Python's own
# 5 ms a thread that has something ready would often wait longer than its work takes.
SWITCH_INTERVAL = 0.001
GARBAGE_THRESHOLD = 20_000  # new objects between collections: each holds up every thread

# Modules that the roles import when they first need them. A runner that has run out of
# descriptors could not, so it has them from the start.
IMPORTED_LATE = (
    "lambdas.api.schedules.routes",
    "lambdas.core.recurrence.cron",
    "lambdas.core.recurrence.exclusions",
    "lambdas.core.recurrence.pattern",
    "lambdas.core.recurrence.words_for_days",
    "lambdas.executor.awaiting",
    "lambdas.executor.child",
    "lambdas.executor.gate",
    "lambdas.executor.previous",
    "lambdas.materialise",
)

log = logging.getLogger(__name__)


class Runner:
    """The roles, wired to one backend, behind a pump."""

    def __init__(self, options: LocalOptions, notices: Notices, listener: socket.socket) -> None:
        changes: Changes = SimpleQueue()
        self.failure: str | None = None  # why it ends without being asked to
        self._lost = False
        self._server = Server(asgi_app(self._call), listener)
        self.backend = open_backend(options, changes.put, self._lose)
        ports = self.backend.ports
        http = HttpTarget(ports.clock, address_rules(options))
        executor = Executor(ports, {"python": run_handler, "http": http})
        self.activity = Activity(notices.events)
        self.pump = Pump(
            scanner=Scanner(ports, self.backend.cursors, catch_up=options.catch_up),
            crews={
                lane: Crew(executor, ports.clock, options.concurrency, name=lane) for lane in Lane
            },
            lanes=ports.lanes,
            relay=Relay([self.activity], partial(follow_up, ports)),
            changes=changes,
            clock=ports.clock,
            tick=options.tick,
            poll=self.backend.poll,
            on_failure=self._fail,
            feed=self.backend.feed,
        )
        look = RunnerHealth(self.backend.check, self.pump)
        self.api = Api(
            ports,
            handlers=registry.names,
            version=__version__,
            longest_timeout=self.backend.longest_timeout,
            look=look,
        )

    def prepare(self) -> None:
        """Start every thread that it needs; nothing is taken in yet."""
        with starting_threads():
            self.activity.start()
        self.pump.start_threads()

    def start(self) -> None:
        self.pump.start()

    def serve(self) -> None:
        """Until a signal comes, or something fails that only a new start can mend."""
        self._server.serve_until_told()

    def stop(self, grace: float) -> bool:
        """Drain; True if nothing was left behind."""
        left = self.pump.stop(grace)
        self.activity.stop()
        if not left:
            self.backend.close()
        return not left

    def give_up(self, grace: float) -> None:
        """Stop after a failure. Of a store that is lost nothing can be recorded any more."""
        self.pump.stop(0 if self._lost else grace)

    def _call(self, request: Request) -> Response:
        return self.api.call(request)

    def _lose(self, error: StoreLost) -> None:
        self._lost = True
        self._fail(str(error))

    def _fail(self, reason: str) -> None:
        """From any thread. It writes no log: that may be what has failed."""
        self.failure = self.failure or reason
        self._server.should_exit = True


def run(options: LocalOptions) -> int:
    """Serve until Ctrl-C, then drain; the exit code of `duetime local`."""
    notices = _notices(options)
    try:
        options = replace(options, data=_absolute(options.data))
        _load_handlers(options.handlers, notices)
        listener = listen(options.host, options.port)
        runner = Runner(options, notices, listener)
        _import_late_parts()
        _tune_interpreter()
        runner.prepare()
    except DuetimeError as error:
        notices.not_started(str(error))
        log.debug("runner not started", exc_info=True)
        return 1
    demo = options.demo and not runner.backend.resumed
    notices.started(options, runner.backend, registry.names(), demo=demo)
    runner.start()  # only now: events come after the welcome
    if demo:
        submit_demo(runner.api.call)
    runner.serve()
    code = 1 if runner.failure else _drain(runner, notices)
    if runner.failure is not None:  # perhaps while it drained
        _give_up(runner, notices)
    return code


def _absolute(folder: Path) -> Path:
    """At once: a handler, or the import of one, may change the current folder."""
    try:
        return folder.absolute()
    except FileNotFoundError as error:
        reason = "the current folder is deleted; start Duetime in another one"
        raise DuetimeError(reason) from error


def _notices(options: LocalOptions) -> Notices:
    """Sets the log up as well: pretty where somebody looks at it, lines elsewhere."""
    form: Format = options.log_format if options.log_format != "auto" else _fitting_format()
    log_lines.install(LogSettings(format=form, level=options.log_level))
    if form == "terminal":
        return TerminalNotices(Console(stderr=True, highlight=False), options)
    return LoggedNotices()


def _fitting_format() -> Format:
    return "terminal" if sys.stderr.isatty() else "text"


def address_rules(options: LocalOptions) -> AddressRules:
    """The runner is mostly asked to call a neighbour, so it calls loopback addresses."""
    kinds = {Kind.LOOPBACK, Kind.PRIVATE} if options.allow_private else {Kind.LOOPBACK}
    return AddressRules(
        kinds=frozenset(kinds),
        allowed=[parse_allowed(host) for host in options.allow_hosts],
        hint="start the runner with --allow-host {address} to allow it",
        private_hint="start the runner with --allow-private or --allow-host {host} to allow it",
    )


def _load_handlers(sources: Sequence[str], notices: Notices) -> None:
    for source in sources:
        if not registry.load(source):
            notices.warn(f"handlers: {source} registers no new handler")


def _import_late_parts() -> None:
    for module in IMPORTED_LATE:
        import_module(module)


def _tune_interpreter() -> None:
    sys.setswitchinterval(SWITCH_INTERVAL)
    gc.freeze()  # what was loaded stays; looking through it again and again finds nothing
    gc.set_threshold(GARBAGE_THRESHOLD, 20, 20)


def _give_up(runner: Runner, notices: Notices) -> NoReturn:
    """End with 1, whatever else fails. Not by way of the interpreter's own end: that would wait
    for threads which may hang, and close files which may be another store's by now."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        notices.failed(str(runner.failure))
        runner.give_up(DRAIN)
        sys.stderr.flush()
    finally:
        os._exit(1)


def _drain(runner: Runner, notices: Notices) -> int:
    """A second Ctrl-C ends it at once: what was running is retried at the next start."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    notices.draining()
    try:
        clean = runner.stop(DRAIN)
    except KeyboardInterrupt:
        clean = False
    notices.stopped(clean=clean)
    return 0 if clean else 1
