"""The notices of the local runner: sentences on a terminal, log records elsewhere."""

import atexit
import logging
import shutil
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Protocol, TextIO, cast

from rich.console import Console
from rich.text import Text

from duetime import __version__
from duetime.local.activity import Events
from duetime.local.backends import Backend
from duetime.local.demo import NAMESPACE
from duetime.local.event_lines import EVENTS, EventLines, LoggedEvents
from duetime.local.options import LocalOptions
from duetime.local.reload import Reloaded
from duetime.logs import formatting as log_lines
from duetime.logs.formatting import Format, LogSettings
from duetime.logs.line_writer import LineWriter
from duetime.terminal import one_line

RUNNER = logging.getLogger("duetime.runner")
REASONS = logging.getLogger("duetime.api.reasons")
DEFAULT_URL = "http://127.0.0.1:8080"  # the default of the command line
JSON = "-H 'content-type: application/json'"
BODY = '{"target": {"type": "python", "handler": "duetime.hello"}, "delay": 5}'


class Notices(Protocol):
    """An output for the runner's own messages and for its events."""

    events: Events

    def started(
        self, options: LocalOptions, backend: Backend, handlers: Collection[str], *, demo: bool
    ) -> None: ...

    def warn(self, message: str) -> None: ...

    def reloaded(self, handlers: Reloaded) -> None: ...

    def synced(self, schedules: str) -> None:
        """`schedules` says what has become of the schedules that the code declares."""
        ...

    def not_started(self, reason: str) -> None: ...

    def failed(self, reason: str) -> None: ...

    def draining(self) -> None: ...

    def stopped(self, *, clean: bool) -> None: ...

    def flush(self) -> None:
        """Waits until the output has every line, but not long."""
        ...


class TerminalNotices:
    def __init__(
        self, console: Console, options: LocalOptions, output: LineWriter | None = None
    ) -> None:
        self._console = console
        self._output = output
        self.events: Events = EventLines(console, address(options))

    def started(
        self, options: LocalOptions, backend: Backend, handlers: Collection[str], *, demo: bool
    ) -> None:
        welcome(self._console, options, backend, handlers, demo=demo)

    def warn(self, message: str) -> None:
        self._say("warning", "yellow", message)

    def reloaded(self, handlers: Reloaded) -> None:
        changes = [("added", handlers.added), ("removed", handlers.removed)]
        parts = [f"; {word}: {', '.join(sorted(names))}" for word, names in changes if names]
        words = f"Handlers reloaded{''.join(parts)}"
        self._console.print(Text(one_line(words), style="dim"), soft_wrap=True)

    def synced(self, schedules: str) -> None:
        words = Text(f"Schedules in code: {schedules}", style="dim")
        self._console.print(words, soft_wrap=True)

    def not_started(self, reason: str) -> None:
        self._say("error", "red", reason)

    def failed(self, reason: str) -> None:
        self._say("error", "red", f"{reason}. Duetime stops.")

    def draining(self) -> None:
        words = "Waiting for running tasks; press Ctrl-C again to stop now."
        self._console.print(words, style="dim")

    def stopped(self, *, clean: bool) -> None:
        if clean:
            self._console.print("Stopped.", style="dim")
        else:
            words = "Stopped. Unfinished tasks are retried at the next start."
            self._console.print(words)

    def flush(self) -> None:
        _drain(self._output)

    def _say(self, kind: str, style: str, message: str) -> None:
        line = Text.assemble((f"{kind}: ", style), one_line(message))
        self._console.print(line, soft_wrap=True)


