"""What the relay hands to the `websocket` function: changes, and who gets which of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from duetime.core.codec import to_json
from duetime.core.events import StatusChange
from duetime.core.live.changes import change_json, coalesced
from duetime.core.live.connections import Subscription
from duetime.core.value import value

PUSH_BYTES = 200_000  # Lambda queues events of at most 256 KB
INDEX_BYTES = 6  # of a number in the event, with its comma


@value(frozen=True, kw_only=True, slots=True)
class Recipient:
    connection: str
    subscription: str
    items: Sequence[int] | None  # which of the items; None: there was no room for all of them


@value(frozen=True, kw_only=True, slots=True)
class Push:
    items: Sequence[str]  # rendered changes
    recipients: Sequence[Recipient]

    def event(self) -> dict[str, Any]:
        named = [[r.connection, r.subscription, r.items] for r in self.recipients]
        return {"push": {"items": self.items, "recipients": named}}


def push_of_event(event: Mapping[str, Any]) -> Push:
    recipients = [
        Recipient(connection=connection, subscription=subscription, items=items)
        for connection, subscription, items in event["push"]["recipients"]
    ]
    return Push(items=event["push"]["items"], recipients=recipients)


def push_of(
    changes: Sequence[StatusChange],
    subscriptions: Sequence[Subscription],
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
    return Push(items=items, recipients=recipients)


def _wanted(sub: Subscription, latest: Sequence[StatusChange]) -> list[int]:
    wants = sub.filter
    return [n for n, change in enumerate(latest) if wants.wants_in(sub.namespaces, change)]


def _bare_size(sub: Subscription) -> int:
    return _size([sub.connection, sub.id, None]) + 1


def _size(part: Any) -> int:
    return len(to_json(part).encode()) + 1  # and a comma
