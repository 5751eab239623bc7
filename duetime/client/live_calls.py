"""Calls that follow tasks as they change: pushes, and reads that find what was not pushed.

A change is passed on if it is newer than what is known of its task, by (`updated_at`, `attempt`).
So lost, repeated and reordered pushes do no harm: the next read, a few seconds later, has it right.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, cast

from duetime.client import task_calls
from duetime.client.calls import Call, Item, Pause, ask
from duetime.client.errors import BadArgument, Throttled, Unreachable, WaitTimeout
from duetime.client.live_feed import Changes, Feed, ProgressMade
from duetime.client.live_types import LiveChange, LiveFilter
from duetime.client.requests import PAGE, run_path
from duetime.client.types import Fields, Order, Task, TaskFilter
from duetime.client.waits import SILENT_PAUSE, Patience
from duetime.core.lifecycle import FINISHED
from duetime.core.target_names import target_name

KNOWN = 2_000  # tasks whose latest state is remembered
ALL_NAMESPACES, DEFAULT_NAMESPACE = "*", "default"
# Fields of a list's filter that pushes have, too.
PUSHED = ("namespace", "handler", "schedule_id", "run_id")
REREAD = 5.0  # seconds: a push may have been lost
TASK_PAUSE, PAGE_PAUSE = 0.2, 1.0  # seconds between two reads, at least

Chance = Callable[[], float]


def wanted(which: LiveFilter) -> LiveFilter:
    """Returns the fields that are given. A task or a run is read as a whole: no filter goes with
    it."""
    fields: Any = {name: text for name, text in which.items() if text is not None}
    for name in ("status", "lane"):
        if isinstance(fields.get(name), str):
            fields[name] = [fields[name]]
    alone = next((name for name in ("task_id", "run_id") if name in fields), None)
    if alone and (other := next((name for name in fields if name != alone), None)):
        raise BadArgument(other, f"does not go with {alone}")
    return cast(LiveFilter, fields)


def subscription(which: LiveFilter) -> dict[str, Any]:
    if "task_id" in which:
        return {"topic": "task", "task_id": which["task_id"]}
    if "run_id" in which:
        return {"topic": "tasks", "filter": dict(which)}
    fields: dict[str, Any] = {"namespace": DEFAULT_NAMESPACE, **which}
    if fields["namespace"] == ALL_NAMESPACES:
        del fields["namespace"]
    return {"topic": "tasks", "filter": fields}


def changes(
    which: LiveFilter, patience: Patience, *, chance: Chance, reread: float, poll: float
) -> Call[None]:
    """Yields each change as a LiveChange, those of one task until it has ended. It reads at first,
    after every reconnection, and every `reread` seconds; every `poll` seconds while there is no
    connection."""
    feed = Feed(subscription(which), clock=patience.clock, chance=chance)
    view = View(which)
    read_at = patience.clock()
    while True:
        push = yield from feed.next(read_at)
        match push:
            case Changes(items):
                found = view.pushed(items)
            case ProgressMade(frame):
                found = view.progressed(frame)
            case _:
                found = yield from _read_again(view.read, patience, first=view.empty)
                read_at = patience.clock() + (reread if feed.connected else poll)
        for change in found:
            yield Item(change)
        if "task_id" in which and found and found[-1]["status"] in FINISHED:
            return


def follow_task(
    task_id: str, patience: Patience, *, chance: Chance, timeout: float | None, poll: float
) -> Call[None]:
    """Yields the task when it has changed, until it has ended."""
    feed = Feed(
        subscription({"task_id": task_id}),
        clock=patience.clock,
        chance=chance,
        supported=is_installed(),
    )
    deadline = math.inf if timeout is None else patience.clock() + timeout
    readings = Readings(feed, lambda: task_calls.get(task_id), patience, TASK_PAUSE, poll)
    while True:
        task: Task = yield from readings.next(deadline)
        yield Item(task)
        if task["status"] in FINISHED:
            return
        if timeout is not None and patience.clock() >= deadline:
            raise WaitTimeout(task, timeout)


def follow_page(
    which: TaskFilter,
    patience: Patience,
    *,
    chance: Chance,
    poll: float,
    order: Order | None,
    fields: Fields | None,
    limit: int | None,
) -> Call[None]:
    """Yields a page of tasks again and again: when a task of the filter may have changed."""

    def read() -> Call[Any]:
        return task_calls.page(which, order=order, fields=fields, limit=limit, cursor=None)

    # Without the status: a task that gets another one leaves the page.
    pushed: Any = {n: text for n, text in which.items() if n in PUSHED and text is not None}
    feed = Feed(subscription(pushed), clock=patience.clock, chance=chance, supported=is_installed())
    readings = Readings(feed, read, patience, PAGE_PAUSE, poll)
    while True:
        yield Item((yield from readings.next(math.inf)))


class Readings:
    """Reads again whenever a push says that something has changed, but not more often than every
    `pause` seconds; also every 5 s, and every `poll` seconds while there is no connection."""

    def __init__(
        self,
        feed: Feed,
        read: Callable[[], Call[Any]],
        patience: Patience,
        pause: float,
        poll: float,
    ) -> None:
        self._feed = feed
        self._read = read
        self._patience = patience
        self._pause = pause
        self._poll = poll
        self._first = True
        self._may_read_at = self._read_at = patience.clock()

    def next(self, deadline: float) -> Call[Any]:
        while (yield from self._feed.next(min(self._read_at, deadline))) is not None:
            self._read_at = min(self._read_at, self._may_read_at)
        found = yield from _read_again(self._read, self._patience, first=self._first)
        now = self._patience.clock()
        self._first, self._may_read_at = False, now + self._pause
        self._read_at = now + (REREAD if self._feed.connected else self._poll)
        return found


class View:
    """What is known of each task, and so which changes are new."""

    def __init__(self, which: LiveFilter) -> None:
        self.empty = True  # nothing was read
        self._which = which
        self._of_task = "task_id" in which
        self._known: dict[str, LiveChange] = {}  # the longest unchanged first
        self._mark = (
            ""  # the latest change of the last read: a task that is older was left out of it
        )
        # Tasks of the first read. What is pushed later has happened after the subscription, and is
        # passed on even if that read has seen it.
        self._unseen: set[str] = set()

    def pushed(self, items: Sequence[Mapping[str, Any]]) -> list[LiveChange]:
        found = []
        for item in items:
            known = self._known.get(item["task_id"])
            progress = known["progress"] if known and known["attempt"] == item["attempt"] else None
            change: Any = {**item, "progress": progress}
            if known is None or self._is_new(change, known) or self._is_unseen(change, known):
                self._unseen.discard(change["task_id"])
                found.append(self._keep(change))
        return found

    def progressed(self, frame: Mapping[str, Any]) -> list[LiveChange]:
        known = self._known.get(frame["task_id"])
        if known is None or frame["updated_at"] < known["updated_at"]:
            return []
        change: Any = {
            **known,
            "before": known["status"],
            "progress": frame["progress"],
            "updated_at": frame["updated_at"],
        }
        return [self._keep(change)]

    def read(self) -> Call[list[LiveChange]]:
        """Returns what has changed since the last read and was not pushed. The first read of many
        tasks only learns what is there."""
        tasks = yield from self._tasks()
        mark, found = self._mark, []
        for task in reversed(tasks):  # of a list, the oldest first
            known = self._known.get(task["id"])
            change = live_change(task, known)
            if known is None:
                is_new = not self.empty and change["updated_at"] >= mark
            else:
                is_new = self._is_new(change, known)
            if is_new or known is None:
                self._keep(change)
            if self.empty and not self._of_task:
                self._unseen.add(change["task_id"])
            if is_new or (self._of_task and known is None):
                found.append(change)
        self._mark = max([mark, *(task["updated_at"] for task in tasks)])
        self.empty = False
        return found

    def _tasks(self) -> Call[list[Task]]:
        which: Any = self._which
        if self._of_task:
            return [(yield from task_calls.get(which["task_id"]))]
        if "run_id" in which:
            return (yield from self._steps(which["run_id"]))
        fields: Any = {name: text for name, text in which.items() if name != "lane"}
        page = yield from task_calls.page(
            fields, order=None, fields="summary", limit=PAGE, cursor=None
        )
        lanes = which.get("lane")
        return [task for task in page["items"] if lanes is None or task["lane"] in lanes]

    def _steps(self, run_id: str) -> Call[list[Task]]:
        """Returns the tasks of the steps that differ from what is known of them."""
        run = yield from ask("GET", run_path(run_id))
        tasks = []
        for step in reversed(run["steps"]):
            known = self._known.get(step["task_id"])
            state = known and (known["status"], known["attempt"])
            if step["task_id"] is not None and state != (step["status"], step["attempt"]):
                tasks.append((yield from task_calls.get(step["task_id"])))
        return tasks

    def _is_new(self, change: LiveChange, known: LiveChange) -> bool:
        """Of two states of one millisecond and attempt, the one that comes later is taken: a read
        comes after every push that it could contradict."""
        if _age(change) < _age(known):
            return False
        if self._of_task and change["updated_at"] != known["updated_at"]:
            return True
        return (change["status"], change["attempt"]) != (known["status"], known["attempt"])

    def _is_unseen(self, change: LiveChange, known: LiveChange) -> bool:
        return change["task_id"] in self._unseen and _age(change) >= _age(known)

    def _keep(self, change: LiveChange) -> LiveChange:
        self._known.pop(change["task_id"], None)
        self._known[change["task_id"]] = change
        if len(self._known) > KNOWN:
            del self._known[next(iter(self._known))]
        return change


def live_change(task: Task, before: LiveChange | None) -> LiveChange:
    """Returns a task that was read as a change."""
    error = task["error"]
    return {
        "task_id": task["id"],
        "namespace": task["namespace"],
        "name": task["name"],
        "target": target_name(task["target"]),
        "lane": task["lane"],
        "before": before and before["status"],
        "status": task["status"],
        "attempt": task["attempt"],
        "updated_at": task["updated_at"],
        "due_at": task["due_at"],
        "drift_ms": task["drift_ms"],
        "outcome": None,
        "error_type": error and error["type"],
        "schedule_id": task["schedule_id"],
        "run_id": task.get("run_id"),
        "progress": task["progress"],
    }


def is_installed() -> bool:
    """Whether the package is installed that speaks WebSocket."""
    return find_spec("websockets") is not None


def _read_again(read: Callable[[], Call[Any]], patience: Patience, *, first: bool) -> Call[Any]:
    """Retries while Duetime does not answer, except at first."""
    give_up: float | None = None
    while True:
        try:
            return (yield from read())
        except (Unreachable, Throttled) as error:
            if first:
                raise
            if give_up is None:
                give_up = patience.clock() + patience.seconds
                patience.on_silence(error)
            elif patience.clock() >= give_up:
                raise
        yield Pause(SILENT_PAUSE)


def _age(change: LiveChange) -> tuple[str, int]:
    return change["updated_at"], change["attempt"]
