"""/v1/stats: what was counted, minute by minute, and how far behind the roles are."""

from collections.abc import Callable, Mapping
from typing import Any

from duetime.api.etags import with_etag
from duetime.api.http import FieldError, Request, Response, Router, invalid
from duetime.api.query import Query
from duetime.core.durations import parse_duration
from duetime.core.lanes import Lane, Queue
from duetime.core.ports import Clock
from duetime.core.stats.counts import Counts, LaneCounts, total
from duetime.core.stats.ports import StatsStore
from duetime.core.stats.series import by_lane, in_steps, summary
from duetime.core.times import DAY, HOUR, MINUTE, SECOND, Millis, rfc3339, seconds
from duetime.core.value import value

MAX_WINDOW: Millis = 7 * DAY
MAX_POINTS = 1_500
MAX_AGE = 2  # seconds that an answer may be shown again


@value(frozen=True, kw_only=True, slots=True)
class Vitals:
    """How far behind the roles are, in seconds. None: this process does not know.

    Attributes:
        tick_age_seconds: Since the last tick.
        cursor_lag_seconds: Of the scanner's oldest cursor behind its normal position.
        held_back: Overdue tasks that the last tick left for the next one.
        relay_age_seconds: The age of the change that the relay handles now; 0 if it is idle."""

    tick_age_seconds: float | None = None
    cursor_lag_seconds: float | None = None
    held_back: int | None = None
    relay_age_seconds: float | None = None


ReadVitals = Callable[[], Vitals]


@value(frozen=True, kw_only=True, slots=True)
class Window:
    """Which counts to show: those from `since` to now, of one lane or all, in steps."""

    since: Millis
    until: Millis
    step: Millis
    lane: str | None

    def shows(self, lane: str) -> bool:
        return self.lane in (None, lane)


@value(frozen=True, kw_only=True, slots=True)
class StatsRoute:
    """Without a store, the answer names where the metrics are: at `url`."""

    store: StatsStore | None
    clock: Clock
    vitals: ReadVitals
    url: str | None = None

    def add_to(self, router: Router) -> None:
        router.add("GET", "/v1/stats", self.get)

    def get(self, request: Request, _: Mapping[str, str]) -> Response:
        window = read_window(Query(request), self.clock.now())
        counted = self._table(self.store, window) if self.store else self._elsewhere(window)
        vitals = self.vitals()
        body = counted | {name: getattr(vitals, name) for name in Vitals.__slots__}
        return with_etag(request, Response(status=200, body=body), max_age=MAX_AGE)

    def _table(self, store: StatsStore, window: Window) -> dict[str, Any]:
        read = store.minutes if window.step % HOUR else store.hours
        page = read(window.since, window.until + 1)
        rows = [row for row in page.rows if window.shows(row.lane)]
        lanes = by_lane(rows)
        return {
            "source": "table",
            "from": rfc3339(page.since),
            **_rest_of(window),
            "complete": page.since <= window.since,
            "series": [_point(row) for row in in_steps(rows, window.step)],
            "lanes": [
                {"lane": lane, **summary(lanes.get(lane) or Counts())}
                for lane in ([window.lane] if window.lane else dict.fromkeys((*Lane, *lanes)))
            ],
            "total": summary(total(lanes.values())),
        }

    def _elsewhere(self, window: Window) -> dict[str, Any]:
        return {
            "source": "emf",
            "url": self.url,
            "from": rfc3339(window.since),
            **_rest_of(window),
            "complete": False,
            "series": [],
            "lanes": [],
            "total": None,
        }


def _rest_of(window: Window) -> dict[str, Any]:
    return {
        "to": rfc3339(window.until),
        "step": window.step // SECOND,
        "approximate": True,
    }


def _point(row: LaneCounts) -> dict[str, Any]:
    return {"at": rfc3339(row.start), "lane": row.lane, **summary(row.counts)}


def read_window(query: Query, now: Millis) -> Window:
    """Reads the parameters. Steps of whole hours are read by the hour."""
    length = _length(query.text("window") or "1h")
    step = query.number("step", MINUTE // SECOND) * SECOND
    lane = _lane(query.text("lane"))
    query.done()
    if not step or step % MINUTE or step > MAX_WINDOW:
        most = MAX_WINDOW // SECOND
        raise invalid([FieldError("step", f"must be a multiple of 60 seconds, up to {most}")])
    if length > step * MAX_POINTS:
        least = -(-length // MAX_POINTS // MINUTE) * MINUTE // SECOND
        message = f"makes over {MAX_POINTS:,} points; for this window use at least {least}"
        raise invalid([FieldError("step", message)])
    unit = MINUTE if step % HOUR else HOUR
    return Window(since=(now - length) // unit * unit, until=now, step=step, lane=lane)


def _lane(given: str | None) -> str | None:
    try:
        return None if given is None else str(Queue.parse(given))
    except ValueError:
        message = f"must be one of {', '.join(Lane)}, or of a pool: batch/high"
        raise invalid([FieldError("lane", message)]) from None


def _length(text: str) -> Millis:
    try:
        length = seconds(parse_duration(text))
    except ValueError as error:
        raise invalid([FieldError("window", str(error))]) from None
    if not MINUTE <= length <= MAX_WINDOW:
        raise invalid([FieldError("window", "must be from 1m to 7d")])
    return length
