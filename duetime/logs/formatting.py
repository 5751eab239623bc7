"""Log formats: plain text, JSON, or for a terminal. No line is wrapped or cut.

`install` sets up logging for a whole process: the local runner, or the process of an isolated
handler.
"""

import json
import logging
import os
import sys
import threading
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Literal, TextIO

from duetime.core.value import value
from duetime.logs.task_context import TaskFields, TaskLog, current

Format = Literal["text", "json", "terminal"]

STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
CHATTY = ("botocore", "boto3", "py_partiql_parser", "urllib3")
LONGEST_LINE = 16_384  # printed characters without an end of line, before one is added
COLOURS = {"DEBUG": "2", "INFO": "36", "WARNING": "33", "ERROR": "31", "CRITICAL": "1;31"}


@value(frozen=True, kw_only=True, slots=True)
class LogSettings:
    format: Format
    level: str
    fields: tuple[tuple[str, str], ...] = ()  # that every line in JSON has


_installed: LogSettings | None = None


def installed() -> LogSettings | None:
    """Returns the settings of this process; None if Duetime did not set up its logging."""
    return _installed


def install(settings: LogSettings, output: TextIO | None = None) -> None:
    """Sets up logging for this process. It imports everything that a record needs, so that a
    process without free file descriptors can still log. A record that fails never raises to its
    caller. Without an `output`, records go to stderr."""
    global _installed  # noqa: PLW0603 - a process has one log
    _installed = settings
    formatter = _formatter(settings)
    handler = logging.StreamHandler(output or sys.stderr)
    handler.setFormatter(formatter)
    handler.addFilter(TaskFields())
    logging.basicConfig(level=settings.level.upper(), handlers=[handler], force=True)
    logging.raiseExceptions = False
    for name in CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)
    if settings.format == "terminal":
        return  # a person reads what is printed there, as it is
    logging.captureWarnings(True)
    threading.excepthook = _log_failed_thread
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if settings.format == "json" or not stream.isatty():
            stream.reconfigure(errors="backslashreplace")
            setattr(sys, name, PrintedLines(stream, name, formatter))


def _log_failed_thread(failed: threading.ExceptHookArgs) -> None:
    if failed.exc_value is None or failed.exc_type is SystemExit:
        return
    raised = (failed.exc_type, failed.exc_value, failed.exc_traceback)
    name = failed.thread.name if failed.thread else "?"
    logging.getLogger("threading").error("thread failed: %s", name, exc_info=raised)


def _formatter(settings: LogSettings) -> logging.Formatter:
    if settings.format == "json":
        return JsonLines(settings.fields)
    return TerminalLines() if settings.format == "terminal" else TextLines()


class TextLines(logging.Formatter):
    """2026-11-16T08:00:00.123Z WARNING shop.stock low on tea task_id=01K… attempt=1"""

    def format(self, record: logging.LogRecord) -> str:
        head = f"{_time(record)} {record.levelname} {record.name} {_one_line(_message(record))}"
        return head + _pairs(record) + "".join(f"\n{line}" for line in _trace(record, self))


class TerminalLines(logging.Formatter):
    """09:00:00  WARNING    low on tea  shop.stock task_id=01K… attempt=1"""

    def __init__(self) -> None:
        super().__init__()
        coloured = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._coloured = coloured and not os.environ.get("NO_COLOR")

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created).strftime("%H:%M:%S")
        level = self._in(COLOURS.get(record.levelname, ""), f"{record.levelname:<9}")
        rest = self._in("2", f"{record.name}{_pairs(record)}")
        head = f"{self._in('2', at)}  {level}  {_one_line(_message(record))}  {rest}"
        return head + "".join(f"\n{line}" for line in _trace(record, self))

    def _in(self, colour: str, text: str) -> str:
        return f"\x1b[{colour}m{text}\x1b[0m" if self._coloured and colour else text


class JsonLines(logging.Formatter):
    def __init__(self, fields: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__()
        self._fields = dict(fields)

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": _time(record),
            "level": record.levelname,
            "logger": record.name,
            "message": _message(record),
            **self._fields,
        }
        line |= {name: value for name, value in _fields(record).items() if name not in line}
        if trace := _trace(record, self):
            line["exception"] = "\n".join(trace)
        return _json(line)


class PrintedLines:
    """A standard stream that prints a handler's output as log lines with the ids of its task.
    Output from outside a handler is not changed."""

    def __init__(self, stream: TextIO, name: str, formatter: logging.Formatter) -> None:
        self._stream = stream
        self._name = name
        self._formatter = formatter

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        running = current()
        if running is None:
            return self._stream.write(text)
        place = (self, threading.get_ident())
        *lines, rest = (running.open_lines.pop(place, "") + text).split("\n")
        for line in lines:
            self.print_line(line, running)
        while len(rest) > LONGEST_LINE:
            self.print_line(rest[:LONGEST_LINE], running)
            rest = rest[LONGEST_LINE:]
        if rest:
            running.open_lines[place] = rest
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def print_line(self, line: str, of: TaskLog) -> None:
        """Prints a line; of one that was overwritten, as by a progress bar, the last state."""
        shown = line.rstrip("\r").rpartition("\r")[2]
        record = logging.LogRecord(self._name, logging.INFO, "", 0, "%s", (shown,), None)
        record.__dict__.update(of.fields())
        with suppress(OSError, ValueError):  # the reader is gone, which must not fail a handler
            self._stream.write(f"{self._formatter.format(record)}\n")
            self._stream.flush()


def _time(record: logging.LogRecord) -> str:
    at = datetime.fromtimestamp(record.created, UTC)
    return f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1_000:03d}Z"


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception:  # noqa: BLE001 - arguments that do not match are shown beside the message
        return f"{record.msg} {record.args!r}"


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    """Returns the fields from `extra` and from the running task."""
    return {name: value for name, value in vars(record).items() if name not in STANDARD}


def _pairs(record: logging.LogRecord) -> str:
    fields = _fields(record).items()
    return "".join(f" {name}={_plain(value)}" for name, value in fields if value is not None)


def _trace(record: logging.LogRecord, formatter: logging.Formatter) -> list[str]:
    texts = [formatter.formatException(record.exc_info)] if record.exc_info else []
    if record.stack_info:
        texts.append(formatter.formatStack(record.stack_info))
    return [_one_line(line) for text in texts for line in text.split("\n")]


def _plain(value: Any) -> str:
    text = value if isinstance(value, str) else _json(value)
    bare = text.isprintable() and text and not any(c in text for c in ' "=')
    return text if bare or not isinstance(value, str) else _json(value)


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_text)
    except (ValueError, TypeError, RecursionError):
        if isinstance(value, dict):
            return json.dumps({str(name): _encodable(inner) for name, inner in value.items()})
        return json.dumps(_text(value))


def _encodable(value: Any) -> Any:
    """Returns text for a value without a JSON form: recursive, nested too deeply, or not finite."""
    try:
        json.dumps(value, allow_nan=False, default=_text)
    except (ValueError, TypeError, RecursionError):
        return _text(value)
    return value


def _text(value: Any) -> str:
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - a class from elsewhere may raise anything
        return f"<{type(value).__name__}>"


def _one_line(text: str) -> str:
    """Escapes control characters, so that a text cannot control the terminal or forge a line."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
