"""`duetime schedules trigger` and `backfill`: runs outside the ordinary course."""

from typing import Annotated, Any

import typer

from duetime.cli import values
from duetime.cli.groups import grouped
from duetime.cli.options import AsJson, Following, ScheduleId, Server
from lambdas.core.occurrence import OverlapPolicy


@grouped
def trigger(
    schedule: ScheduleId,
    *,
    idempotency_key: Annotated[
        str | None, typer.Option(help="Triggering again with it makes no second run.")
    ] = None,
    following: Following,
    server: Server,
    as_json: AsJson = False,
) -> None:
    """One run now, outside the rule, even of a schedule that is paused."""
    from duetime.cli import submitting

    poll, limit = following.checked()
    with server.connect() as client:
        submitted = client.schedules.trigger_once(schedule, idempotency_key=idempotency_key)
        if following.watch:
            submitting.followed(client, submitted, as_json=as_json, poll=poll, limit=limit)
        else:
            submitting.one(submitted, as_json=as_json)


@grouped
def backfill(
    schedule: ScheduleId,
    *,
    start: Annotated[
        str,
        typer.Option(
            "--from", metavar="TIME|DURATION", help="The first fire time, e.g. 2d (two days ago)."
        ),
    ],
    until: Annotated[
        str | None,
        typer.Option(
            "--to", metavar="TIME|DURATION", help="Fire times before then.", show_default="now"
        ),
    ] = None,
    overlap: Annotated[
        OverlapPolicy | None,
        typer.Option(help="If the run before is not over.", show_default="as the schedule has it"),
    ] = None,
    per_minute: Annotated[
        float | None, typer.Option(metavar="N", help="How many a minute.", show_default="60")
    ] = None,
    server: Server,
    as_json: AsJson = False,
) -> None:
    """Run the fire times of a span in the past, as if they were now, at a pace."""
    from duetime.cli import phrases
    from duetime.cli.output import say, say_json

    now = phrases.now()
    since = values.past("--from", start, now) or ""
    before = values.past("--to", "0" if until is None else until, now) or ""
    pace, policy = values.number("--per-minute", per_minute), _policy(overlap)
    with server.connect() as client:
        answer = client.schedules.backfill(
            schedule, start=since, until=before, overlap=policy, per_minute=pace
        )
    if as_json:
        say_json(answer)
    elif answer["fire_times"] == 0:
        say("It has no fire time in that span: nothing will be run.")
    else:
        say(f"{phrases.count(answer['fire_times'], 'fire time')} will be run.")
        say(f"See what becomes of them: duetime schedules ledger {schedule}")


def _policy(overlap: OverlapPolicy | None) -> Any:
    return overlap and overlap.value
