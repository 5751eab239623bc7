"""`duetime schedules create` and `update`."""

from typing import Annotated

import typer

from duetime.cli.groups import grouped
from duetime.cli.options import AsJson, ScheduleId, Server
from duetime.cli.schedules import options
from duetime.cli.schedules.plan_options import PlanOptions
from duetime.cli.schedules.rule_options import RuleOptions
from duetime.cli.submit_options import WHAT
from duetime.cli.task_options import TaskOptions

Unset = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FIELD",
        help="Back to its default, e.g. ends_at or task.tags; repeatable.",
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
    server: Server,
    as_json: AsJson = False,
) -> None:
    """Have something run again and again.

    For example: duetime schedules create --cron "0 9 * * 1-5" --tz Europe/Berlin
    --handler reports.daily --name daily-report"""
    from duetime.cli import phrases
    from duetime.cli.output import say, say_json
    from duetime.cli.schedules import bodies, views

    body = bodies.new(what, rules, plan, source)
    with server.connect() as client:
        made = client.schedules.create_once(idempotency_key=idempotency_key, **body)
    if as_json:
        say_json(made.schedule)
        return
    say(views.created(made.schedule, phrases.now(), replayed=made.replayed))
    say(f"Look ahead: duetime schedules upcoming {made.schedule['id']}")


@grouped
def update(
    schedule: ScheduleId,
    *,
    rules: RuleOptions,
    what: TaskOptions,
    source: options.Source = None,
    unset: Unset = None,
    plan: PlanOptions,
    server: Server,
    as_json: AsJson = False,
) -> None:
    """Change a schedule: what the options say, or all of it with --file.

    What no option says stays as it is. Runs that have not started are cancelled and made anew; one
    that has started goes on. A file may be what `duetime schedules show ID --json` said, edited."""
    from duetime.cli import phrases
    from duetime.cli.output import say, say_json
    from duetime.cli.schedules import bodies, views

    bodies.check_unset(unset or [])
    body = None if source is None else bodies.whole(what, rules, plan, source)
    with server.connect() as client:
        if body is None:
            standing = client.schedules.get(schedule)
            body = bodies.changed(standing, what, rules, plan, unset or [])
        changed = client.schedules.update(schedule, **body)
    if as_json:
        say_json(changed)
    else:
        say(views.told("Changed", changed, phrases.now()))
