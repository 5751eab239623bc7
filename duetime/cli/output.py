"""Where words go: data to stdout, complaints to stderr."""

import json
import sys
from typing import TYPE_CHECKING, Any

from rich.console import Console, RenderableType
from rich.text import Text

from duetime.cli.carets import pointed
from duetime.text import clean
from lambdas.core.errors import DuetimeError

if TYPE_CHECKING:
    from duetime.client import FieldError

PIPE_WIDTH = 200  # a pipe has no edge at which a row should break


def terminal() -> bool:
    return sys.stdout.isatty()


def answerable() -> bool:
    """Whether somebody is there to be asked."""
    return sys.stdin.isatty()


def agreed(question: str) -> bool:
    """Asked on stderr: stdout is for data."""
    print(question, "[y/N]", end=" ", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def stdout() -> Console:
    return Console(highlight=False, width=None if terminal() else PIPE_WIDTH)


def say(*parts: RenderableType) -> None:
    console = stdout()
    for part in parts:
        console.print(part, soft_wrap=isinstance(part, str | Text), markup=False)


def say_json(data: Any) -> None:
    sys.stdout.write(json.dumps(data, indent=2, ensure_ascii=False) + "\n")


def complain(error: DuetimeError | str) -> None:
    console = Console(stderr=True, highlight=False)
    for number, line in enumerate(lines_of(error)):
        console.print(Text(clean(line), style="red" if number == 0 else ""), soft_wrap=True)


def lines_of(error: DuetimeError | str) -> list[str]:
    """The detail of a problem only repeats its fields, if it has any."""
    if isinstance(error, str):
        return [error]
    from duetime.client import ApiError

    if isinstance(error, ApiError) and error.errors:
        return [error.title, *(line for field in error.errors for line in _lines(field))]
    return [str(error)]


def _lines(field: "FieldError") -> list[str]:
    if field.position is None or field.text is None:
        return [str(field)]
    return [str(field), *pointed(field.text, field.position)]
