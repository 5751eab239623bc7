"""`duetime schedules upcoming`, `ledger` and `preview`: future and past fire times."""

from functools import partial
from typing import Annotated

import typer

from duetime.cli import format as fmt
from duetime.cli.option_groups import grouped
from duetime.cli.options import Connection, Paging, ScheduleId
from duetime.cli.parse import moment, refuse
from duetime.cli.schedules.names import find, id_of
from duetime.cli.schedules.rule_options import RuleOptions, rules_of

Count = Annotated[int, typer.Option(min=1, max=100, help="How many.")]


@grouped
def upcoming(schedule: ScheduleId, *, count: Count = 10, connection: Connection) -> None:
    """When a schedule fires next, in the time zone of its rule, with notes on daylight saving."""
    from duetime.cli.schedules import views

    with connection.connect() as client:
        found = id_of(client, schedule)
        ahead = client.schedules.upcoming(found, count=count)
        connection.print(
            ahead,
            lambda: [views.upcoming(client.schedules.get(found), ahead, fmt.now())],
        )


@grouped
def ledger(schedule: ScheduleId, *, paging: Paging, connection: Connection) -> None:
    """What became of every fire time, latest first. It answers: why did it not run?"""
    from duetime.cli import fire_times
    from duetime.cli.paging import print_list
    from duetime.cli.schedules import views

    with connection.connect() as client:
        found = find(client, schedule)
        read = partial(client.schedules.ledger_page, found["id"])
        page = paging.read(lambda size, at: read(limit=size, cursor=at))
    zone = fire_times.zone_of(rules_of(found))
    empty = f"It has not fired yet: duetime schedules upcoming {found['id']}"
    print_list(connection, page, views.ledger(zone), empty=empty)


@grouped
def preview(
    *,
    rules: RuleOptions,
    after: Annotated[
        str | None, typer.Option(metavar="TIME", help="Start here.", show_default="now")
    ] = None,
    count: Count = 10,
    connection: Connection,
) -> None:
    """When a schedule would fire; nothing is stored. For one expression: duetime cron."""
    from duetime.cli import fire_times

    body = rules.fields()
    if not rules_of(body):
        refuse("--cron", "say when: --cron EXPRESSION, --every DURATION or --delay DURATION")
    with connection.connect() as client:
        ahead = client.schedules.preview(after=moment("--after", after), count=count, **body)
    zone = fire_times.zone_of(rules_of(body))
    connection.print(
        ahead,
        lambda: [ahead.get("description", ""), "", fire_times.table(ahead, zone, fmt.now())],
    )
