"""`duetime change`."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from duetime.cli import format as fmt
from duetime.cli.limit_options import TURNS, IfFull, limit_fields
from duetime.cli.option_groups import grouped
from duetime.cli.options import Connection, TaskIds
from duetime.cli.parse import duration, json_argument, moment, refuse, tag_pairs
from duetime.cli.task_options import (
    DURATION,
    RETRIES,
    TIME,
    WHAT,
    WHEN,
    ExpiresAt,
    Payload,
    RetryOptions,
    given,
)
from duetime.cli.tasks import for_each
from duetime.core.lanes import Lane
from duetime.core.limits.definition import OnDead

if TYPE_CHECKING:
    from duetime.client import Task


class Field(StrEnum):
    """What --unset takes."""

    EXPIRES_AT = "expires_at"
    PAYLOAD = "payload"
    RETRY = "retry"
    TAGS = "tags"
    LIMITS = "limits"
    FAIRNESS_KEY = "fairness_key"


_UNSET: dict[Field, Any] = {Field.TAGS: {}, Field.LIMITS: []}  # the others: null


@dataclass(frozen=True, kw_only=True, slots=True)
class ChangeOptions(RetryOptions):
    """The fields of a change. They have no defaults: what is not given stays as it is."""

    delay: Annotated[
        str | None,
        typer.Option(
            "--in", metavar=DURATION, help="From now, e.g. 90s, 5m, 48h.", rich_help_panel=WHEN
        ),
    ] = None
    run_at: Annotated[
        str | None,
        typer.Option(
            "--at", metavar=TIME, help="E.g. 2026-11-16T09:00:00+01:00.", rich_help_panel=WHEN
        ),
    ] = None
    expires_at: ExpiresAt = None
    payload: Payload = None
    priority: Annotated[
        Lane | None, typer.Option(case_sensitive=False, help="Its lane.", rich_help_panel=WHAT)
    ] = None
    tag: Annotated[
        list[str] | None,
        typer.Option(metavar="K=V", help="Replaces all tags; repeatable.", rich_help_panel=WHAT),
    ] = None
    unset: Annotated[
        list[Field] | None,
        typer.Option(
            metavar="FIELD",
            help="Reset expires_at, payload, retry, tags, limits or fairness_key; repeatable.",
            rich_help_panel=WHAT,
        ),
    ] = None
    timeout: Annotated[
        str | None,
        typer.Option(
            metavar=DURATION, help="How long an attempt may take.", rich_help_panel=RETRIES
        ),
    ] = None
    max_attempts: Annotated[
        int | None,
        typer.Option(help="Including those already used.", rich_help_panel=RETRIES),
    ] = None
    base_delay: Annotated[
        str | None,
        typer.Option(
            metavar=DURATION, help="The pause after the first failure.", rich_help_panel=RETRIES
        ),
    ] = None
    multiplier: Annotated[
        float | None,
        typer.Option(help="The factor by which the pause grows.", rich_help_panel=RETRIES),
    ] = None
    max_delay: Annotated[
        str | None,
        typer.Option(metavar=DURATION, help="The longest pause.", rich_help_panel=RETRIES),
    ] = None
    retry_jitter: Annotated[
        str | None,
        typer.Option(
            metavar=DURATION, help="Add up to this much to each pause.", rich_help_panel=RETRIES
        ),
    ] = None

    limit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[:KEY]", help="Replaces all limits; repeatable.", rich_help_panel=TURNS
        ),
    ] = None
    on_full: IfFull = None
    fairness_key: Annotated[
        str | None,
        typer.Option(
            metavar="KEY", help="Tasks with different keys take turns.", rich_help_panel=TURNS
        ),
    ] = None
    on_dead: Annotated[
        OnDead | None,
        typer.Option(
            help="If it dies: the tasks behind it in their order go on, or wait.",
            rich_help_panel=TURNS,
        ),
    ] = None

    def fields(self) -> dict[str, Any]:
        if self.delay is not None and self.run_at is not None:
            refuse("--in", "cannot go with --at: a task has one due time")
        fields = given(
            delay=duration("--in", self.delay),
            run_at=moment("--at", self.run_at),
            expires_at=moment("--expires-at", self.expires_at),
            priority=self.priority and self.priority.value,
            tags=tag_pairs(self.tag or []) or None,
            timeout=duration("--timeout", self.timeout),
            retry=self.retry() or None,
            limits=limit_fields(self.limit, self.on_full) or None,
            fairness_key=self.fairness_key,
            on_dead=self.on_dead and self.on_dead.value,
        )
        if self.payload is not None:
            fields["payload"] = json_argument("--payload", self.payload)  # null is a payload
        for field in self.unset or []:
            if field.value in fields:
                refuse("--unset", f"{field.value} is also given as an option")
            fields[field.value] = _UNSET.get(field)
        if not fields:
            refuse("--in", "say what to change: --in, --at, --priority, --payload, --tag …")
        return fields


@grouped
def change(tasks: TaskIds, *, what: ChangeOptions, connection: Connection) -> None:
    """Change tasks that are not running: when they are due, and what they get.

    For example: duetime change ID --in 48h --priority high

    If one cannot be changed, the others still are."""
    fields = what.fields()
    with connection.connect() as client:
        for_each(
            tasks, lambda task: client.change(task, **fields), changed, as_json=connection.json
        )


def changed(task: "Task") -> str:
    return f"{task['id']} is {task['status']}, due {fmt.when(task['due_at'], fmt.now())}"
