"""What the local runner says: to people on a terminal, else as log records."""

import logging
import sys
from collections.abc import Collection
from typing import Protocol

from rich.console import Console
from rich.text import Text

from duetime import __version__
from duetime.local.activity import Events
from duetime.local.backends import Backend
from duetime.local.event_lines import EventLines
from duetime.local.event_log import EVENTS, LoggedEvents
from duetime.local.options import LocalOptions
from duetime.local.welcome import address, welcome
from duetime.text import one_line

RUNNER = logging.getLogger("duetime.runner")


class Notices(Protocol):
    events: Events

    def started(
        self, options: LocalOptions, backend: Backend, handlers: Collection[str], *, demo: bool
    ) -> None: ...

    def warn(self, message: str) -> None: ...

    def not_started(self, reason: str) -> None: ...

    def failed(self, reason: str) -> None: ...

    def draining(self) -> None: ...

    def stopped(self, *, clean: bool) -> None: ...


class TerminalNotices:
    def __init__(self, console: Console, options: LocalOptions) -> None:
        self._console = console
        self.events: Events = EventLines(console, address(options))

    def started(
        self, options: LocalOptions, backend: Backend, handlers: Collection[str], *, demo: bool
    ) -> None:
        welcome(self._console, options, backend, handlers, demo=demo)

    def warn(self, message: str) -> None:
        self._say("warning", "yellow", message)

    def not_started(self, reason: str) -> None:
        self._say("error", "red", reason)

    def failed(self, reason: str) -> None:
        self._say("error", "red", f"{reason}. Duetime ends.")

    def draining(self) -> None:
        words = "Finishing what is running; Ctrl-C again to stop at once."
        self._console.print(words, style="dim")

    def stopped(self, *, clean: bool) -> None:
        if clean:
            self._console.print("Stopped.", style="dim")
        else:
            words = "Stopped; what was still running is tried again at the next start."
            self._console.print(words)

    def _say(self, kind: str, style: str, message: str) -> None:
        line = Text.assemble((f"{kind}: ", style), one_line(message))
        self._console.print(line, soft_wrap=True)


class LoggedNotices:
    def __init__(self) -> None:
        """Whatever --log-level says, these are seen: they are few, and say that all is well."""
        for log in (EVENTS, RUNNER):
            log.setLevel(min(logging.INFO, logging.getLogger().level))
        self.events: Events = LoggedEvents()

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

    def not_started(self, reason: str) -> None:
        RUNNER.error("runner not started: %s", reason)

    def failed(self, reason: str) -> None:
        try:
            RUNNER.critical("runner failed: %s", reason)
        except BaseException:  # noqa: BLE001 - the log may be what has failed
            print(f"error: {one_line(reason)}. Duetime ends.", file=sys.stderr, flush=True)

    def draining(self) -> None:
        RUNNER.info("runner stopping")

    def stopped(self, *, clean: bool) -> None:
        if clean:
            RUNNER.info("runner stopped")
        else:
            RUNNER.warning("runner stopped: runs left behind are tried again at the next start")
