"""Lists of schedules, page by page, each short enough for one answer."""

from dataclasses import replace
from itertools import accumulate
from typing import Any

from pydantic_core import to_json

from lambdas.api.http import FieldError, invalid
from lambdas.api.pages import ANSWER_LIMIT
from lambdas.api.schedules.render import schedule_json
from lambdas.core.schedules.ports import ScheduleListing, ScheduleStore
from lambdas.core.times import Millis

Told = tuple[list[dict[str, Any]], str | None]


def schedule_page(store: ScheduleStore, listing: ScheduleListing, now: Millis) -> Told:
    """A page may be short, so one that is too much for one answer is read again, shorter."""
    items, cursor = _read(store, listing, now)
    sizes = accumulate(len(to_json(item)) for item in items)
    fitting = sum(1 for size in sizes if size <= ANSWER_LIMIT)
    if fitting == len(items):
        return items, cursor
    return _read(store, replace(listing, limit=max(fitting, 1)), now)


def _read(store: ScheduleStore, listing: ScheduleListing, now: Millis) -> Told:
    try:
        page = store.page(listing)
    except ValueError as error:
        raise invalid([FieldError("cursor", str(error))]) from None
    return [schedule_json(schedule, now) for schedule in page.schedules], page.cursor
