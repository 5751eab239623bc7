"""`duetime cron`: what an expression means. It asks nobody: no Duetime needs to be there."""

from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from itertools import islice
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from duetime.cli.options import AsJson
from duetime.cli.values import EXAMPLE, refuse
from lambdas.core.recurrence.rules import (
    BadRule,
    CronRule,
    DayMatch,
    Gap,
    Overlap,
    RateRule,
    Recurrence,
    Seconds,
)
from lambdas.core.times import Millis, from_datetime, rfc3339

if TYPE_CHECKING:
    from duetime.client import Upcoming

MOST = 1_000
OPTIONS = {"timezone": "--tz", "seconds": "--seconds", "days": "--days"}
FIRST_YEAR, LAST_YEAR = 1971, 9_990  # well within what datetime can count


def cron(
    expression: Annotated[
        str,
        typer.Argument(
            metavar="EXPRESSION",
            help="Minute, hour, day, month, weekday; six fields with --seconds; @daily and the"
            " like; EventBridge's cron(…) or rate(…).",
        ),
    ],
    *,
    tz: Annotated[
        str | None,
        typer.Option("--tz", metavar="ZONE", help="E.g. Europe/Berlin.", show_default="UTC"),
    ] = None,
    seconds: Annotated[
        Seconds | None, typer.Option(help="Where the seconds are in six fields.")
    ] = None,
    days: Annotated[
        DayMatch,
        typer.Option(help="If both day and weekday are restricted: which a day must match."),
    ] = DayMatch.EITHER,
    count: Annotated[int, typer.Option(min=1, max=MOST, help="How many times.")] = 10,
    after: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="From then on; without an offset, on the clock of the zone.",
            show_default="now",
        ),
    ] = None,
    gap: Annotated[
        Gap | None,
        typer.Option(help="A local time that daylight saving leaves out: skip it, or run after."),
    ] = None,
    overlap: Annotated[
        Overlap | None, typer.Option(help="A local time that comes twice: which one to run at.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """What a cron expression means, and when it fires next. Needs no running Duetime.

    For example: duetime cron "0 9 * * 1-5" --tz Europe/Berlin"""
    from duetime.cli import fire_times, phrases
    from duetime.cli.output import say, say_json

    now = phrases.now()
    rule = CronRule(
        expression=expression,
        timezone=_timezone(tz, expression),
        gap=gap,
        overlap=overlap,
        seconds=seconds,
        days=days,
    )
    zone = fire_times.load(rule.timezone) or UTC
    start = from_datetime(_after(after, zone) or now)
    told = _told(_recurrence(rule, start), expression, start, count)
    if as_json:
        say_json(told)
        return
    say(told["description"], "", fire_times.table(told, zone, now))


def _timezone(tz: str | None, expression: str) -> str:
    """A zone in the expression that is none is refused with the expression."""
    from lambdas.core.recurrence import zones
    from lambdas.core.recurrence.language import zone_of

    if tz is None:
        return zone_of(expression) or "UTC"
    try:
        zones.load(tz)
    except BadRule as bad:
        refuse("--tz", bad.reason)
    return tz


def _recurrence(rule: CronRule, start: Millis) -> Recurrence:
    """A rate(…) counts from the start; --tz is then only the clock to show it on."""
    from lambdas.core.recurrence.eventbridge import with_rate

    rate = with_rate(replace(rule, timezone="UTC"), start)
    return Recurrence(rules=(rate if isinstance(rate, RateRule) else rule,))


def _told(recurrence: Recurrence, expression: str, after: Millis, count: int) -> "Upcoming":
    """As the API tells a preview."""
    from lambdas.core.recurrence import told
    from lambdas.core.recurrence.fire_times import check, fire_times

    try:
        check(recurrence, after)
    except BadRule as bad:
        _refuse(bad, expression)
    times = list(islice(fire_times(recurrence, after), count))
    touches = told.touched(recurrence, after, times[-1])
    return {
        "description": told.describe(recurrence),
        "fire_times": [rfc3339(at) for at in times],
        "daylight_saving": [{"at": rfc3339(t.at), "kind": t.kind, "note": t.note} for t in touches],
    }


def _refuse(bad: BadRule, expression: str) -> NoReturn:
    from duetime.cli.carets import pointed

    lines = [] if bad.position is None else ["", *pointed(expression, bad.position)]
    refuse(OPTIONS.get(bad.field, "EXPRESSION"), "\n".join([bad.reason, *lines]))


def _after(text: str | None, zone: tzinfo) -> datetime | None:
    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        refuse("--after", f"{text!r} is not a time such as {EXAMPLE}")
    if not FIRST_YEAR <= at.year <= LAST_YEAR:
        refuse("--after", f"must be in the years {FIRST_YEAR} to {LAST_YEAR}")
    return at if at.tzinfo else at.replace(tzinfo=zone)
