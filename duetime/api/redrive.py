"""redrive: many dead tasks get another life, named one by one or picked by a filter."""

from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from typing import Any

from lambdas.api.http import shown
from lambdas.api.pages import read_page
from lambdas.api.revival import revive_all
from lambdas.core.change import Answer, Applied, Refused, Unreadable
from lambdas.core.errors import Corrupt, Unavailable
from lambdas.core.ids import is_id
from lambdas.core.lifecycle import Status
from lambdas.core.ports import DeadListing, Page, Ports
from lambdas.core.task import Task
from lambdas.core.values import value

AT_ONCE = 100  # tasks that are read, written and sent together
MOST_PAGES = 50  # of the store, in one call: a filter may let few through

NOT_FOUND = "not found"
UNANSWERED = "the store did not answer; redrive it again by its id"
UNREADABLE = "what is stored cannot be read"
AGAIN = "somebody else redrove it, and it died again"


@value()
class Tally:
    """What a redrive has come to."""

    redriven: int = 0
    reasons: dict[str, str] = field(default_factory=dict)  # id → why it was not redriven
    cursor: str | None = None

    @property
    def met(self) -> int:
        return self.redriven + len(self.reasons)

    def json(self, *, dry_run: bool) -> dict[str, Any]:
        left = [{"id": shown(i), "reason": reason} for i, reason in self.reasons.items()]
        return {
            "redriven": self.redriven,
            "dry_run": dry_run,
            "not_redriven": left,
            "next_cursor": self.cursor,
        }


@value(frozen=True, kw_only=True, slots=True)
class Redrive:
    ports: Ports
    dry_run: bool

    def named(self, ids: Iterable[str]) -> Tally:
        tally = Tally()
        wanted = list(dict.fromkeys(ids))
        for start in range(0, len(wanted), AT_ONCE):
            found = self._look_up(wanted[start : start + AT_ONCE])
            dead = [task for task in found.values() if not isinstance(task, str)]
            tally.reasons |= {i: reason for i, reason in found.items() if isinstance(reason, str)}
            self._revive(dead, tally)
        return tally

    def matching(self, listing: DeadListing, limit: int) -> Tally:
        """Newest first: one that dies again meanwhile stands above where we read, and is not met
        twice. What was done before the store fell silent is told, with where to go on."""
        tally = Tally(cursor=listing.cursor)
        for number in range(MOST_PAGES):
            try:
                page = self._page(listing, tally, limit)
            except Unavailable:
                if number == 0:
                    raise
                break
            self._revive(page.tasks, tally)
            tally.cursor = page.cursor
            if page.cursor is None or tally.met >= limit:
                break
        return tally

    def _page(self, listing: DeadListing, tally: Tally, limit: int) -> Page:
        size = min(AT_ONCE, limit - tally.met)
        return read_page(self.ports.store.dead, replace(listing, limit=size, cursor=tally.cursor))

    def _look_up(self, ids: Sequence[str]) -> dict[str, Task | str]:
        """Each dead task, or why there is none."""
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
        alone = [self._read([task_id]) for task_id in ids]  # it must not spoil the rest
        return {task_id: task for one in alone for task_id, task in one.items()}

    def _revive(self, tasks: Sequence[Task], tally: Tally) -> None:
        if self.dry_run:
            tally.redriven += len(tasks)
            return
        for task, answer in zip(tasks, revive_all(self.ports, tasks, tally.redriven), strict=True):
            if isinstance(answer, Applied):
                tally.redriven += 1
            else:
                tally.reasons[task.id] = _reason(answer)


def _dead(found: Task | str) -> Task | str:
    if isinstance(found, str) or found.status is Status.DEAD:
        return found
    return f"it is {found.status}"


def _reason(answer: Answer) -> str:
    match answer:
        case Refused(None):
            return NOT_FOUND
        case Refused(Task() as standing):
            return AGAIN if standing.status is Status.DEAD else f"it is {standing.status}"
        case Unreadable():
            return UNREADABLE
        case _:
            return UNANSWERED
