"""What the relay hands to the `websocket` function: changes, and who gets which of them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from duetime.core.codec import to_json
from duetime.core.events import StatusChange
from duetime.core.live import frames
from duetime.core.live.changes import change_json, coalesced
from duetime.core.live.connections import Subscription
from duetime.core.task import Progress
from duetime.core.times import Millis
from duetime.core.value import value

# Together: Lambda queues events of at most 256 KB.
PUSH_BYTES = 200_000
PROGRESS_BYTES = 30_000
INDEX_BYTES = 6  # of a number in the event, with its comma


@value(frozen=True, kw_only=True, slots=True)
class Recipient:
    connection: str
    subscription: str
    items: Sequence[int] | None  # which of the items; None: there was no room for all of them


@value(frozen=True, kw_only=True, slots=True)
class Progressed:
    """A running task has reported progress."""

    task_id: str
    namespace: str
    progress: Progress
    at: Millis


class ProgressFrame(NamedTuple):
    connection: str
    subscription: str
    frame: str


@value(frozen=True, kw_only=True, slots=True)
class Push:
    items: Sequence[str]  # rendered changes
    recipients: Sequence[Recipient]
    progress: Sequence[ProgressFrame] = ()  # frames that may be dropped

    def event(self) -> dict[str, Any]:
        named = [[r.connection, r.subscription, r.items] for r in self.recipients]
        return {"push": {"items": self.items, "recipients": named, "progress": self.progress}}


def push_of_event(event: Mapping[str, Any]) -> Push:
    recipients = [
        Recipient(connection=connection, subscription=subscription, items=items)
        for connection, subscription, items in event["push"]["recipients"]
    ]
    progress = [ProgressFrame(*given) for given in event["push"]["progress"]]
    return Push(items=event["push"]["items"], recipients=recipients, progress=progress)


def push_of(
    changes: Sequence[StatusChange],
    subscriptions: Sequence[Subscription],
    progressed: Sequence[Progressed] = (),
    *,
    limit: int = PUSH_BYTES,
) -> Push:
    """Returns the changes that any subscription wants. If they do not fit into `limit` bytes,
    the subscriptions that come last get a reset instead: every recipient fits without items."""
    latest = coalesced(changes)
    matched = [(sub, _wanted(sub, latest)) for sub in subscriptions]
    wanted = [(sub, numbers) for sub, numbers in matched if numbers]
    room = limit - sum(_bare_size(sub) for sub, _ in wanted)
    items: list[str] = []
    placed: dict[int, int] = {}  # a change → its place among the items
    recipients: list[Recipient] = []
    for sub, numbers in wanted:
        new = {n: change_json(latest[n]) for n in numbers if n not in placed}
        size = sum(_size(item) for item in new.values()) + INDEX_BYTES * len(numbers)
        fits = size <= room
        if fits:
            room -= size
            placed |= {n: len(items) + place for place, n in enumerate(new)}
            items += new.values()
        kept = [placed[n] for n in numbers] if fits else None
        recipients.append(Recipient(connection=sub.connection, subscription=sub.id, items=kept))
    named = {(recipient.connection, recipient.subscription) for recipient in recipients}
    others = [sub for sub in subscriptions if (sub.connection, sub.id) not in named]
    return Push(items=items, recipients=recipients, progress=_frames_of(progressed, others))


def _frames_of(
    progressed: Sequence[Progressed], subscriptions: Sequence[Subscription]
) -> list[ProgressFrame]:
    """Returns the latest progress for those who follow its task, as far as there is room: the next
    report replaces it. Who gets a change needs no report beside it."""
    latest = {report.task_id: report for report in progressed}
    found: list[ProgressFrame] = []
    room = PROGRESS_BYTES
    for made in _reports(latest, subscriptions) if latest else ():
        room -= _size(made)
        if room < 0:
            break
        found.append(made)
    return found


def _reports(
    latest: Mapping[str, Progressed], subscriptions: Sequence[Subscription]
) -> Iterator[ProgressFrame]:
    for sub in subscriptions:
        for task_id in sub.filter.task_ids & latest.keys():
            report = latest[task_id]
            if sub.namespaces is None or report.namespace in sub.namespaces:
                frame = frames.progress(sub.id, task_id, report.progress, report.at)
                yield ProgressFrame(sub.connection, sub.id, frame)


def _wanted(sub: Subscription, latest: Sequence[StatusChange]) -> list[int]:
    wants = sub.filter
    return [n for n, change in enumerate(latest) if wants.wants_in(sub.namespaces, change)]


def _bare_size(sub: Subscription) -> int:
    return _size([sub.connection, sub.id, None]) + 1


def _size(part: Any) -> int:
    return len(to_json(part).encode()) + 1  # and a comma
