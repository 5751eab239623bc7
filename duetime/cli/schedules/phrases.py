"""The small phrases from which every view of a schedule is made."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from rich.text import Text

from duetime.cli import fire_times, phrases
from duetime.cli.schedules.rule_options import rules_of
from duetime.client import Schedule
from duetime.text import clean, length, one_line
from lambdas.core.schedules.ledger import Expected
from lambdas.core.schedules.schedule import ScheduleStatus

STYLES: Mapping[str, str] = {
    ScheduleStatus.ACTIVE: "green",
    ScheduleStatus.PAUSED: "yellow",
    ScheduleStatus.BROKEN: "bold red",
    ScheduleStatus.FINISHED: "dim",
    Expected.FIRED: "green",
    Expected.SKIPPED_OVERLAP: "yellow",
    Expected.SKIPPED_MISFIRE: "magenta",
    Expected.PAUSED: "yellow",
}
OVERLAPS: Mapping[str, str] = {
    "allow": "runs beside the one before",
    "skip": "is skipped while the one before runs",
    "queue": "waits for the one before; only one waits",
    "cancel": "has the one before cancelled",
}
MISSED: Mapping[str, str] = {
    "run_once": "the last one missed is run",
    "run_all": "all that were missed are run",
    "skip": "what was missed is skipped",
}


def styled(word: str) -> Text:
    return Text(word, style=STYLES.get(word, "bold red"))


def short(schedule: Schedule) -> str:
    """What it is: its name if it has one, else what its tasks are."""
    task = schedule["task"]
    name = schedule.get("name") or task.get("name")
    return one_line(name or phrases.target(task["target"]))


def when(schedule: Schedule) -> str:
    return one_line(schedule["description"] or "by a rule that cannot be evaluated")


def fires(at: str | None, schedule: Schedule, now: datetime) -> str | None:
    """On the clock of its rule, if that has one."""
    if at is None:
        return None
    zone = fire_times.zone_of(rules_of(schedule))
    return f"{fire_times.on_the_clock(at, zone)} ({phrases.relative(at, now)})"


def why_nothing_fires(schedule: Schedule) -> str:
    schedule_id = schedule["id"]
    match schedule["status"]:
        case ScheduleStatus.PAUSED:
            note = f" ({one_line(schedule['note'])})" if schedule["note"] else ""
            return f"It is paused{note}: duetime schedules resume {schedule_id}"
        case ScheduleStatus.BROKEN:
            error = one_line(schedule["last_error"] or "")
            return f"Its rule cannot be evaluated: {error}"
        case ScheduleStatus.FINISHED:
            return "It is finished: it never fires again."
        case _:
            return "It fires next when the run that goes on is over."


def misfire(fields: Mapping[str, Any]) -> str:
    policy = fields.get("policy", "run_once")
    told = MISSED.get(policy, clean(str(policy)))
    if policy == "run_all":
        told += f", {fields.get('per_minute', 60):g} a minute"
    if fields.get("window") is not None:
        told += f", if not longer ago than {length(fields['window'])}"
    return f"{told}; missed is what is {length(fields.get('grace', 60))} late"


def overlap(policy: str) -> str:
    return f"{policy}: a run {OVERLAPS[policy]}" if policy in OVERLAPS else clean(policy)


def runs(schedule: Schedule) -> str:
    most = schedule.get("max_runs")
    return f"{schedule['runs']:,}" + (f" of {most:,}" if most else "")
