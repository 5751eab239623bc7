"""Recurring schedules: create them, change them, read their future and past fire times."""

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any, NamedTuple, Unpack, cast
from uuid import UUID

from duetime.client.schedule_types import (
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
from duetime.client.transport import Transport, page_at, read_items, schedule_path
from duetime.client.types import Moment, Submitted, Task

SCHEDULES = "/v1/schedules"


class Created(NamedTuple):
    schedule: Schedule
    replayed: bool  # the idempotency key was used before, and this is the schedule stored then


class Schedules:
    """Newest first.

    >>> report = client.schedules.create(
    ...     name="daily-report",
    ...     rule={"type": "cron", "expression": "0 9 * * 1-5", "timezone": "Europe/Berlin"},
    ...     task={"target": {"type": "python", "handler": "reports.daily"}},
    ... )
    >>> client.schedules.upcoming(report["id"], count=3)["fire_times"]
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(
        self, /, *, idempotency_key: str | UUID | None = None, **fields: Unpack[ScheduleFields]
    ) -> Schedule:
        """Creates a schedule and returns it as stored.

        With an idempotency key that was used before, returns the schedule stored then."""
        return self.create_once(idempotency_key=idempotency_key, **fields).schedule

    def create_once(
        self, /, *, idempotency_key: str | UUID | None = None, **fields: Unpack[ScheduleFields]
    ) -> Created:
        """Like create, and also returns whether the schedule was stored before."""
        status, made = self._transport.request("POST", SCHEDULES, body=fields, key=idempotency_key)
        return Created(made, replayed=status == HTTPStatus.OK)

    def get(self, schedule_id: str) -> Schedule:
        return cast(Schedule, self._transport.call("GET", schedule_path(schedule_id)))

    def page(
        self,
        *,
        namespace: str | None = None,
        status: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> SchedulePage:
        """Returns one page."""
        query = {"namespace": namespace, "status": status, "limit": limit, "cursor": cursor}
        return cast(SchedulePage, self._transport.call("GET", SCHEDULES, query=query))

    def list(
        self, *, namespace: str | None = None, status: str | None = None
    ) -> Iterator[Schedule]:
        """Yields every schedule that matches; reads page by page."""
        return read_items(lambda at: self.page(namespace=namespace, status=status, **page_at(at)))

    def update(self, schedule_id: str, /, **fields: Unpack[ScheduleFields]) -> Schedule:
        """Replaces the fields of a schedule; a field that is left out gets its default. To change a
        few fields, start from `fields_of` the current schedule."""
        return cast(Schedule, self._transport.call("PUT", schedule_path(schedule_id), body=fields))

    def delete(self, schedule_id: str) -> None:
        """Deletes a schedule. Runs that have started go on; the others are cancelled."""
        self._transport.call("DELETE", schedule_path(schedule_id))

    def pause(self, schedule_id: str, note: str | None = None) -> Schedule:
        """Stops a schedule from firing until it is resumed. A run that has started goes on."""
        return self._set(schedule_id, "pause", note)

    def resume(self, schedule_id: str, note: str | None = None) -> Schedule:
        """Lets a schedule fire again, from now on. To run what it missed, use `backfill`."""
        return self._set(schedule_id, "resume", note)

    def trigger(self, schedule_id: str, *, idempotency_key: str | UUID | None = None) -> Task:
        """Runs the task of a schedule once, now, outside its rule."""
        return self.trigger_once(schedule_id, idempotency_key=idempotency_key).task

    def trigger_once(
        self, schedule_id: str, *, idempotency_key: str | UUID | None = None
    ) -> Submitted:
        """Like trigger, and also returns whether the run was stored before."""
        path = f"{schedule_path(schedule_id)}/trigger"
        status, task = self._transport.request("POST", path, key=idempotency_key)
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
        """Runs the fire times from `start` to before `until`, at `per_minute` a minute."""
        body = {"from": start, "to": until, "overlap": overlap, "per_minute": per_minute}
        path = f"{schedule_path(schedule_id)}/backfill"
        return cast(Backfill, self._transport.call("POST", path, body=_given(body)))

    def upcoming(self, schedule_id: str, *, count: int | None = None) -> Upcoming:
        """Returns the next fire times, with notes on daylight saving."""
        path = f"{schedule_path(schedule_id)}/upcoming"
        return cast(Upcoming, self._transport.call("GET", path, query={"count": count}))

    def preview(
        self,
        *,
        after: Moment | None = None,
        count: int | None = None,
        **rules: Unpack[RuleFields],
    ) -> Upcoming:
        """Returns when a schedule with these rules would fire. Nothing is stored."""
        body = {**rules, "after": after, "count": count}
        path = f"{SCHEDULES}/preview"
        return cast(Upcoming, self._transport.call("POST", path, body=_given(body)))

    def ledger_page(
        self, schedule_id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> LedgerPage:
        """Returns one page of the ledger, latest fire time first."""
        query = {"limit": limit, "cursor": cursor}
        path = f"{schedule_path(schedule_id)}/ledger"
        return cast(LedgerPage, self._transport.call("GET", path, query=query))

    def ledger(self, schedule_id: str) -> Iterator[Expected]:
        """Yields what became of every fire time, latest first; reads page by page."""
        return read_items(lambda at: self.ledger_page(schedule_id, **page_at(at)))

    def _set(self, schedule_id: str, verb: str, note: str | None) -> Schedule:
        path = f"{schedule_path(schedule_id)}/{verb}"
        return cast(Schedule, self._transport.call("POST", path, body=_given({"note": note})))


RETURNED_ONLY = Schedule.__annotations__.keys() - ScheduleFields.__annotations__.keys()


def fields_of(schedule: Schedule) -> ScheduleFields:
    """Returns the fields of a schedule that can be submitted, to change it or to copy it."""
    kept = {name: value for name, value in schedule.items() if name not in RETURNED_ONLY}
    return cast(ScheduleFields, kept)


def _given(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
