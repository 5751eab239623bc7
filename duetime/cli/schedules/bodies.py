"""The body of a schedule: from options, from a file, or from one that stands."""

from collections.abc import Sequence
from typing import Any

from duetime.cli import values
from duetime.cli.schedules.plan_options import PlanOptions
from duetime.cli.schedules.rule_options import RuleOptions
from duetime.cli.task_options import TaskOptions
from duetime.cli.values import refuse
from duetime.client import Schedule, ScheduleFields, fields_of
from duetime.client.schedule_shapes import TaskTemplate

FIELDS = ScheduleFields.__annotations__.keys() - {"task", "rule", "rules"}
TASK_FIELDS = TaskTemplate.__annotations__.keys() - {"target"}


def new(what: TaskOptions, rules: RuleOptions, plan: PlanOptions, source: str | None) -> Any:
    said = {**plan.fields(what), **rules.fields()}
    if source is not None:
        return _from_file(source, said)
    if not {"rule", "rules"} & said.keys():
        refuse(
            "--cron",
            "say when: --cron EXPRESSION, --every DURATION, --delay DURATION or --file FILE",
        )
    if "target" not in said.get("task", {}):
        refuse("--handler", "say what to do: --handler NAME, --http URL or --file FILE")
    return said


def whole(what: TaskOptions, rules: RuleOptions, plan: PlanOptions, source: str) -> Any:
    return _from_file(source, {**plan.fields(what), **rules.fields()})


def changed(
    standing: Schedule,
    what: TaskOptions,
    rules: RuleOptions,
    plan: PlanOptions,
    unset: Sequence[str],
) -> Any:
    body: dict[str, Any] = {**fields_of(standing)}
    said = {**plan.fields(what, body), **rules.fields(body)}
    if not (said or unset):
        refuse("--file", "say what to change, by an option or with a whole schedule in a file")
    if {"rule", "rules"} & said.keys():
        body = {name: value for name, value in body.items() if name not in ("rule", "rules")}
    return _without({**body, **said}, unset)


def check_unset(paths: Sequence[str]) -> None:
    known = [*sorted(FIELDS), *(f"task.{name}" for name in sorted(TASK_FIELDS))]
    for path in paths:
        if path not in known:
            refuse("--unset", f"{path!r} is not one of {', '.join(known)}")


def _without(body: dict[str, Any], paths: Sequence[str]) -> dict[str, Any]:
    task = {name: value for name, value in body["task"].items() if f"task.{name}" not in paths}
    return {**{name: value for name, value in body.items() if name not in paths}, "task": task}


def _from_file(source: str, said: dict[str, Any]) -> Any:
    if said:
        refuse("--file", f"holds the whole schedule: put {', '.join(said)} into it")
    found = values.file("--file", source)
    if not isinstance(found, dict):
        refuse("--file", f"{source} holds no schedule")
    return fields_of(found)  # type: ignore[arg-type]  # what `show --json` said may come back
