"""Tasks as the commands print them: a panel, tables, sentences."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from duetime.cli import format as fmt
from duetime.client import Attempt, DeadGroup, LaneState, Task
from duetime.terminal import clean, length, one_line


def panel(task: Task, attempts: Sequence[Attempt], now: datetime) -> RenderableType:
    parts: list[RenderableType] = [Text(), attempt_table(attempts)] if attempts else []
    return panel_of(task["id"], fmt.status(task), facts(task, now), *parts)


def panel_of(
    item_id: str, status: Text, facts: Iterable[tuple[str, Text]], *parts: RenderableType
) -> Panel:
    """Returns a panel with the id and the status of an item as its title."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for label, content in facts:
        grid.add_row(label, content)
    title = Text.assemble((item_id, "bold"), "  ", status)
    return Panel(Group(grid, *parts), title=title, title_align="left", expand=False)


def list_table(min_widths: Mapping[str, int]) -> Table:
    """Returns a table with these columns, which a narrow terminal does not cut."""
    table = Table(box=None, header_style="dim", pad_edge=False)
    for header, width in min_widths.items():
        table.add_column(header, no_wrap=True, min_width=width)
    return table


def cell(text: str, style: str = "") -> Text:
    """Returns a cell that a narrow terminal cuts."""
    return Text(text, style=style, no_wrap=True, overflow="ellipsis")


def facts(task: Task, now: datetime) -> Iterator[tuple[str, Text]]:
    """Yields the rows of a panel, without the fields that are not set."""
    rows = {
        "name": clean(task["name"]) if task["name"] else None,
        "target": fmt.target(task["target"]),
        "namespace": task["namespace"],
        "priority": task["priority"],
        "promoted": _promotion(task, now),
        "pool": task.get("pool"),
        "due": fmt.when(task["due_at"], now),
        "submitted": fmt.when(task["created_at"], now),
        "started": fmt.when(task["started_at"], now),
        "finished": fmt.when(task["finished_at"], now),
        "drift": fmt.drift(task["drift_ms"]),
        "attempt": fmt.tries(task),
        "progress": fmt.progress(task),
        "stopping": "cancel requested" if _stopping(task) else None,
        "timeout": length(task["timeout"]),
        "expires": fmt.when(task["expires_at"], now),
        "tags": clean(", ".join(f"{k}={v}" for k, v in task["tags"].items())) or None,
        "limits": fmt.limits(task),
        "waiting for": fmt.waiting_for(task.get("waiting_for")),
        "fairness key": task.get("fairness_key"),
        "ordering key": task["ordering_key"],
        "idempotency key": task["idempotency_key"],
        "unique key": _unique_key(task),
        "schedule": task["schedule_id"],
        "scheduled for": fmt.when(task["scheduled_for"], now),
        "parent": task.get("parent_id"),
        "reason": fmt.reason(task),
        "run": task.get("run_id"),
        "step": task.get("step"),
        "payload": fmt.value(task["payload"]),
        "result": fmt.value(task["result"]),
        "not shown": fmt.not_shown(task),
    }
    yield from ((label, Text(text)) for label, text in rows.items() if text is not None)
    if error := fmt.error(task["error"]):
        yield "error", Text(error, style="red")
    if trace := fmt.traceback(task["error"]):
        yield "traceback", Text(trace)


def _queue(task: Task) -> str:
    """Returns the lane of a task, of its pool if it has one."""
    lane, pool = task.get("lane") or task["priority"], task.get("pool")
    return f"{pool}/{lane}" if pool else lane


def _promotion(task: Task, now: datetime) -> str | None:
    at = task.get("promoted_at")  # an older API has no such field
    return f"to {task['lane']}, {fmt.when(at, now)}" if at else None


def _stopping(task: Task) -> bool:
    return task["cancel_requested"] and not fmt.ended(task)


def attempt_table(attempts: Sequence[Attempt]) -> Table:
    table = Table("attempt", "started", "took", "drift", "outcome", "error", box=None)
    for attempt in attempts:
        table.add_row(
            str(attempt["number"]),
            fmt.local(attempt["started_at"]),
            _took(attempt),
            fmt.drift(attempt["drift_ms"]),
            attempt["outcome"] or "running",
            Text(fmt.error(attempt["error"]) or ""),
        )
    return table


def _took(attempt: Attempt) -> str:
    if attempt["finished_at"] is None:
        return ""
    start, end = (datetime.fromisoformat(str(attempt[k])) for k in ("started_at", "finished_at"))
    return length((end - start).total_seconds())


