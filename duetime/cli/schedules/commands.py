"""`duetime schedules list`, `show`, `delete`, `pause`, `resume`, `trigger`, and so on."""

from typing import Annotated, Any

import typer

from duetime.cli import format as fmt
from duetime.cli.option_groups import grouped
from duetime.cli.options import Connection, Following, Paging, ScheduleId, Yes
from duetime.cli.output import confirm, require_terminal
from duetime.cli.parse import finite, past_moment
from duetime.cli.schedules.names import find, id_of
from duetime.cli.submit import print_submitted
from duetime.core.occurrence import OverlapPolicy
from duetime.core.schedules.schedule import ScheduleStatus

SHOWN_FIRE_TIMES = 5

Note = Annotated[str | None, typer.Option(help="Why; it is shown with the schedule.")]


@grouped
def list_schedules(
    *,
    status: Annotated[
        ScheduleStatus | None,
        typer.Option(case_sensitive=False, help="Only schedules in this status."),
    ] = None,
    namespace: Annotated[
        str | None, typer.Option(help="Whose schedules; '*' means all.", show_default="default")
    ] = None,
    paging: Paging,
    connection: Connection,
) -> None:
    """Schedules, newest first."""
    from duetime.cli.paging import NO_SCHEDULE_MATCHES, NO_SCHEDULES, print_list
    from duetime.cli.schedules import views

    which = {"status": status, "namespace": namespace}
    with connection.connect() as client:
        page = paging.read(lambda size, at: client.schedules.page(**which, limit=size, cursor=at))
    empty = NO_SCHEDULE_MATCHES if any(which.values()) else NO_SCHEDULES
    print_list(connection, page, views.table, empty=empty)


@grouped
def show(
    schedule: ScheduleId,
    *,
    namespace: Annotated[
        str | None, typer.Option(help="Of the name.", show_default="default")
    ] = None,
    connection: Connection,
) -> None:
    """One schedule: everything about it, and when it fires next."""
    from duetime.cli.schedules import views

    with connection.connect() as client:
        found = find(client, schedule, namespace)
        connection.print(
            found,
            lambda: [
                views.panel(
                    found, client.schedules.upcoming(found["id"], count=SHOWN_FIRE_TIMES), fmt.now()
                ),
                f"What became of its fire times: duetime schedules ledger {found['id']}",
            ],
        )


@grouped
def delete(schedule: ScheduleId, *, yes: Yes = False, connection: Connection) -> None:
    """Delete a schedule and its ledger. A run that has started goes on; others are cancelled."""
    from duetime.cli.schedules import views

    if not yes:
        require_terminal()
    with connection.connect() as client:
        found = find(client, schedule)
        what = f"{views.short(found)} ({views.when(found)})"
        if not yes:
            confirm(f"Delete {what} and its ledger?", "Nothing was deleted.")
        client.schedules.delete(found["id"])
    connection.print(
        {"id": found["id"], "deleted": True}, lambda: [f"Deleted {found['id']}  {what}"]
    )


@grouped
def pause(schedule: ScheduleId, *, note: Note = None, connection: Connection) -> None:
    """Stop a schedule from firing until it is resumed. A run that has started goes on."""
    from duetime.cli.schedules import views

    with connection.connect() as client:
        paused = client.schedules.pause(id_of(client, schedule), note)
    connection.print(
        paused,
        lambda: [
            f"Paused {paused['id']}  {views.short(paused)}",
            f"Resume it: duetime schedules resume {paused['id']}",
        ],
    )


@grouped
def resume(schedule: ScheduleId, *, note: Note = None, connection: Connection) -> None:
    """Let a schedule fire again, from now on. To run what it missed, use backfill."""
    from duetime.cli.schedules import views

    with connection.connect() as client:
        resumed = client.schedules.resume(id_of(client, schedule), note)
    connection.print(resumed, lambda: [views.sentence("Resumed", resumed, fmt.now())])


@grouped
def trigger(
    schedule: ScheduleId,
    *,
    idempotency_key: Annotated[
        str | None, typer.Option(help="Triggering again with it makes no second run.")
    ] = None,
    following: Following,
    connection: Connection,
) -> None:
    """Run a schedule once, now, even if it is paused."""
    polling = following.parse()
    with connection.connect() as client:
        found = id_of(client, schedule)
        submitted = client.schedules.trigger_once(found, idempotency_key=idempotency_key)
        print_submitted(client, submitted, polling, as_json=connection.json)


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
        typer.Option(
            help="If the previous run has not ended.", show_default="as the schedule has it"
        ),
    ] = None,
    per_minute: Annotated[
        float | None, typer.Option(metavar="N", help="How many a minute.", show_default="60")
    ] = None,
    connection: Connection,
) -> None:
    """Run the fire times of a span in the past, now, at a pace."""
    now = fmt.now()
    since = past_moment("--from", start, now) or ""
    before = past_moment("--to", "0" if until is None else until, now) or ""
    pace, policy = finite("--per-minute", per_minute), _value(overlap)
    with connection.connect() as client:
        found = id_of(client, schedule)
        answer = client.schedules.backfill(
            found, start=since, until=before, overlap=policy, per_minute=pace
        )
    connection.print(answer, lambda: _backfill_lines(found, answer["fire_times"]))


@grouped
def detach(schedule: ScheduleId, *, connection: Connection) -> None:
    """Make an ordinary schedule of one that the code declares. No sync changes it any more."""
    from duetime.cli.schedules import views

    with connection.connect() as client:
        detached = client.schedules.detach(id_of(client, schedule))
    connection.print(detached, lambda: [f"Detached {detached['id']}  {views.short(detached)}"])


def _backfill_lines(schedule_id: str, fire_times: int) -> list[str]:
    if fire_times == 0:
        return ["The schedule has no fire time in that span: nothing will run."]
    return [
        f"{fmt.count(fire_times, 'fire time')} will be run.",
        f"See what becomes of them: duetime schedules ledger {schedule_id}",
    ]


def _value(overlap: OverlapPolicy | None) -> Any:
    return overlap and overlap.value
