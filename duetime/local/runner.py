"""`duetime local`: every role in one process."""

import errno
import gc
import logging
import os
import signal
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from queue import SimpleQueue

import uvicorn
from rich.console import Console
from rich.logging import RichHandler
from rich.text import Text

from duetime import __version__
from duetime.local.activity import Activity
from duetime.local.backends import open_backend
from duetime.local.demo import submit_demo
from duetime.local.http import asgi_app
from duetime.local.options import LocalOptions
from duetime.local.pump import Changes, Pump
from duetime.local.welcome import welcome
from duetime.text import one_line
from lambdas import registry
from lambdas.api.app import Api
from lambdas.core.errors import DuetimeError
from lambdas.core.lanes import Lane
from lambdas.debts import pay_named
from lambdas.executor.crew import Crew
from lambdas.executor.executor import Executor
from lambdas.executor.targets.addresses import public_or_loopback
from lambdas.executor.targets.http import HttpTarget
from lambdas.executor.targets.python import run_handler
from lambdas.relay.relay import Relay
from lambdas.scanner.scanner import Scanner

DRAIN = 30.0  # seconds that running handlers get to finish
# Threads of the runner hand small pieces of work to each other all the time; at Python's own
# 5 ms a thread that has something ready would often wait longer than its work takes.
SWITCH_INTERVAL = 0.001
GARBAGE_THRESHOLD = 20_000  # new objects between collections: each holds up every thread

log = logging.getLogger(__name__)


class Runner:
    """The roles, wired to one backend, behind a pump."""

    def __init__(self, options: LocalOptions, console: Console) -> None:
        changes: Changes = SimpleQueue()
        self.backend = open_backend(options, changes.put)
        ports = self.backend.ports
        self.api = Api(ports, handlers=registry.names, version=__version__)
        http = HttpTarget(ports.clock, public_or_loopback)
        executor = Executor(ports, {"python": run_handler, "http": http})
        self._activity = Activity(console)
        self.pump = Pump(
            scanner=Scanner(ports, self.backend.cursors, catch_up=options.catch_up),
            crews={
                lane: Crew(executor, ports.clock, options.concurrency, name=lane) for lane in Lane
            },
            lanes=ports.lanes,
            relay=Relay([self._activity], partial(pay_named, ports)),
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
        self._activity.tell_hidden()
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
    for chatty in ("botocore", "boto3", "py_partiql_parser", "urllib3"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    try:
        _load_handlers(options.handlers, console)
        listener = _listen(options.host, options.port)
        runner = Runner(options, console)
    except DuetimeError as error:
        _say(console, "error", "red", str(error))
        log.debug("it cannot start", exc_info=True)
        return 1
    _tune_interpreter()
    runner.pump.start()
    demo = options.demo and not runner.backend.resumed
    welcome(console, options, runner.backend, registry.names(), demo=demo)
    if demo:
        submit_demo(runner.api.call)
    runner.serve(listener)
    return _drain(runner, console)


def _load_handlers(sources: Sequence[str], console: Console) -> None:
    for source in sources:
        if not registry.load(source):
            _say(console, "warning", "yellow", f"handlers: {source} registers no new handler")


def _say(console: Console, kind: str, style: str, message: str) -> None:
    console.print(Text.assemble((f"{kind}: ", style), one_line(message)), soft_wrap=True)


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
        socket.getaddrinfo(host, port, family)  # create_server would not tell a bad host apart
        return socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, UnicodeError) as error:
        reason = _blame(error)
        raise DuetimeError(f"cannot listen on {host}:{port}: {reason}") from error


def _blame(error: OSError | UnicodeError) -> str:
    """Whether another host would help, or another port."""
    if isinstance(error, socket.gaierror | UnicodeError):
        return "there is no such host; try another --host"
    if error.errno == errno.EADDRINUSE:
        return "the port is in use; try another --port"
    if error.errno == errno.EACCES:
        return "the port is not for you; try a --port of 1024 or above"
    if error.errno == errno.EADDRNOTAVAIL:
        return "the host is not this machine; try another --host"
    return os.strerror(error.errno or 0)
