"""A schedule, or many, and its ledger, for the eye."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, tzinfo

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from duetime.cli import fire_times
from duetime.cli import phrases as task_phrases
from duetime.cli.schedules import phrases
from duetime.cli.schedules.rule_options import rules_of
from duetime.client import Expected, Schedule, Upcoming
from duetime.text import clean, length, one_line


def panel(schedule: Schedule, ahead: Upcoming, now: datetime) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for label, content in facts(schedule, now):
        grid.add_row(label, content)
    title = Text.assemble((schedule["id"], "bold"), "  ", phrases.styled(schedule["status"]))
    parts = Group(grid, Text(), coming(schedule, ahead, now))
    return Panel(parts, title=title, title_align="left", expand=False)


def facts(schedule: Schedule, now: datetime) -> Iterator[tuple[str, Text]]:
    """What there is to say; what is not set is left out."""
    task = schedule["task"]
    failures = schedule.get("pause_on_failure")
    jitter, timeout = schedule.get("jitter"), task.get("timeout")
    rows = {
        "name": clean(schedule.get("name") or "") or None,
        "fires": phrases.when(schedule),
        "last fired": phrases.fires(schedule["last_fired_at"], schedule, now),
        "runs": phrases.runs(schedule),
        "starts": task_phrases.when(schedule.get("starts_at"), now),
        "ends": task_phrases.when(schedule.get("ends_at"), now),
        "jitter": f"up to {length(jitter)}" if jitter else None,
        "overlap": phrases.overlap(schedule.get("overlap", "skip")),
        "misfire": phrases.misfire(schedule.get("misfire", {})),
        "pauses": f"after {task_phrases.count(failures, 'dead run')} in a row"
        if failures
        else None,
        "note": clean(schedule["note"] or "") or None,
        "target": task_phrases.target(task["target"]),
        "task name": clean(task.get("name") or "") or None,
        "namespace": task.get("namespace"),
        "priority": task.get("priority"),
        "timeout": length(timeout) if timeout else None,
        "tags": clean(", ".join(f"{k}={v}" for k, v in task.get("tags", {}).items())) or None,
        "payload": task_phrases.value(task.get("payload")),
        "version": str(schedule["version"]),
        "created": task_phrases.when(schedule["created_at"], now),
        "changed": task_phrases.when(schedule["updated_at"], now),
    }
    yield from ((label, Text(text)) for label, text in rows.items() if text is not None)
    if schedule["last_error"]:
        yield "error", Text(clean(schedule["last_error"]), style="red")


def coming(schedule: Schedule, ahead: Upcoming, now: datetime) -> RenderableType:
    if not ahead["fire_times"]:
        return Text(phrases.why_nothing_fires(schedule), style="yellow")
    return fire_times.table(ahead, fire_times.zone_of(rules_of(schedule)), now)


def table(schedules: Sequence[Schedule], now: datetime) -> Table:
    """A narrow terminal cuts when it fires and what it is, never its id."""
    rows = Table(box=None, header_style="dim", pad_edge=False)
    for header, width in {"ID": 26, "STATUS": 8, "NEXT": 10, "RUNS": 4}.items():
        rows.add_column(header, no_wrap=True, min_width=width)
    rows.add_column("SCHEDULE")
    rows.add_column("FIRES")
    for schedule in schedules:
        at = schedule["next_fire_at"]
        rows.add_row(
            schedule["id"],
            phrases.styled(schedule["status"]),
            task_phrases.relative(at, now, rough=True) if at else "",
            phrases.runs(schedule).replace(" of ", "/"),
            _cut(phrases.short(schedule)),
            _cut(phrases.when(schedule)),
        )
    return rows


def ledger(zone: tzinfo | None) -> Callable[[Sequence[Expected], datetime], Table]:
    """A narrow terminal cuts neither the times nor the ids."""

    def view(rows: Sequence[Expected], _now: datetime) -> Table:
        found = Table(box=None, header_style="dim", pad_edge=False)
        widths = {"FIRE TIME": 26, "OUTCOME": 5, "LATE": 4, "TASK": 26, "STATUS": 9}
        for header, width in widths.items():
            found.add_column(header, no_wrap=True, min_width=width)
        if noted := any(_note(row) for row in rows):
            found.add_column("NOTE")
        for row in rows:
            found.add_row(*_ledger_row(row, zone), *([_cut(_note(row))] if noted else []))
        return found

    return view


def _ledger_row(row: Expected, zone: tzinfo | None) -> list[Text]:
    return [
        Text(fire_times.on_the_clock(row["fire_time"], zone, weekday=False)),
        phrases.styled(row["outcome"]),
        Text(task_phrases.drift(row["late_ms"]) or ""),
        Text(row["task_id"] or ""),
        task_phrases.styled(row["task_status"] or ""),
    ]


def _note(row: Expected) -> str:
    backfill, reason = row.get("backfill"), task_phrases.reason(row)
    told = [reason, f"backfill {backfill}" if backfill else None, row.get("error")]
    return one_line("; ".join(part for part in told if part))


def created(schedule: Schedule, now: datetime, *, replayed: bool = False) -> Text:
    return told("Already created" if replayed else "Created", schedule, now)


def told(verb: str, schedule: Schedule, now: datetime) -> Text:
    """One sentence: what it is, when it fires, and when next."""
    at = phrases.fires(schedule["next_fire_at"], schedule, now)
    rest = f"; next {at}" if at else f"; {schedule['status']}"
    what = f"  {phrases.short(schedule)}: {phrases.when(schedule)}"
    return Text.assemble(f"{verb} ", (schedule["id"], "bold"), what, rest)


def _cut(text: str) -> Text:
    return Text(text, no_wrap=True, overflow="ellipsis")
