"""`duetime schedules create` and `update`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from duetime.cli import format as fmt
from duetime.cli.option_groups import grouped
from duetime.cli.options import Connection, ScheduleId
from duetime.cli.parse import json_file, refuse
from duetime.cli.schedules import options
from duetime.cli.schedules.names import find, id_of
from duetime.cli.schedules.options import PlanOptions
from duetime.cli.schedules.rule_options import RuleOptions
from duetime.cli.task_options import WHAT, TaskOptions

if TYPE_CHECKING:
    from duetime.client import Schedule

Unset = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FIELD",
        help="Reset to its default, e.g. ends_at or task.tags; repeatable.",
        rich_help_panel=WHAT,
    ),
]


@grouped
def create(
    *,
    rules: RuleOptions,
    what: TaskOptions,
    source: options.Source = None,
    plan: PlanOptions,
    idempotency_key: options.IdempotencyKey = None,
    connection: Connection,
) -> None:
    """Create a schedule: a task that recurs.

    For example: duetime schedules create --cron "0 9 * * 1-5" --tz Europe/Berlin
    --handler reports.daily --name daily-report"""
    from duetime.cli.schedules import views

    body = _new(what, rules, plan, source)
    with connection.connect() as client:
        made = client.schedules.create_once(idempotency_key=idempotency_key, **body)
    connection.print(
        made.schedule,
        lambda: [
            views.created(made.schedule, fmt.now(), replayed=made.replayed),
            f"Look ahead: duetime schedules upcoming {made.schedule['id']}",
        ],
    )


@grouped
def update(
    schedule: ScheduleId,
    *,
    rules: RuleOptions,
    what: TaskOptions,
    source: options.Source = None,
    unset: Unset = None,
    plan: PlanOptions,
    connection: Connection,
) -> None:
    """Change a schedule: the fields that you give as options, or all of it with --file.

    Other fields stay as they are. Runs that have not started are cancelled and made anew; a run
    that has started goes on. The file may be the output of `duetime schedules show ID --json`,
    edited."""
    from duetime.cli.schedules import views

    _check_unset(unset or [])
    body = None if source is None else _whole(what, rules, plan, source)
    with connection.connect() as client:
        if body is None:
            current = find(client, schedule)
            body = _changed(current, what, rules, plan, unset or [])
        updated = client.schedules.update(id_of(client, schedule), **body)
    connection.print(updated, lambda: [views.sentence("Changed", updated, fmt.now())])


def _new(what: TaskOptions, rules: RuleOptions, plan: PlanOptions, source: str | None) -> Any:
    given = {**plan.fields(what), **rules.fields()}
    if source is not None:
        return _from_file(source, given)
    if not {"rule", "rules"} & given.keys():
        refuse(
            "--cron",
            "say when: --cron EXPRESSION, --every DURATION, --delay DURATION or --file FILE",
        )
    if "target" not in given.get("task", {}):
        refuse(
            "--handler", "say what to do: --handler NAME, --http URL, --target JSON or --file FILE"
        )
    return given


def _whole(what: TaskOptions, rules: RuleOptions, plan: PlanOptions, source: str) -> Any:
    return _from_file(source, {**plan.fields(what), **rules.fields()})


def _changed(
    current: "Schedule",
    what: TaskOptions,
    rules: RuleOptions,
    plan: PlanOptions,
    unset: Sequence[str],
) -> Any:
    from duetime.client import fields_of

    body: dict[str, Any] = {**fields_of(current)}
    given = {**plan.fields(what, body), **rules.fields(body)}
    if not (given or unset):
        refuse("--file", "say what to change, by an option or with a whole schedule in a file")
    if {"rule", "rules"} & given.keys():
        body = {name: value for name, value in body.items() if name not in ("rule", "rules")}
    return _without({**body, **given}, unset)


def _check_unset(paths: Sequence[str]) -> None:
    from duetime.client import ScheduleFields
    from duetime.client.schedule_types import TaskTemplate

    if not paths:
        return
    fields = ScheduleFields.__annotations__.keys() - {"task", "rule", "rules"}
    task_fields = TaskTemplate.__annotations__.keys() - {"target"}
    known = [*sorted(fields), *(f"task.{name}" for name in sorted(task_fields))]
    for path in paths:
        if path not in known:
            refuse("--unset", f"{path!r} is not one of {', '.join(known)}")


def _without(body: dict[str, Any], paths: Sequence[str]) -> dict[str, Any]:
    task = {name: value for name, value in body["task"].items() if f"task.{name}" not in paths}
    return {**{name: value for name, value in body.items() if name not in paths}, "task": task}


def _from_file(source: str, given: dict[str, Any]) -> Any:
    from duetime.client import fields_of

    if given:
        refuse("--file", f"holds the whole schedule: put {', '.join(given)} into it")
    found = json_file("--file", source)
    if not isinstance(found, dict):
        refuse("--file", f"{source} holds no schedule")
    return fields_of(found)  # type: ignore[arg-type]  # the output of `show --json` is accepted
