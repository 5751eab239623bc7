"""`duetime cron`: what an expression means. It works offline, without a running Duetime."""

from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from itertools import islice
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from duetime.cli import format as fmt
from duetime.cli.options import AsJson
from duetime.cli.output import caret_lines, print_result
from duetime.cli.parse import EXAMPLE, refuse
from duetime.core.recurrence.rules import (
    BadRule,
    CronRule,
    DayMatch,
    DstGap,
    DstOverlap,
    RateRule,
    Recurrence,
    Seconds,
)
from duetime.core.times import Millis, from_datetime, rfc3339

if TYPE_CHECKING:
    from duetime.client import Upcoming

MAX_COUNT = 1_000
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
        typer.Option(help="If both day and weekday are restricted: match either or both."),
    ] = DayMatch.EITHER,
    count: Annotated[int, typer.Option(min=1, max=MAX_COUNT, help="How many fire times.")] = 10,
    after: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Start here; without an offset, in the time zone.",
            show_default="now",
        ),
    ] = None,
    gap: Annotated[
        DstGap | None,
        typer.Option(help="A local time that daylight saving skips: skip it, or run after."),
    ] = None,
    overlap: Annotated[
        DstOverlap | None, typer.Option(help="A local time that occurs twice: which one to run at.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """What a cron expression means, and when it fires next. Needs no running Duetime.

    For example: duetime cron "0 9 * * 1-5" --tz Europe/Berlin"""
    from duetime.cli import fire_times

    now = fmt.now()
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
    upcoming = _preview(_recurrence(rule, start), expression, start, count)
    print_result(
        upcoming,
        lambda: [upcoming["description"], "", fire_times.table(upcoming, zone, now)],
        as_json=as_json,
    )


def _timezone(tz: str | None, expression: str) -> str:
    """Returns the zone of --tz or of the expression; a bad one in the expression is refused
    later, with the expression."""
    from duetime.core.recurrence import timezones
    from duetime.core.recurrence.cron_syntax import zone_of

    if tz is None:
        return zone_of(expression) or "UTC"
    try:
        timezones.load(tz)
    except BadRule as bad:
        refuse("--tz", bad.reason)
    return tz


def _recurrence(rule: CronRule, start: Millis) -> Recurrence:
    """A rate(…) counts from the start; --tz is then only the clock to print it on."""
    from duetime.core.recurrence.eventbridge import with_rate

    rate = with_rate(replace(rule, timezone="UTC"), start)
    return Recurrence(rules=(rate if isinstance(rate, RateRule) else rule,))


def _preview(recurrence: Recurrence, expression: str, after: Millis, count: int) -> "Upcoming":
    """Returns what the API returns for a preview."""
    from duetime.core.recurrence.describe import describe
    from duetime.core.recurrence.dst_notes import find_dst_notes
    from duetime.core.recurrence.fire_times import check, fire_times

    try:
        check(recurrence, after)
    except BadRule as bad:
        _refuse(bad, expression)
    times = list(islice(fire_times(recurrence, after), count))
    notes = find_dst_notes(recurrence, after, times[-1])
    return {
        "description": describe(recurrence),
        "fire_times": [rfc3339(at) for at in times],
        "daylight_saving": [{"at": rfc3339(n.at), "kind": n.kind, "note": n.note} for n in notes],
    }


def _refuse(bad: BadRule, expression: str) -> NoReturn:
    lines = [] if bad.position is None else ["", *caret_lines(expression, bad.position)]
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
