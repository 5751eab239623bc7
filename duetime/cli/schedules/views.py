"""Schedules and their ledger as the commands print them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Any

from rich.console import RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from duetime.cli import fire_times
from duetime.cli import format as fmt
from duetime.cli.schedules.rule_options import rules_of
from duetime.cli.views import cell, list_table, panel_of
from duetime.client import Expected, Schedule, Upcoming
from duetime.core.schedules.ledger import LedgerOutcome as Outcome
from duetime.core.schedules.schedule import ScheduleStatus
from duetime.terminal import clean, length, one_line

STYLES: Mapping[str, str] = {
    ScheduleStatus.ACTIVE: "green",
    ScheduleStatus.PAUSED: "yellow",
    ScheduleStatus.BROKEN: "bold red",
    ScheduleStatus.FINISHED: "dim",
    Outcome.FIRED: "green",
    Outcome.SKIPPED_OVERLAP: "yellow",
    Outcome.SKIPPED_MISFIRE: "magenta",
    Outcome.PAUSED: "yellow",
}
OVERLAPS: Mapping[str, str] = {
    "allow": "starts beside the previous one",
    "skip": "is skipped while the previous one runs",
    "queue": "waits for the previous one; only one waits",
    "cancel": "cancels the previous one",
}
MISFIRES: Mapping[str, str] = {
    "run_once": "the last missed fire time is run",
    "run_all": "all missed fire times are run",
    "skip": "missed fire times are skipped",
}


def styled(word: str) -> Text:
    return Text(word, style=STYLES.get(word, "bold red"))


def short(schedule: Schedule) -> str:
    """Returns the name of a schedule or, if it has none, that of its tasks or their target."""
    task = schedule["task"]
    name = schedule.get("name") or task.get("name")
    return one_line(name or fmt.target(task["target"]))


def when(schedule: Schedule) -> str:
    return one_line(schedule["description"] or "by a rule that cannot be evaluated")


def fire_time(at: str | None, schedule: Schedule, now: datetime) -> str | None:
    """Returns a fire time on the clock of the rule, if it has one."""
    if at is None:
        return None
    zone = fire_times.zone_of(rules_of(schedule))
    return f"{fire_times.clock_time(at, zone)} ({fmt.relative(at, now)})"


def why_nothing_fires(schedule: Schedule) -> str:
    schedule_id = schedule["id"]
    match schedule["status"]:
        case ScheduleStatus.PAUSED:
            by = schedule.get("paused_by")
            by, note = f" by {one_line(by)}" if by else "", schedule["note"]
            note = f" ({one_line(note)})" if note else ""
            return f"It is paused{by}{note}: duetime schedules resume {schedule_id}"
        case ScheduleStatus.BROKEN:
            error = one_line(schedule["last_error"] or "")
            return f"Its rule cannot be evaluated: {error}"
        case ScheduleStatus.FINISHED:
            return "It is finished: it never fires again."
        case _:
            return "It fires next when its current run has ended."


def misfire(fields: Mapping[str, Any]) -> str:
    policy = fields.get("policy", "run_once")
    text = MISFIRES.get(policy, clean(str(policy)))
    if policy == "run_all":
        text += f", {fields.get('per_minute', 60):g} a minute"
    if fields.get("window") is not None:
        text += f", if not longer ago than {length(fields['window'])}"
    return f"{text}; missed means {length(fields.get('grace', 60))} late"


def overlap(policy: str) -> str:
    return f"{policy}: a run {OVERLAPS[policy]}" if policy in OVERLAPS else clean(policy)


def paused(schedule: Schedule, now: datetime) -> str | None:
    """Returns since when, and by whom. A server of an earlier version does not say."""
    since, by = fmt.when(schedule.get("paused_at"), now), schedule.get("paused_by")
    return f"{since} by {clean(by)}" if since and by else since


def declared(schedule: Schedule) -> str | None:
    source = schedule.get("source")
    return clean(f"{source}, by app {schedule.get('app')}") if source else None


def runs(schedule: Schedule) -> str:
    max_runs = schedule.get("max_runs")
    return f"{schedule['runs']:,}" + (f" of {max_runs:,}" if max_runs else "")


def panel(schedule: Schedule, ahead: Upcoming, now: datetime) -> Panel:
    parts = (Text(), upcoming(schedule, ahead, now))
    return panel_of(schedule["id"], styled(schedule["status"]), facts(schedule, now), *parts)


def facts(schedule: Schedule, now: datetime) -> Iterator[tuple[str, Text]]:
    """Yields the rows of a panel, without the fields that are not set."""
    task = schedule["task"]
    failures = schedule.get("pause_on_failure")
    jitter, timeout = schedule.get("jitter"), task.get("timeout")
    rows = {
        "name": clean(schedule.get("name") or "") or None,
        "fires": when(schedule),
        "last fired": fire_time(schedule["last_fired_at"], schedule, now),
        "runs": runs(schedule),
        "starts": fmt.when(schedule.get("starts_at"), now),
        "ends": fmt.when(schedule.get("ends_at"), now),
        "jitter": f"up to {length(jitter)}" if jitter else None,
        "overlap": overlap(schedule.get("overlap", "skip")),
        "misfire": misfire(schedule.get("misfire", {})),
        "pauses": f"after {fmt.count(failures, 'dead run')} in a row" if failures else None,
        "note": clean(schedule["note"] or "") or None,
        "paused": paused(schedule, now),
        "declared": declared(schedule),
        "target": fmt.target(task["target"]),
        "task name": clean(task.get("name") or "") or None,
        "namespace": task.get("namespace"),
        "priority": task.get("priority"),
        "pool": task.get("pool"),
        "timeout": length(timeout) if timeout else None,
        "tags": clean(", ".join(f"{k}={v}" for k, v in task.get("tags", {}).items())) or None,
        "payload": fmt.value(task.get("payload")),
        "version": str(schedule["version"]),
        "created": fmt.when(schedule["created_at"], now),
        "changed": fmt.when(schedule["updated_at"], now),
    }
    yield from ((label, Text(text)) for label, text in rows.items() if text is not None)
    if schedule["last_error"]:
        yield "error", Text(clean(schedule["last_error"]), style="red")


def upcoming(schedule: Schedule, ahead: Upcoming, now: datetime) -> RenderableType:
    if not ahead["fire_times"]:
        return Text(why_nothing_fires(schedule), style="yellow")
    return fire_times.table(ahead, fire_times.zone_of(rules_of(schedule)), now)


def table(schedules: Sequence[Schedule], now: datetime) -> Table:
    """A narrow terminal cuts the name and the rule of a schedule, never its id."""
    rows = list_table({"ID": 26, "STATUS": 8, "NEXT": 10, "RUNS": 4})
    rows.add_column("SCHEDULE")
    rows.add_column("FIRES")
    for schedule in schedules:
        at = schedule["next_fire_at"]
        rows.add_row(
            schedule["id"],
            styled(schedule["status"]),
            fmt.relative(at, now, rough=True) if at else "",
            runs(schedule).replace(" of ", "/"),
            cell(short(schedule)),
            cell(when(schedule)),
        )
    return rows


def ledger(zone: tzinfo | None) -> Callable[[Sequence[Expected], datetime], Table]:
    """Returns a view of ledger rows; a narrow terminal cuts neither the times nor the ids."""

    def view(rows: Sequence[Expected], _now: datetime) -> Table:
        table = list_table({"FIRE TIME": 26, "OUTCOME": 5, "LATE": 4, "TASK": 26, "STATUS": 9})
        if with_notes := any(_note(row) for row in rows):
            table.add_column("NOTE")
        for row in rows:
            table.add_row(*_ledger_row(row, zone), *([cell(_note(row))] if with_notes else []))
        return table

    return view


def _ledger_row(row: Expected, zone: tzinfo | None) -> list[Text]:
    return [
        Text(fire_times.clock_time(row["fire_time"], zone, weekday=False)),
        styled(row["outcome"]),
        Text(fmt.drift(row["late_ms"]) or ""),
        Text(row["task_id"] or ""),
        fmt.styled(row["task_status"] or ""),
    ]


def _note(row: Expected) -> str:
    backfill, reason = row.get("backfill"), fmt.reason(row)
    parts = [reason, f"backfill {backfill}" if backfill else None, row.get("error")]
    return one_line("; ".join(part for part in parts if part))


def created(schedule: Schedule, now: datetime, *, replayed: bool = False) -> Text:
    return sentence("Already created" if replayed else "Created", schedule, now)


def sentence(verb: str, schedule: Schedule, now: datetime) -> Text:
    """Returns one sentence: the name of a schedule, its rule and its next fire time."""
    at = fire_time(schedule["next_fire_at"], schedule, now)
    rest = f"; next {at}" if at else f"; {schedule['status']}"
    what = f"  {short(schedule)}: {when(schedule)}"
    return Text.assemble(f"{verb} ", (schedule["id"], "bold"), what, rest)
