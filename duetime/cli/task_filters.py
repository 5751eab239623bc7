"""The options that select tasks, for every command that takes a filter."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from duetime.cli.options import check_optional_id
from duetime.cli.parse import coming_moment, past_moment, refuse
from duetime.core.allowed_targets import TARGET_TYPES
from duetime.core.lanes import queue_in
from duetime.core.lifecycle import Status

if TYPE_CHECKING:
    from duetime.client import TaskFilter

FILTERS = "Which tasks"
ALL_NAMESPACES = "*"


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskFilters:
    """Which tasks: every option that is given must match."""

    query: Annotated[
        str | None,
        typer.Option(
            "--query",
            "-q",
            metavar="WORD:VALUE...",
            help="The same in one text, e.g. 'status:DEAD handler:shop.restock since:24h'.",
            rich_help_panel=FILTERS,
        ),
    ] = None
    status: Annotated[
        list[str] | None,
        typer.Option(
            metavar="STATUS[,STATUS]",
            help="Only in these statuses, e.g. PENDING,RUNNING; repeatable.",
            rich_help_panel=FILTERS,
        ),
    ] = None
    namespace: Annotated[
        str | None,
        typer.Option(help="Whose tasks.", show_default="default", rich_help_panel=FILTERS),
    ] = None
    all_namespaces: Annotated[
        bool,
        typer.Option(
            "--all-namespaces", "-A", help="Tasks of all namespaces.", rich_help_panel=FILTERS
        ),
    ] = False
    schedule: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            callback=check_optional_id,
            help="Only runs of this schedule.",
            rich_help_panel=FILTERS,
        ),
    ] = None
    parent: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            callback=check_optional_id,
            help="Only what the handler of this task has submitted.",
            rich_help_panel=FILTERS,
        ),
    ] = None
    tag: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY[:VALUE]",
            help="Only with this tag, e.g. team:growth; repeatable.",
            rich_help_panel=FILTERS,
        ),
    ] = None
    name: Annotated[
        str | None, typer.Option(help="Only if the name begins so.", rich_help_panel=FILTERS)
    ] = None
    handler: Annotated[
        str | None, typer.Option(help="Only for this handler.", rich_help_panel=FILTERS)
    ] = None
    target: Annotated[
        str | None,
        typer.Option(
            metavar="TYPE",
            help=f"Only with this type of target: {', '.join(TARGET_TYPES)}.",
            rich_help_panel=FILTERS,
        ),
    ] = None
    lane: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LANE[,LANE]",
            help="Only in these lanes, e.g. low, or batch/low of a pool; repeatable.",
            rich_help_panel=FILTERS,
        ),
    ] = None
    error_type: Annotated[
        str | None,
        typer.Option(metavar="TYPE", help="Only if it failed so.", rich_help_panel=FILTERS),
    ] = None
    with_key: Annotated[
        str | None,
        typer.Option(help="Only with this idempotency key.", rich_help_panel=FILTERS),
    ] = None
    run: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            callback=check_optional_id,
            help="Only the steps of this run.",
            rich_help_panel=FILTERS,
        ),
    ] = None
    due_since: Annotated[
        str | None,
        typer.Option(
            metavar="TIME|DURATION",
            help="Due then or later, e.g. 1h (in an hour).",
            rich_help_panel=FILTERS,
        ),
    ] = None
    due_before: Annotated[
        str | None,
        typer.Option(metavar="TIME|DURATION", help="Due before then.", rich_help_panel=FILTERS),
    ] = None
    since: Annotated[
        str | None,
        typer.Option(
            metavar="TIME|DURATION",
            help="Created then or later, e.g. 2026-11-16T09:00:00+01:00, or 1h (an hour ago).",
            rich_help_panel=FILTERS,
        ),
    ] = None
    before: Annotated[
        str | None,
        typer.Option(metavar="TIME|DURATION", help="Created before then.", rich_help_panel=FILTERS),
    ] = None

    def parse(self, now: datetime) -> "TaskFilter":
        """Returns the fields of the filter that are given."""
        if self.all_namespaces and self.namespace is not None:
            refuse("--all-namespaces", "does not go with --namespace")
        return {
            "q": self.query,
            "status": statuses(self.status or ()) or None,
            "namespace": ALL_NAMESPACES if self.all_namespaces else self.namespace,
            "schedule_id": self.schedule,
            "parent_id": self.parent,
            "tag": self.tag or None,
            "name": self.name,
            "handler": self.handler,
            "target": _target_type(self.target),
            "lane": lanes(self.lane or ()) or None,
            "error_type": self.error_type,
            "with_key": self.with_key,
            "run_id": self.run,
            "due_since": coming_moment("--due-since", self.due_since, now),
            "due_before": coming_moment("--due-before", self.due_before, now),
            "created_since": past_moment("--since", self.since, now),
            "created_before": past_moment("--before", self.before, now),
        }


def _target_type(text: str | None) -> str | None:
    if text is not None and text not in TARGET_TYPES:
        refuse("--target", f"{text!r} is not one of {', '.join(TARGET_TYPES)}")
    return text


def lanes(texts: Sequence[str]) -> list[str]:
    """Returns the lanes in texts such as `high,batch/low`."""
    found = [part.strip() for text in texts for part in text.split(",")]
    for lane in found:
        try:
            queue_in(lane)
        except ValueError as error:
            refuse("--lane", f"{lane!r} {error}")
    return found


def statuses(texts: Sequence[str]) -> list[str]:
    """Returns the statuses in texts such as `pending,RUNNING`."""
    found = [part.strip().upper() for text in texts for part in text.split(",")]
    for status in found:
        if status not in list(Status):
            known = ", ".join(each.lower() for each in Status)
            refuse("--status", f"{status.lower()!r} is not one of {known}")
    return found
