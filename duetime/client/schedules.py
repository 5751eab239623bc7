"""Recurring schedules: make them, change them, look ahead and look back."""

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any, NamedTuple, Unpack, cast
from uuid import UUID

from duetime.client.schedule_shapes import (
    Backfill,
    Expected,
    LedgerPage,
    Overlap,
    RuleFields,
    Schedule,
    ScheduleFields,
    SchedulePage,
    Upcoming,
)
from duetime.client.shapes import Moment, Submitted, Task
from duetime.client.wire import PAGE, Wire, schedule_path

ALL = "/v1/schedules"


class Created(NamedTuple):
    schedule: Schedule
    replayed: bool  # its idempotency key had been used: the schedule was there before


class Schedules:
    """Newest first.

    >>> report = client.schedules.create(
    ...     name="daily-report",
    ...     rule={"type": "cron", "expression": "0 9 * * 1-5", "timezone": "Europe/Berlin"},
    ...     task={"target": {"type": "python", "handler": "reports.daily"}},
    ... )
    >>> client.schedules.upcoming(report["id"], count=3)["fire_times"]
    """

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def create(
        self, /, *, idempotency_key: str | UUID | None = None, **fields: Unpack[ScheduleFields]
    ) -> Schedule:
        """The schedule as stored; with a key, perhaps the one stored before."""
        return self.create_once(idempotency_key=idempotency_key, **fields).schedule

    def create_once(
        self, /, *, idempotency_key: str | UUID | None = None, **fields: Unpack[ScheduleFields]
    ) -> Created:
        """Like create, and tells whether the schedule was there before."""
        status, made = self._wire.answer("POST", ALL, body=fields, key=idempotency_key)
        return Created(made, replayed=status == HTTPStatus.OK)

    def get(self, schedule_id: str) -> Schedule:
        return cast(Schedule, self._wire.call("GET", schedule_path(schedule_id)))

    def page(
        self,
        *,
        namespace: str | None = None,
        status: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> SchedulePage:
        """One page."""
        query = {"namespace": namespace, "status": status, "limit": limit, "cursor": cursor}
        return cast(SchedulePage, self._wire.call("GET", ALL, query=query))

    def list(
        self, *, namespace: str | None = None, status: str | None = None
    ) -> Iterator[Schedule]:
        """Every schedule that matches, read page by page."""
        cursor = None
        while True:
            page = self.page(namespace=namespace, status=status, limit=PAGE, cursor=cursor)
            yield from page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def update(self, schedule_id: str, /, **fields: Unpack[ScheduleFields]) -> Schedule:
        """From now on by these fields alone: what is left out is as by default. To change a few,
        begin with `fields_of` the schedule as it stands."""
        return cast(Schedule, self._wire.call("PUT", schedule_path(schedule_id), body=fields))

    def delete(self, schedule_id: str) -> None:
        """Runs that have started go on; those that have not are cancelled."""
        self._wire.call("DELETE", schedule_path(schedule_id))

    def pause(self, schedule_id: str, note: str | None = None) -> Schedule:
        return self._set(schedule_id, "pause", note)

    def resume(self, schedule_id: str, note: str | None = None) -> Schedule:
        """What it missed meanwhile is not made up for: that is what `backfill` is for."""
        return self._set(schedule_id, "resume", note)

    def trigger(self, schedule_id: str, *, idempotency_key: str | UUID | None = None) -> Task:
        """One run now, outside the rule."""
        return self.trigger_once(schedule_id, idempotency_key=idempotency_key).task

    def trigger_once(
        self, schedule_id: str, *, idempotency_key: str | UUID | None = None
    ) -> Submitted:
        """Like trigger, and tells whether the run was there before."""
        path = f"{schedule_path(schedule_id)}/trigger"
        status, task = self._wire.answer("POST", path, key=idempotency_key)
        return Submitted(task, replayed=status == HTTPStatus.OK)

    def backfill(
        self,
        schedule_id: str,
        *,
        start: Moment,
        until: Moment,
        overlap: Overlap | None = None,
        per_minute: float | None = None,
    ) -> Backfill:
        """Run the fire times from `start` to before `until`, as if they were now, at a pace."""
        body = {"from": start, "to": until, "overlap": overlap, "per_minute": per_minute}
        path = f"{schedule_path(schedule_id)}/backfill"
        return cast(Backfill, self._wire.call("POST", path, body=_given(body)))

    def upcoming(self, schedule_id: str, *, count: int | None = None) -> Upcoming:
        path = f"{schedule_path(schedule_id)}/upcoming"
        return cast(Upcoming, self._wire.call("GET", path, query={"count": count}))

    def preview(
        self,
        *,
        after: Moment | None = None,
        count: int | None = None,
        **rules: Unpack[RuleFields],
    ) -> Upcoming:
        """When a schedule with these rules would fire; nothing is stored."""
        body = {**rules, "after": after, "count": count}
        return cast(Upcoming, self._wire.call("POST", f"{ALL}/preview", body=_given(body)))

    def ledger_page(
        self, schedule_id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> LedgerPage:
        """One page of what became of every fire time, the latest first."""
        query = {"limit": limit, "cursor": cursor}
        path = f"{schedule_path(schedule_id)}/ledger"
        return cast(LedgerPage, self._wire.call("GET", path, query=query))

    def ledger(self, schedule_id: str) -> Iterator[Expected]:
        """What became of every fire time, read page by page."""
        cursor = None
        while True:
            page = self.ledger_page(schedule_id, limit=PAGE, cursor=cursor)
            yield from page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def _set(self, schedule_id: str, verb: str, note: str | None) -> Schedule:
        path = f"{schedule_path(schedule_id)}/{verb}"
        return cast(Schedule, self._wire.call("POST", path, body=_given({"note": note})))


RETURNED_ONLY = Schedule.__annotations__.keys() - ScheduleFields.__annotations__.keys()


def fields_of(schedule: Schedule) -> ScheduleFields:
    """What was submitted, of a schedule as returned: to be changed, or to be submitted again."""
    kept = {name: value for name, value in schedule.items() if name not in RETURNED_ONLY}
    return cast(ScheduleFields, kept)


def _given(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
