"""`duetime local`: every role in one process."""

import gc
import logging
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from queue import SimpleQueue

import uvicorn
from rich.console import Console
from rich.logging import RichHandler

from duetime import __version__
from duetime.local.activity import Activity
from duetime.local.backends import open_backend
from duetime.local.demo import submit_demo
from duetime.local.http import asgi_app
from duetime.local.options import LocalOptions
from duetime.local.pump import Changes, Pump
from duetime.local.welcome import welcome
from lambdas import registry
from lambdas.api.app import Api
from lambdas.core.errors import DuetimeError
from lambdas.core.lanes import Lane
from lambdas.executor.crew import Crew
from lambdas.executor.executor import Executor
from lambdas.executor.targets.http import HttpTarget, public_or_loopback
from lambdas.executor.targets.python import run_handler
from lambdas.relay.relay import Relay
from lambdas.scanner.scanner import Scanner

DRAIN = 30.0  # seconds that running handlers get to finish
# Threads of the runner hand small pieces of work to each other all the time; at Python's own
# 5 ms a thread that has something ready would often wait longer than its work takes.
SWITCH_INTERVAL = 0.001


GARBAGE_THRESHOLD = 20_000


class Runner:
    """The roles, wired to one backend, behind a pump."""

    def __init__(self, options: LocalOptions, console: Console) -> None:
        changes: Changes = SimpleQueue()
        self.backend = open_backend(options, changes.put)
        ports = self.backend.ports
        self.api = Api(ports, handlers=registry.names, version=__version__)
        http = HttpTarget(ports.clock, public_or_loopback)
        executor = Executor(ports, {"python": run_handler, "http": http})
        self.pump = Pump(
            scanner=Scanner(ports, self.backend.cursors),
            crews={lane: Crew(executor, ports.clock, options.concurrency, lane) for lane in Lane},
            lanes=ports.lanes,
            relay=Relay([Activity(console)]),
            changes=changes,
            tick=options.tick,
            poll=self.backend.poll,
            on_failure=self._fail,
        )
        config = uvicorn.Config(
            asgi_app(self.api.call), log_level="warning", access_log=False, lifespan="off"
        )
        self._server = _Server(config)
        self._failed = False

    def serve(self, listener: socket.socket) -> None:
        """Until a signal comes, or something fails that only a new start can mend."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._server.handle_exit)
        self._server.run(sockets=[listener])

    def stop(self, grace: float) -> bool:
        """Drain; True if nothing was left behind."""
        left = self.pump.stop(grace)
        if not left:
            self.backend.close()
        return not left and not self._failed

    def _fail(self) -> None:
        self._failed = True
        self._server.should_exit = True


def run(options: LocalOptions) -> int:
    """Serve until Ctrl-C, then drain; the exit code of `duetime local`."""
    console = Console(stderr=True, highlight=False)
    logging.basicConfig(
        level=options.log_level.upper(),
        format="%(message)s",
        handlers=[RichHandler(console=console, show_path=False)],
    )
    logging.getLogger("botocore").setLevel(logging.WARNING)
    try:
        for source in options.handlers:
            registry.load(source)
        listener = _listen(options.host, options.port)
        runner = Runner(options, console)
    except DuetimeError as error:
        console.print(f"[red]error:[/] {error}")
        return 1
    _tune_interpreter()
    runner.pump.start()
    welcome(console, options, runner.backend, registry.names())
    if options.demo:
        submit_demo(runner.api.call)
    runner.serve(listener)
    return _drain(runner, console)


def _tune_interpreter() -> None:
    sys.setswitchinterval(SWITCH_INTERVAL)
    gc.freeze()  # what was loaded stays; looking through it again and again finds nothing
    gc.set_threshold(GARBAGE_THRESHOLD, 20, 20)


def _drain(runner: Runner, console: Console) -> int:
    """A second Ctrl-C ends it at once: what was running is retried at the next start."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    console.print("Finishing what is running; Ctrl-C again to stop at once.", style="dim")
    try:
        clean = runner.stop(DRAIN)
    except KeyboardInterrupt:
        clean = False
    if not clean:
        console.print("Stopped; what was still running is tried again at the next start.")
        return 1
    console.print("Stopped.", style="dim")
    return 0


class _Server(uvicorn.Server):
    """uvicorn raises the signal again once it is down; here the draining comes after."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        reason = error.strerror or str(error)
        raise DuetimeError(f"cannot listen on {host}:{port}: {reason}; try --port") from None
