"""`duetime archive`: search the tasks that have left the store."""

import json
import sys
from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from duetime.cli import format as fmt
from duetime.cli.exit_codes import ExitCode
from duetime.cli.options import AsJson
from duetime.cli.output import is_terminal, print_error, print_text
from duetime.cli.parse import past_moment, refuse, tag_pairs
from duetime.core.errors import DuetimeError
from duetime.core.times import Millis, from_datetime

S3 = "s3://"
WHEN = "TIME|DURATION"
FILTERS = "Which ones"


class Ended(StrEnum):
    SUCCEEDED = "SUCCEEDED"
    DEAD = "DEAD"
    CANCELLED = "CANCELLED"
    EXPIRED = "EXPIRED"


app = typer.Typer(
    name="archive",
    help="The archive: tasks that have left the store after their retention.",
    no_args_is_help=True,
)


@app.callback()
def archive() -> None:
    """Keeps `search` a command of its own while it is the only one."""


@app.command()
def search(
    where: Annotated[str, typer.Argument(metavar="DIR|s3://BUCKET", help="Where the archive is.")],
    *,
    task_id: Annotated[
        str | None, typer.Option("--id", help="Only this task.", rich_help_panel=FILTERS)
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="Only with this name.", rich_help_panel=FILTERS)
    ] = None,
    namespace: Annotated[
        str | None, typer.Option(help="Only of this namespace.", rich_help_panel=FILTERS)
    ] = None,
    tag: Annotated[
        str | None,
        typer.Option(metavar="K=V", help="Only with this tag.", rich_help_panel=FILTERS),
    ] = None,
    status: Annotated[
        list[Ended] | None,
        typer.Option(
            case_sensitive=False,
            help="Only those that ended so; repeatable.",
            rich_help_panel=FILTERS,
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            metavar=WHEN,
            help="Ended then or later, e.g. 2026-11-16T09:00:00+01:00, or 90d (90 days ago).",
            rich_help_panel=FILTERS,
        ),
    ] = None,
    before: Annotated[
        str | None, typer.Option(metavar=WHEN, help="Ended before then.", rich_help_panel=FILTERS)
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="How many.")] = None,
    as_json: AsJson = False,
) -> None:
    """Search the archive; a line for each task, in the order in which they left.

    In a pipe, and with --json, each line is a whole record with its attempts."""
    from duetime.core.archive import ArchiveQuery, ArchiveSearch

    query = ArchiveQuery(
        id=task_id,
        name=name,
        namespace=namespace,
        tag=_tag(tag),
        statuses=frozenset(found.value for found in status) if status else None,
        since=_moment("--since", since),
        before=_moment("--before", before),
    )
    found = ArchiveSearch(query)
    for record in islice(found.records(_lines(where, query.since)), limit):
        if as_json or not is_terminal():
            sys.stdout.write(json.dumps(record, ensure_ascii=False) + "\n")
        else:
            print_text(_line(record))
    if found.unreadable:
        print_error(f"{fmt.count(found.unreadable, 'line')} of the archive cannot be read.")
        raise typer.Exit(ExitCode.NOT_DONE)


def _tag(text: str | None) -> tuple[str, str] | None:
    if text is None:
        return None
    [(key, value)] = tag_pairs([text]).items()
    return key, value


def _moment(option: str, text: str | None) -> Millis | None:
    moment = past_moment(option, text, fmt.now())
    return None if moment is None else from_datetime(datetime.fromisoformat(moment))


def _lines(where: str, since: Millis | None) -> Iterator[bytes]:
    if where.startswith(S3):
        from duetime.aws.archive_bucket import read_bucket

        bucket, _, prefix = where.removeprefix(S3).partition("/")
        if not bucket:
            refuse("DIR|s3://BUCKET", f"{where!r} names no bucket")
        return read_bucket(bucket, prefix, since)
    folder = Path(where)
    if not folder.is_dir():
        refuse("DIR|s3://BUCKET", f"there is no folder {where!r}")
    return _folder_lines(folder, since)


def _folder_lines(folder: Path, since: Millis | None) -> Iterator[bytes]:
    from duetime.local.folder_archive import read_folder

    try:
        yield from read_folder(folder, since)
    except (OSError, EOFError) as error:
        raise DuetimeError(f"the archive cannot be read: {error}") from error


def _line(record: dict[str, Any]) -> str:
    parts = (record["id"], record.get("status"), record.get("finished_at"), record.get("name"))
    return "  ".join(str(part) for part in parts if part)
