"""redrive: run dead tasks again, selected by id or by a filter."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from duetime.api.http import Problem, excerpt
from duetime.api.paging import read_page
from duetime.core.change import Answer, Applied, Refused, Unreadable
from duetime.core.errors import Corrupt, Unavailable
from duetime.core.ids import is_id
from duetime.core.lifecycle import Status
from duetime.core.listings import DeadListing, Page
from duetime.core.ports import Ports
from duetime.core.steps.revive import revivable, revive
from duetime.core.task import Task
from duetime.core.times import Millis
from duetime.core.value import value
from duetime.engine.enqueue import try_enqueue

SPACING: Millis = 10  # between the due times of two tasks of one request: a hundred a second
BATCH = 100  # tasks that are read, written and enqueued together
MAX_PAGES = 50  # of the store, in one call: a filter may match few tasks of a page

NOT_FOUND = "not found"
UNANSWERED = "the store did not answer; redrive it again by its id"
UNREADABLE = "the stored task cannot be read"
DIED_AGAIN = "another request redrove it, and it died again"
SUPERSEDED = "a newer task has taken its unique key; submit the work again as a new task"

_SUBMIT_AGAIN = "It is final; submit the work again as a new task."
_WILL_RUN = "It will run when it is due."
_ADVICE: Mapping[Status, str] = {
    Status.PENDING: _WILL_RUN,
    Status.ENQUEUED: _WILL_RUN,
    Status.RETRYING: _WILL_RUN,
    Status.WAITING: "It will run when its earlier steps have ended.",
    Status.RUNNING: "Wait for its end, or cancel it.",
    Status.SUCCEEDED: _SUBMIT_AGAIN,
    Status.CANCELLED: _SUBMIT_AGAIN,
    Status.EXPIRED: _SUBMIT_AGAIN,
    Status.DEAD: "Another request has just retried it, and it died again: look at its error.",
}


def revive_all(ports: Ports, tasks: Sequence[Task], before: int = 0) -> list[Answer]:
    """Returns one answer for each task. Of two requests that revive the same task, one is Refused,
    so it is revived once. The due times are spaced, after the `before` tasks that the same request
    revived earlier."""
    if not tasks:
        return []
    now = ports.clock.now()
    changes = [
        revive(ports.wake_policy, task, now=now, draw=ports.chance.draw(), delay=number * SPACING)
        for number, task in enumerate(tasks, start=before)
    ]
    answers = ports.store.apply(changes)
    try_enqueue(ports, [answer.stored for answer in answers if isinstance(answer, Applied)])
    return answers


def not_revivable(task: Task) -> Problem:
    only = "" if task.status is Status.DEAD else " and only a DEAD task can be retried"
    detail = f"Task {task.id} is {task.status}{only}. {_ADVICE[task.status]}"
    if _is_superseded(task):
        detail = f"Task {task.id} is {task.status}, and {SUPERSEDED}."
    return Problem(409, "state-conflict", "The task cannot be retried", detail)


@value()
class Tally:
    """The result of a redrive so far."""

    redriven: int = 0
    reasons: dict[str, str] = field(default_factory=dict)  # id → why it was not redriven
    cursor: str | None = None

    @property
    def seen(self) -> int:
        return self.redriven + len(self.reasons)

    def json(self, *, dry_run: bool) -> dict[str, Any]:
        not_redriven = [{"id": excerpt(i), "reason": reason} for i, reason in self.reasons.items()]
        return {
            "redriven": self.redriven,
            "dry_run": dry_run,
            "not_redriven": not_redriven,
            "next_cursor": self.cursor,
        }


@value(frozen=True, kw_only=True, slots=True)
class Redrive:
    ports: Ports
    dry_run: bool

    def named(self, ids: Iterable[str]) -> Tally:
        tally = Tally()
        wanted = list(dict.fromkeys(ids))
        for start in range(0, len(wanted), BATCH):
            found = self._look_up(wanted[start : start + BATCH])
            dead = [task for task in found.values() if not isinstance(task, str)]
            tally.reasons |= {i: reason for i, reason in found.items() if isinstance(reason, str)}
            self._revive(dead, tally)
        return tally

    def matching(self, listing: DeadListing, limit: int) -> Tally:
        """Reads newest first: a task that dies again meanwhile is above the cursor, so it is not
        redriven twice. If the store stops answering after the first page, returns what was done
        and the cursor to continue from."""
        tally = Tally(cursor=listing.cursor)
        for number in range(MAX_PAGES):
            try:
                page = self._page(listing, tally, limit)
            except Unavailable:
                if number == 0:
                    raise
                break
            self._revive(page.tasks, tally)
            tally.cursor = page.cursor
            if page.cursor is None or tally.seen >= limit:
                break
        return tally

    def _page(self, listing: DeadListing, tally: Tally, limit: int) -> Page:
        size = min(BATCH, limit - tally.seen)
        return read_page(self.ports.store.dead, replace(listing, limit=size, cursor=tally.cursor))

    def _look_up(self, ids: Sequence[str]) -> dict[str, Task | str]:
        """Returns each dead task or, in its place, the reason why it cannot be redriven."""
        found = self._read([task_id for task_id in ids if is_id(task_id)])
        return {task_id: _dead(found.get(task_id, NOT_FOUND)) for task_id in ids}

    def _read(self, ids: Sequence[str]) -> dict[str, Task | str]:
        try:
            return dict(self.ports.store.get(ids))
        except Unavailable:
            return dict.fromkeys(ids, UNANSWERED)
        except Corrupt:
            if len(ids) == 1:
                return {ids[0]: UNREADABLE}
        # One unreadable task must not fail the others.
        alone = [self._read([task_id]) for task_id in ids]
        return {task_id: task for one in alone for task_id, task in one.items()}

    def _revive(self, found: Sequence[Task], tally: Tally) -> None:
        tasks = [task for task in found if revivable(task)]
        tally.reasons |= {task.id: SUPERSEDED for task in found if not revivable(task)}
        if self.dry_run:
            tally.redriven += len(tasks)
            return
        for task, answer in zip(tasks, revive_all(self.ports, tasks, tally.redriven), strict=True):
            if isinstance(answer, Applied):
                tally.redriven += 1
            else:
                tally.reasons[task.id] = _reason(answer)


def _dead(found: Task | str) -> Task | str:
    if isinstance(found, str) or revivable(found):
        return found
    return SUPERSEDED if _is_superseded(found) else f"it is {found.status}"


def _is_superseded(task: Task) -> bool:
    return task.status is Status.DEAD and not revivable(task)


def _reason(answer: Answer) -> str:
    match answer:
        case Refused(None):
            return NOT_FOUND
        case Refused(Task() as stored) if _is_superseded(stored):
            return SUPERSEDED
        case Refused(Task() as stored):
            return DIED_AGAIN if stored.status is Status.DEAD else f"it is {stored.status}"
        case Unreadable():
            return UNREADABLE
        case _:
            return UNANSWERED