class LoggedNotices:
    def __init__(self, output: LineWriter | None = None) -> None:
        """Logs notices, events and the reasons of actions at any --log-level: they are few, and
        show that all is well, and why it changed."""
        for log in (EVENTS, RUNNER, REASONS):
            log.setLevel(min(logging.INFO, logging.getLogger().level))
        self.events: Events = LoggedEvents()
        self._output = output

    def started(
        self, options: LocalOptions, backend: Backend, handlers: Collection[str], *, demo: bool
    ) -> None:
        fields = {
            "url": address(options),
            "store": backend.name,
            "version": __version__,
            "handlers": len(handlers),
            "resumed": backend.resumed,
            "demo": demo,
        }
        RUNNER.info("runner started", extra=fields)

    def warn(self, message: str) -> None:
        RUNNER.warning(message)

    def reloaded(self, handlers: Reloaded) -> None:
        fields = {
            "handlers": len(handlers.names),
            "added": ", ".join(sorted(handlers.added)),
            "removed": ", ".join(sorted(handlers.removed)),
        }
        RUNNER.info("handlers reloaded", extra=fields)

    def synced(self, schedules: str) -> None:
        RUNNER.info("schedules synced", extra={"schedules": schedules})

    def not_started(self, reason: str) -> None:
        RUNNER.error("runner not started: %s", reason)

    def failed(self, reason: str) -> None:
        try:
            RUNNER.critical("runner failed: %s", reason)
        except BaseException:  # noqa: BLE001 - the log itself may have failed
            print(f"error: {one_line(reason)}. Duetime stops.", file=sys.stderr, flush=True)

    def draining(self) -> None:
        RUNNER.info("runner stopping")

    def stopped(self, *, clean: bool) -> None:
        if clean:
            RUNNER.info("runner stopped")
        else:
            RUNNER.warning("runner stopped: unfinished tasks are retried at the next start")

    def flush(self) -> None:
        _drain(self._output)


def _drain(output: LineWriter | None) -> None:
    if output:
        output.drain()
    sys.stderr.flush()


def welcome(
    console: Console,
    options: LocalOptions,
    backend: Backend,
    handlers: Collection[str],
    *,
    demo: bool,
) -> None:
    url = address(options)
    own = sorted(name for name in handlers if not name.startswith("duetime."))
    store = f"  (store: {one_line(backend.name)})"
    head = Text.assemble(("Duetime", "bold"), " is running at ", (url, "bold"), store)
    console.print(head, soft_wrap=True)
    if own:
        _print_cut(console, Text(f"Handlers: {', '.join(own)}", style="dim"))
    if backend.resumed:
        tasks = "1 task" if backend.resumed == 1 else f"{backend.resumed:,} tasks"
        console.print(f"Resumed {tasks} that had not finished.")
    if options.token is not None:
        console.print("Requests need the token: other commands take it from DUETIME_TOKEN.")
    if options.read_only:
        console.print("Requests may only read.")
    console.print("\nTry, in another terminal:\n")
    for line in suggestions(url, command(), demo=demo):
        console.print(Text(f"  {line}", style="cyan"), soft_wrap=True)
    console.print("\nPress Ctrl-C to stop. Events:\n")


def _print_cut(console: Console, line: Text) -> None:
    line.truncate(console.width, overflow="ellipsis")
    console.print(line, soft_wrap=True)


def address(options: LocalOptions) -> str:
    host = f"[{options.host}]" if ":" in options.host else options.host
    return f"http://{host}:{options.port}"


def command() -> str:
    """Returns how to call the command line from the folder in which the runner was started."""
    if shutil.which("duetime"):
        return "duetime"
    script = Path(sys.argv[0])
    return str(script) if script.name == "duetime" else f"{sys.executable} -m duetime"


def suggestions(url: str, duetime: str, *, demo: bool) -> Iterator[str]:
    """Yields commands to paste, in lines of at most 80 columns."""
    if url != DEFAULT_URL:
        yield f"export DUETIME_URL={url}"
    yield f"{duetime} submit --handler duetime.hello \\"
    yield """  --payload '{"name": "Ada"}' --in 5 --watch"""
    yield f"{duetime} list{f' --namespace {NAMESPACE}' if demo else ''}"
    yield f"{duetime} show ID"
    yield ""
    yield f"curl -s {url}/v1/tasks {JSON} \\"
    yield f"  -d '{BODY}'"
    yield f"curl -s {url}/v1/tasks"


def notices_for(options: LocalOptions) -> Notices:
    """Set up logging. Returns notices for a terminal if stderr is one, else log records. Neither
    waits for what is behind stderr."""
    form: Format = options.log_format if options.log_format != "auto" else _fitting_format()
    output = LineWriter(sys.stderr)
    atexit.register(output.drain)
    log_lines.install(LogSettings(format=form, level=options.log_level), cast(TextIO, output))
    if form == "terminal":
        console = Console(file=cast(TextIO, output), highlight=False)
        return TerminalNotices(console, options, output)
    return LoggedNotices(output)


def _fitting_format() -> Format:
    return "terminal" if sys.stderr.isatty() else "text"
