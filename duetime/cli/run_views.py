"""How runs and their steps look in a terminal."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from duetime.cli import format as fmt
from duetime.cli.step_graph import Step, draw, some
from duetime.cli.views import cell, list_table
from duetime.terminal import clean, length, one_line

if TYPE_CHECKING:
    from duetime.client import Run

RUN_STYLES = {"FAILED": "bold red", "CANCELLING": "yellow", "BLOCKED": "dim", "SKIPPED": "dim"}
ENDED = ("SUCCEEDED", "DEAD", "CANCELLED", "EXPIRED", "SKIPPED")
FAILED = ("DEAD", "EXPIRED", "CANCELLED")
RANKS = {"DEAD": 0, "EXPIRED": 0, "RETRYING": 1, "RUNNING": 2, "WAITING": 2, "SUCCEEDED": 5}
SKIPS = {
    "condition": "its condition was not met",
    "upstream": "a step before it failed",
    "stopped": "the run was stopped",
}


def whole(run: "Run", now: datetime, *, everything: bool = False) -> Iterator[Text]:
    """Yields a run: its head, its graph, and what holds it up."""
    yield head(run, now)
    steps: Sequence[Step] = run.get("steps") or []
    yield from draw(steps, lambda step: _line(step, now), _plain, rank=_rank, everything=everything)
    yield from (Text(clean(line)) for line in situation(run, now))


def head(run: "Run", now: datetime) -> Text:
    retried = f"  attempt {run['attempt']}" if run["attempt"] > 1 else ""
    taken = _taken(run.get("created_at"), run.get("finished_at"), now)
    words = Text.assemble((run["id"], "bold"), f"  {_workflow(run)}  ", _status(run["status"]))
    return words.append(f"{retried}  {taken}" if taken else retried)


def situation(run: "Run", now: datetime) -> Iterator[str]:
    """Yields which steps the others wait for, the result or what failed, and what to type."""
    steps = run.get("steps") or []
    under_way = [step for step in steps if step["status"] not in (*ENDED, "BLOCKED")]
    if run["status"] in ("RUNNING", "CANCELLING") and under_way:
        yield f"waiting for: {some([_under_way(step, now) for step in under_way])}"
    if (result := fmt.value(run.get("result"))) is not None:
        yield f"result: {result}"
    if (error := run.get("error")) is not None:
        yield f"failed: {_failure(error)}{_not_run(steps)}"
    elif failed := [step["name"] for step in steps if step["status"] in FAILED]:
        yield f"failed: {some(failed)}{_not_run(steps)}"
    if run["status"] == "FAILED":
        yield f"retry with: duetime runs retry {run['id']}"


def table(runs: "Sequence[Run]", now: datetime) -> Table:
    made = list_table({"ID": 26, "STATUS": 9})
    for name in ("WORKFLOW", "CREATED", "STEPS"):
        made.add_column(name)
    for run in runs:
        counts = run.get("counts") or {}
        words = ", ".join(f"{number} {status}" for status, number in counts.items() if number)
        created = fmt.relative(run["created_at"], now, rough=True)
        made.add_row(
            run["id"], _status(run["status"]), cell(_workflow(run)), created, cell(clean(words))
        )
    return made


def visible_state(run: "Run") -> dict[str, tuple[Any, ...]]:
    """Returns what must change of the run (under an empty name), or of a step, before a new line is
    printed about it."""
    steps = {s["name"]: (s["status"], s["attempt"]) for s in run.get("steps") or []}
    return {**steps, "": (run["status"], run["attempt"])}


def step_line(run: "Run", name: str, now: datetime) -> Text:
    """Returns the line of a step, or of the run itself, with the time."""
    clock = Text(f"{now.astimezone():%H:%M:%S}  ")
    if not name:
        return clock.append_text(head(run, now))
    step: Step = next(step for step in run.get("steps") or [] if step["name"] == name)
    return clock.append_text(_line(step, now))


def _line(step: Step, now: datetime) -> Text:
    attempt = step.get("attempt") or 0
    reason = step.get("reason")
    parts = (
        f"attempt {attempt}" if attempt > 1 else "",
        _taken(step.get("started_at"), step.get("finished_at"), now),
        f"({SKIPS.get(reason, clean(reason))})" if reason else "",
        step.get("after", ""),
    )
    rest = "".join(f"  {part}" for part in parts if part)
    return Text.assemble(f"{one_line(step['name'])}  ", _status(step["status"]), rest)


def _plain(text: str) -> Text:
    return Text(text, style="dim")


def _status(status: str) -> Text:
    return Text(status, style=RUN_STYLES.get(status) or fmt.STYLES.get(status, ""))


def _rank(step: Step) -> int:
    return RANKS.get(step["status"], 3)


def _workflow(run: Mapping[str, Any]) -> str:
    if run.get("workflow") is None:
        return one_line(run.get("name") or "steps of its own")
    version = run.get("version")
    return one_line(run["workflow"] + (f"@{version}" if version else ""))


def _under_way(step: Mapping[str, Any], now: datetime) -> str:
    taken = _taken(step.get("started_at"), None, now)
    return f"{step['name']} ({step['status']}{f' for {taken}' if taken else ''})"


def _taken(start: str | None, end: str | None, now: datetime) -> str:
    """Returns how long it took, or has taken so far."""
    if start is None:
        return ""
    until = now if end is None else datetime.fromisoformat(end)
    return length(max((until - datetime.fromisoformat(start)).total_seconds(), 0.0))


def _failure(error: Mapping[str, Any]) -> str:
    what = f"{error['type']}: {one_line(error['message'])}" if error.get("message") else ""
    what = what or str(error["type"])
    step = error.get("step")
    return f"{step} — {what}" if step else what


def _not_run(steps: Sequence[Mapping[str, Any]]) -> str:
    """Says how many steps the failure kept from running."""
    number = sum(1 for s in steps if s.get("reason") in ("upstream", "stopped"))
    return f"; {fmt.count(number, 'step')} did not run" if number else ""
