"""Output of the commands: data on stdout, errors and questions on stderr."""

import json
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import typer

from duetime.cli.exit_codes import ExitCode
from duetime.cli.parse import refuse
from duetime.core.errors import DuetimeError
from duetime.terminal import clean

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from duetime.client import FieldError

PIPE_WIDTH = 200  # columns: in a pipe a row need not break at the width of a terminal
EXCERPT_WIDTH = 60  # characters shown around a caret


def is_terminal() -> bool:
    return sys.stdout.isatty()


def stderr_is_terminal() -> bool:
    return sys.stderr.isatty()


def can_ask() -> bool:
    return sys.stdin.isatty()


def require_terminal(hint: str = "") -> None:
    """Refuses the command line if a question could not be answered."""
    if not can_ask():
        refuse("--yes", f"required without a terminal to ask on{hint}")


def confirm(question: str, declined: str) -> None:
    """Asks on stderr, and ends the command with NOT_DONE unless the answer is yes."""
    print(question, "[y/N]", end=" ", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        print_error(declined)
        raise typer.Exit(ExitCode.NOT_DONE)


def stdout_console() -> "Console":
    from rich.console import Console

    return Console(highlight=False, width=None if is_terminal() else PIPE_WIDTH)


def print_text(*parts: "RenderableType") -> None:
    from rich.text import Text

    console = stdout_console()
    for part in parts:
        console.print(part, soft_wrap=isinstance(part, str | Text), markup=False)


def print_json(data: Any) -> None:
    sys.stdout.write(json.dumps(data, indent=2, ensure_ascii=False) + "\n")


def print_result(
    data: Any, text: "Callable[[], Iterable[RenderableType]]", *, as_json: bool
) -> None:
    """Prints `data` as JSON, or else the parts that `text` returns."""
    if as_json:
        print_json(data)
    else:
        print_text(*text())


def print_error(error: DuetimeError | str) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, highlight=False)
    for number, line in enumerate(_error_lines(error)):
        console.print(Text(clean(line), style="red" if number == 0 else ""), soft_wrap=True)


def print_note(text: str) -> None:
    """Prints a line on stderr that is no error."""
    print(clean(text), file=sys.stderr)


def _error_lines(error: DuetimeError | str) -> list[str]:
    """The title and the fields of an API error that has fields: its detail repeats them."""
    if isinstance(error, str):
        return [error]
    from duetime.client import ApiError

    if isinstance(error, ApiError) and error.errors:
        return [error.title, *(line for field in error.errors for line in _field_lines(field))]
    return [str(error)]


def _field_lines(field: "FieldError") -> list[str]:
    if field.position is None or field.text is None:
        return [str(field)]
    return [str(field), *caret_lines(field.text, field.position)]


def caret_lines(text: str, position: int) -> list[str]:
    """Returns the text and, below it, a caret under `position`, which counts from 1.

    A long text is cut to what is around the caret."""
    from rich.cells import cell_len

    shown = "".join(c if c.isprintable() else " " for c in text)
    place = min(max(position - 1, 0), len(shown))
    start = max(0, min(place - EXCERPT_WIDTH // 2, len(shown) - EXCERPT_WIDTH))
    end = start + EXCERPT_WIDTH
    before = "…" if start else ""
    after = "…" if end < len(shown) else ""
    width = cell_len(before + shown[start:place])
    return [f"  {before}{shown[start:end]}{after}", f"  {' ' * width}^"]
