"""Exit codes, and the one place where an expected error becomes a message and an exit code."""

from enum import IntEnum
from typing import Any

import typer
from typer.core import TyperGroup

from duetime.core.errors import DuetimeError
from duetime.extras import not_installed


class ExitCode(IntEnum):
    OK = 0
    NOT_DONE = 1
    USAGE = 2
    UNREACHABLE = 3
    NOT_FOUND = 4
    TIMED_OUT = 5
    INTERRUPTED = 130


MEANINGS = {
    ExitCode.OK: "done (watch: the task or run SUCCEEDED)",
    ExitCode.NOT_DONE: "the task or run ended without success, or a request was refused",
    ExitCode.USAGE: "the command line is wrong",
    ExitCode.UNREACHABLE: "Duetime does not answer",
    ExitCode.NOT_FOUND: "no such task, schedule, workflow, run or limit",
    ExitCode.TIMED_OUT: "the task or run had not ended when the wait did",
    ExitCode.INTERRUPTED: "stopped with Ctrl-C",
}

EPILOG = "\n".join(
    ["Exit codes, for scripts:", *(f"{code:>5}  {text}" for code, text in MEANINGS.items())]
)


class Commands(TyperGroup):
    """Prints an expected error and exits with its code; other errors keep their traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")  # of pydantic, by Typer
            raise
        except DuetimeError as error:
            raise _exit(error) from error
        except ModuleNotFoundError as error:
            if (missing := not_installed(error)) is None:
                raise
            raise _exit(missing) from error
        except KeyboardInterrupt as error:
            raise typer.Exit(ExitCode.INTERRUPTED) from error


def _exit(error: DuetimeError) -> typer.Exit:
    from duetime.cli.output import print_error

    print_error(error)
    return typer.Exit(code_of(error))


def code_of(error: DuetimeError) -> ExitCode:
    from duetime.client import NotFound, Unreachable, WaitTimeout

    match error:
        case Unreachable():
            return ExitCode.UNREACHABLE
        case WaitTimeout():
            return ExitCode.TIMED_OUT
        case NotFound():
            return ExitCode.NOT_FOUND
        case _:
            return ExitCode.NOT_DONE
