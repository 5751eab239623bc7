"""Options and groups of options that several commands share."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

import typer

from duetime.cli.output import print_error, print_result
from duetime.cli.parse import duration, poll_interval, refuse
from duetime.core.errors import DuetimeError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from duetime.cli.paging import Page, ReadPage
    from duetime.client import Client

Item = TypeVar("Item")

WHERE = "Where Duetime is"

Url = Annotated[
    str | None,
    typer.Option(
        "--url",
        envvar="DUETIME_URL",
        help="Where Duetime listens. Requests to an API Gateway address are signed.",
        metavar="URL",
        show_default="http://127.0.0.1:8080",
        rich_help_panel=WHERE,
    ),
]
Sign = Annotated[
    str | None,
    typer.Option(
        "--sign",
        envvar="DUETIME_SIGN",
        help="Sign requests with your AWS credentials for this region: for a custom domain.",
        metavar="REGION",
        rich_help_panel=WHERE,
    ),
]
Token = Annotated[
    str | None,
    typer.Option(
        "--token",
        envvar="DUETIME_TOKEN",
        help="Send this bearer token instead of a signature; the variable keeps it off the screen.",
        metavar="TOKEN",
        rich_help_panel=WHERE,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, on stdout.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Every = Annotated[str, typer.Option("--every", metavar="DURATION", help="How often to poll.")]
WaitUpTo = Annotated[
    str | None,
    typer.Option("--wait", metavar="DURATION", help="Give up after this long (exit code 5)."),
]

Limit = Annotated[int, typer.Option("--limit", min=1, help="How many.")]
NoLimit = Annotated[bool, typer.Option("--all", help="No limit.")]
Cursor = Annotated[
    str | None, typer.Option("--cursor", help="Continue at a `next_cursor` that --json printed.")
]


def check_id(text: str) -> str:
    """Refuses an empty id: an unset shell variable must not become a call on the collection."""
    if not text.strip():
        raise typer.BadParameter("the id is empty")
    return text


def check_optional_id(text: str | None) -> str | None:
    return None if text is None else check_id(text)


def check_ids(texts: list[str] | None) -> list[str]:
    return [check_id(text) for text in texts or []]


TaskId = Annotated[str, typer.Argument(metavar="ID", callback=check_id, help="The id of a task.")]
TaskIds = Annotated[
    list[str], typer.Argument(metavar="ID...", callback=check_ids, help="The ids of tasks.")
]
ScheduleId = Annotated[
    str,
    typer.Argument(metavar="ID|NAME", callback=check_id, help="The id or the name of a schedule."),
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Connection:
    """The API that a command calls, how it authenticates, and whether it prints JSON."""

    url: Url = None
    sign: Sign = None
    token: Token = None
    json: AsJson = False

    def connect(self) -> "Client":
        from duetime.client import BadArgument, Client

        def print_retry(error: DuetimeError) -> None:
            print_error(f"{error} (trying again)")

        try:
            return Client(self.url, sign=self.sign, token=self.token, on_silence=print_retry)
        except BadArgument as error:
            hint = f"--{error.name} (or DUETIME_{error.name.upper()})"
            raise typer.BadParameter(str(error), param_hint=hint) from error

    def print(self, data: Any, text: "Callable[[], Iterable[RenderableType]]") -> None:
        """Prints `data` with --json, or else the parts that `text` returns."""
        print_result(data, text, as_json=self.json)


class Polling(NamedTuple):
    """Whether to follow a task until it ends, how often to poll it and when to give up."""

    watch: bool
    interval: float
    limit: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Following:
    """Whether and how to follow the task that was submitted."""

    watch: Annotated[bool, typer.Option("--watch", help="Follow it until it ends.")] = False
    wait: WaitUpTo = None
    every: Every = "0.5"

    def parse(self) -> Polling:
        if self.wait is not None and not self.watch:
            refuse("--wait", "goes with --watch")
        interval = poll_interval("--every", self.every)
        return Polling(self.watch, interval, duration("--wait", self.wait))


@dataclass(frozen=True, kw_only=True, slots=True)
class Paging:
    """How much of a list."""

    limit: Limit = 20
    everything: NoLimit = False
    cursor: Cursor = None

    def read(self, page_of: "ReadPage[Item]") -> "Page[Item]":
        from duetime.cli.paging import read_pages

        return read_pages(page_of, None if self.everything else self.limit, self.cursor)
