"""`duetime schedules upcoming`, `ledger` and `preview`: what will happen and what has."""

from functools import partial
from typing import Annotated

import typer

from duetime.cli.groups import grouped
from duetime.cli.options import AsJson, Paging, ScheduleId, Server
from duetime.cli.schedules.rule_options import RuleOptions, rules_of
from duetime.cli.values import moment, refuse

Count = Annotated[int, typer.Option(min=1, max=100, help="How many.")]


@grouped
def upcoming(
    schedule: ScheduleId,
    *,
    count: Count = 10,
    server: Server,
    as_json: AsJson = False,
) -> None:
    """When it fires next, on the clock of its rule, and what daylight saving does to that."""
    from duetime.cli import phrases
    from duetime.cli.output import say, say_json
    from duetime.cli.schedules import views

    with server.connect() as client:
        ahead = client.schedules.upcoming(schedule, count=count)
        if as_json:
            say_json(ahead)
            return
        found = client.schedules.get(schedule)
    say(views.coming(found, ahead, phrases.now()))


@grouped
def ledger(
    schedule: ScheduleId,
    *,
    paging: Paging,
    server: Server,
    as_json: AsJson = False,
) -> None:
    """What became of every fire time, the latest first: why did it not run?"""
    from duetime.cli import fire_times, listing
    from duetime.cli.schedules import views

    with server.connect() as client:
        found = client.schedules.get(schedule)
        read = partial(client.schedules.ledger_page, schedule)
        page = paging.read(lambda size, at: read(limit=size, cursor=at))
    zone = fire_times.zone_of(rules_of(found))
    empty = f"None of its fire times has come: duetime schedules upcoming {found['id']}"
    listing.print_list(page, views.ledger(zone), empty, as_json=as_json)


@grouped
def preview(
    *,
    rules: RuleOptions,
    after: Annotated[
        str | None, typer.Option(metavar="TIME", help="From then on.", show_default="now")
    ] = None,
    count: Count = 10,
    server: Server,
    as_json: AsJson = False,
) -> None:
    """When a schedule would fire; nothing is stored. For one expression: duetime cron."""
    from duetime.cli import fire_times, phrases
    from duetime.cli.output import say, say_json

    body = rules.fields()
    if not rules_of(body):
        refuse("--cron", "say when: --cron EXPRESSION, --every DURATION or --delay DURATION")
    with server.connect() as client:
        told = client.schedules.preview(after=moment("--after", after), count=count, **body)
    if as_json:
        say_json(told)
        return
    zone = fire_times.zone_of(rules_of(body))
    say(told.get("description", ""), "", fire_times.table(told, zone, phrases.now()))
