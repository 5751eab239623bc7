"""`duetime schedules upcoming`, `preview`, `backfill` and `ledger` against the real API."""

from datetime import UTC, datetime
from typing import Any

from duetime.core.schedules.ledger import LedgerOutcome, LedgerRow
from tests.cli.schedules import made
from tests.cli.test_commands import data

LONG_AGO = "2026-01-01T00:00:00+00:00"
TASK = ("--handler", "echo")


def test_a_preview_shows_the_clock_of_the_zone_in_the_expression(live: Any) -> None:
    words = ("--cron", "CRON_TZ=Asia/Tokyo 0 9 * * *", "--count", "1")
    result = live("schedules", "preview", *words)
    assert " 09:00:00 +09:00" in result.stdout


def test_upcoming(live: Any) -> None:
    words = ("--cron", "0 9 * * *", "--tz", "Asia/Tokyo", "--handler", "echo")
    schedule_id = made(live, *words)["id"]
    lines = live("schedules", "upcoming", schedule_id, "--count", "3").stdout.splitlines()
    assert len(lines) == 3
    assert all("09:00:00 +09:00  in " in line for line in lines)
    answer = data(live("schedules", "upcoming", schedule_id, "--json"))
    assert len(answer["fire_times"]) == 10


def test_preview_stores_nothing(live: Any) -> None:
    words = ("--cron", "30 2 * * *", "--tz", "Europe/Berlin", "--exclude-date", "2027-03-29")
    after = ("--after", "2027-03-27T12:00:00+01:00", "--count", "2")
    said, _, *times = live("schedules", "preview", *words, *after).stdout.splitlines()
    assert said.startswith("at 02:30 every day, Europe/Berlin; except on 2027-03-29")
    assert [time[:30] for time in times] == [
        "Sun 2027-03-28 03:00:00 +02:00",
        "Tue 2027-03-30 02:30:00 +02:00",
    ]
    assert "02:30 does not exist" in times[0]
    assert live("schedules", "list").stdout.startswith("No schedules yet.")
    assert len(data(live("schedules", "preview", "--every", "1h", "--json"))["fire_times"]) == 10


def test_backfill_prints_how_many_and_the_ledger_their_outcomes(live: Any, system: Any) -> None:
    words = ("--every", "10m", "--anchor", LONG_AGO, "--handler", "echo", "--overlap", "allow")
    schedule_id = made(live, *words)["id"]
    empty = live("schedules", "ledger", schedule_id).stdout
    assert empty == f"It has not fired yet: duetime schedules upcoming {schedule_id}\n"
    span = ("--from", "2026-02-01T00:00:00Z", "--to", "2026-02-01T00:30:00Z")
    result = live("schedules", "backfill", schedule_id, *span, "--per-minute", "6000")
    assert result.stdout.splitlines() == [
        "3 fire times will be run.",
        f"See what becomes of them: duetime schedules ledger {schedule_id}",
    ]
    head, *rows = live("schedules", "ledger", schedule_id).stdout.splitlines()
    assert head.split() == ["FIRE", "TIME", "OUTCOME", "LATE", "TASK", "STATUS", "NOTE"]
    times = [datetime.fromisoformat(" ".join(row.split()[:2])) for row in rows]
    offset = datetime(2026, 2, 1, tzinfo=UTC).astimezone().utcoffset()
    assert offset is not None
    assert [(time - offset).minute for time in times] == [20, 10, 0]
    assert all("fired" in row and "backfill 0" in row for row in rows)
    answer = data(live("schedules", "ledger", schedule_id, "--limit", "2", "--json"))
    assert [row["outcome"] for row in answer["items"]] == ["fired"] * 2
    assert "There are more" in live("schedules", "ledger", schedule_id, "--limit", "2").stdout
    assert "There are more" not in live("schedules", "ledger", schedule_id, "--all").stdout


def test_ledger_is_in_the_zone_of_the_rule_and_leaves_out_future_fire_times(
    live: Any, system: Any
) -> None:
    words = ("--cron", "0 9 * * *", "--tz", "Asia/Tokyo", "--handler", "echo")
    schedule_id = made(live, *words)["id"]
    at = int(datetime(2026, 2, 1, tzinfo=UTC).timestamp() * 1_000)
    future = system.now() + 60_000
    outcomes = [
        (at, LedgerOutcome.SKIPPED_MISFIRE, None),
        (at + 1, LedgerOutcome.BROKEN, "odd\x1b rule"),
    ]
    rows = [
        LedgerRow(schedule_id=schedule_id, fire_time=t, version=1, outcome=o, error=e)
        for t, o, e in [*outcomes, (future, LedgerOutcome.FIRED, None)]
    ]
    system.schedules.write_ledger(rows, system.now())
    _, broken, missed = live("schedules", "ledger", schedule_id).stdout.splitlines()
    assert broken.split() == ["2026-02-01", "09:00:00", "+09:00", "broken", "odd\ufffd", "rule"]
    assert missed.split() == ["2026-02-01", "09:00:00", "+09:00", "skipped_misfire"]
