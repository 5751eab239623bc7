"""Options that several commands share."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from duetime.cli.values import duration, pause, refuse
from lambdas.core.errors import DuetimeError

if TYPE_CHECKING:
    from duetime.cli.listing import Page, ReadPage
    from duetime.client import Client

Item = TypeVar("Item")

WHERE = "Where Duetime is"

Url = Annotated[
    str | None,
    typer.Option(
        "--url",
        envvar="DUETIME_URL",
        help="Where Duetime listens; at API Gateway's own address, requests are signed.",
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
        help="Send this bearer token, and do not sign; the variable keeps it off the screen.",
        metavar="TOKEN",
        rich_help_panel=WHERE,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, on stdout.")]
Every = Annotated[str, typer.Option("--every", metavar="DURATION", help="How often to look.")]
WaitUpTo = Annotated[
    str | None,
    typer.Option("--wait", metavar="DURATION", help="Give up after this long (exit code 5)."),
]

Limit = Annotated[int, typer.Option("--limit", min=1, help="How many.")]
NoLimit = Annotated[bool, typer.Option("--all", help="No limit.")]
Cursor = Annotated[
    str | None, typer.Option("--cursor", help="Go on where --json said `next_cursor`.")
]


def id_given(text: str) -> str:
    """An unset shell variable must not become a call on the whole collection."""
    if not text.strip():
        raise typer.BadParameter("the id is empty")
    return text


def given_id(text: str | None) -> str | None:
    return None if text is None else id_given(text)


def task_ids(values: list[str]) -> list[str]:
    return [id_given(value) for value in values]


TaskId = Annotated[str, typer.Argument(metavar="ID", callback=id_given, help="The id of a task.")]
TaskIds = Annotated[
    list[str], typer.Argument(metavar="ID...", callback=task_ids, help="The ids of tasks.")
]
ScheduleId = Annotated[
    str, typer.Argument(metavar="ID", callback=id_given, help="The id of a schedule.")
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Following:
    """Whether to follow what was submitted, and how."""

    watch: Annotated[bool, typer.Option("--watch", help="Follow it until it ends.")] = False
    wait: WaitUpTo = None
    every: Every = "0.5"

    def checked(self) -> tuple[float, float | None]:
        """How often to look, and for how long."""
        if self.wait is not None and not self.watch:
            refuse("--wait", "goes with --watch")
        return pause("--every", self.every), duration("--wait", self.wait)


@dataclass(frozen=True, kw_only=True, slots=True)
class Server:
    """Where Duetime is, and how it lets us in."""

    url: Url = None
    sign: Sign = None
    token: Token = None

    def connect(self) -> "Client":
        from duetime.cli.output import complain
        from duetime.client import BadArgument, Client

        def tell(error: DuetimeError) -> None:
            complain(f"{error} (trying again)")

        try:
            return Client(self.url, sign=self.sign, token=self.token, on_silence=tell)
        except BadArgument as error:
            hint = f"--{error.name} (or DUETIME_{error.name.upper()})"
            raise typer.BadParameter(str(error), param_hint=hint) from error


@dataclass(frozen=True, kw_only=True, slots=True)
class Paging:
    """How much of a list."""

    limit: Limit = 20
    everything: NoLimit = False
    cursor: Cursor = None

    def read(self, page_of: "ReadPage[Item]") -> "Page[Item]":
        from duetime.cli import listing

        return listing.read(page_of, None if self.everything else self.limit, self.cursor)