def task_table(tasks: Sequence[Task], now: datetime) -> Table:
    """A narrow terminal cuts the name of a task, never its id."""
    table = list_table({"ID": 26, "STATUS": 9, "DUE": 10, "LANE": 6, "TRIES": 5})
    table.add_column("TASK")
    for task in tasks:
        table.add_row(
            task["id"],
            fmt.status(task),
            fmt.relative(task["due_at"], now, rough=True),
            _queue(task),
            fmt.tries(task).replace(" of ", "/"),
            cell(fmt.short(task)),
        )
    return table


def lane_table(lanes: Sequence[LaneState]) -> Table:
    """Leaves out the columns that are not known, as most are on AWS."""
    columns: dict[str, Callable[[LaneState], float | None]] = {
        "WEIGHT": lambda lane: lane.get("weight"),  # an older API has no such field, as below
        "WAITING": lambda lane: lane["depth"],
        "OLDEST": lambda lane: lane["oldest_seconds"],
        "DUE SOON": lambda lane: lane["delayed"],
        "RUNNING": _running,
        "IN/MIN": lambda lane: lane.get("in_per_minute"),
        "OUT/MIN": lambda lane: lane.get("out_per_minute"),
        "PROMOTED": lambda lane: lane.get("promoted"),
        "HELD": lambda lane: lane.get("waiting"),
    }
    always = ("WAITING", "OLDEST", "DUE SOON", "RUNNING")
    shown = {
        h: of for h, of in columns.items() if h in always or any(of(x) is not None for x in lanes)
    }
    table = Table("LANE", box=None, header_style="dim", pad_edge=False)
    for header in shown:
        table.add_column(header, justify="right")
    for lane in lanes:
        table.add_row(lane["lane"], *(_lane_cell(h, of(lane)) for h, of in shown.items()))
    return table


def _running(lane: LaneState) -> int:
    running = lane.get("running")
    return lane["in_flight"] if running is None else running


def _lane_cell(header: str, number: float | None) -> str:
    if number is None:
        return ""
    if header == "OLDEST":
        return length(number)
    return f"{number}%" if header == "WEIGHT" else f"{number:,}"


def dead_table(tasks: Sequence[Task], now: datetime) -> Table:
    """A narrow terminal cuts the error and the name of a task, never its id."""
    table = list_table({"ID": 26, "DIED": 10})
    table.add_column("ERROR")
    table.add_column("TRIES", no_wrap=True, min_width=5)
    with_namespace = any(task["namespace"] != "default" for task in tasks)
    if with_namespace:
        table.add_column("NAMESPACE", no_wrap=True)
    table.add_column("TASK")
    for task in tasks:
        table.add_row(
            task["id"],
            fmt.relative(task["finished_at"] or task["updated_at"], now, rough=True),
            cell(one_line(fmt.error(task["error"]) or ""), style="red"),
            fmt.tries(task).replace(" of ", "/"),
            *([task["namespace"]] if with_namespace else []),
            cell(fmt.short(task)),
        )
    return table


def group_table(groups: Sequence[DeadGroup], now: datetime) -> Table:
    """A narrow terminal cuts the target and the message."""
    table = list_table({"GROUP": 16, "COUNT": 5, "LAST": 10})
    for header in ("ERROR", "TARGET", "MESSAGE"):
        table.add_column(header)
    for group in groups:
        table.add_row(
            group["fingerprint"],
            f"{group['count']:,}",
            fmt.relative(group["last"], now, rough=True),
            cell(one_line(group["error_type"] or ""), style="red"),
            cell(one_line(group["target"])),
            cell(one_line(group["message"])),
        )
    return table


def _unique_key(task: Task) -> str | None:
    """Returns the key, and that the task gives it up when it starts, if so."""
    unique = task.get("unique")  # a server of an earlier version knows none
    if not unique:
        return None
    return f"{unique['key']} (while pending)" if unique["while"] == "pending" else unique["key"]


def submitted(task: Task, now: datetime, *, replayed: bool = False) -> Text:
    if replayed:
        what = f"  {fmt.short(task)}, {task['status']}"
        return Text.assemble("Already submitted ", (task["id"], "bold"), what)
    due = "at once" if task["due_at"] <= task["created_at"] else fmt.when(task["due_at"], now)
    return Text.assemble(
        ("Submitted ", ""), (task["id"], "bold"), f"  {fmt.short(task)}, due {due}"
    )


def ending(task: Task) -> Iterator[Text]:
    """Yields the reason, the error and the result of a task that has ended."""
    if reason := fmt.reason(task):
        yield Text.assemble(("reason  ", "dim"), reason)
    if error := fmt.error(task["error"]):
        yield Text.assemble(("error   ", "dim"), (error, "red"))
    if (result := fmt.value(task["result"])) is not None:
        yield Text.assemble(("result  ", "dim"), result)
    elif "result" in (task.get("not_shown") or {}):
        yield Text.assemble(("result  ", "dim"), f"duetime show {task['id']} --result prints it")
