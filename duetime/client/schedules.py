"""Recurring schedules: create them, change them, read their future and past fire times."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Unpack
from uuid import UUID

from duetime.client import schedule_calls as calls
from duetime.client.schedule_calls import Created
from duetime.client.schedule_types import (
    Backfill,
    Expected,
    LedgerPage,
    Overlap,
    RuleFields,
    Schedule,
    ScheduleFields,
    SchedulePage,
    SyncPlan,
    Upcoming,
)
from duetime.client.transport import Transport
from duetime.client.types import Moment, Submitted, Task


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
        return self._transport.run(calls.create(fields, idempotency_key))

    def get(self, schedule_id: str) -> Schedule:
        return self._transport.run(calls.get(schedule_id))

    def get_by_name(self, name: str, *, namespace: str | None = None) -> Schedule:
        """Returns the schedule that was put by this name, or the only one that has it."""
        return self._transport.run(calls.get_by_name(name, namespace))

    def put(
        self, name: str, /, *, namespace: str | None = None, **fields: Unpack[ScheduleFields]
    ) -> Schedule:
        """Creates a schedule, or replaces the one that was put by this name. Fields that are the
        same change nothing, so an application can put its schedules at every start."""
        return self._transport.run(calls.put(name, namespace, fields))

    def delete_by_name(self, name: str, *, namespace: str | None = None) -> None:
        """Deletes the schedule that `get_by_name` returns."""
        self._transport.run(calls.delete_by_name(name, namespace))

    def sync(
        self,
        schedules: Sequence[Mapping[str, Any]],
        *,
        app: str,
        generation: int | None = None,
        prune: bool = False,
        allow_empty: bool = False,
        retire: bool = False,
        dry_run: bool = False,
    ) -> SyncPlan:
        """Stores the schedules that an app declares in code, and returns what it did.

        Args:
            schedules: `duetime.handlers.manifest.read("handlers").schedules`, for example.
            app: The owner of the schedules. Those of the app that are not given are paused.
            generation: The number of the deployment; by default a new one is taken.
            prune: Delete what is not given, instead of pausing it.
            allow_empty: Allow a sync without schedules, which pauses or deletes all of the app.
            retire: Pause or delete all schedules of the app, which must have synced before;
                without `schedules`.
            dry_run: Store nothing, and return what a sync would do."""
        body = {"app": app, "generation": generation, "schedules": list(schedules)}
        flags = {"prune": prune, "allow_empty": allow_empty, "retire": retire, "dry_run": dry_run}
        return self._transport.run(calls.sync({**body, **flags}))

    def generation(self, app: str) -> int:
        """Takes the next generation of an app. A sync with a lower one is refused once a sync with
        this one has begun."""
        return self._transport.run(calls.generation(app))

    def detach(self, schedule_id: str) -> Schedule:
        """Makes an ordinary schedule of one that is declared in code: it can be changed and
        deleted, and no sync changes it any more."""
        return self._transport.run(calls.detach(schedule_id))

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
        return self._transport.run(calls.page(query))

    def list(
        self, *, namespace: str | None = None, status: str | None = None
    ) -> Iterator[Schedule]:
        """Yields every schedule that matches; reads page by page."""
        return self._transport.iterate(calls.every({"namespace": namespace, "status": status}))

    def update(self, schedule_id: str, /, **fields: Unpack[ScheduleFields]) -> Schedule:
        """Replaces the fields of a schedule; a field that is left out gets its default. To change a
        few fields, start from `fields_of` the current schedule."""
        return self._transport.run(calls.update(schedule_id, fields))

    def delete(self, schedule_id: str) -> None:
        """Deletes a schedule. Runs that have started go on; the others are cancelled."""
        self._transport.run(calls.delete(schedule_id))

    def pause(self, schedule_id: str, note: str | None = None) -> Schedule:
        """Stops a schedule from firing until it is resumed. A run that has started goes on."""
        return self._transport.run(calls.set_status(schedule_id, "pause", note))

    def resume(self, schedule_id: str, note: str | None = None) -> Schedule:
        """Lets a schedule fire again, from now on. To run what it missed, use `backfill`."""
        return self._transport.run(calls.set_status(schedule_id, "resume", note))

    def trigger(self, schedule_id: str, *, idempotency_key: str | UUID | None = None) -> Task:
        """Runs the task of a schedule once, now, outside its rule."""
        return self.trigger_once(schedule_id, idempotency_key=idempotency_key).task

    def trigger_once(
        self, schedule_id: str, *, idempotency_key: str | UUID | None = None
    ) -> Submitted:
        """Like trigger, and also returns whether the run was stored before."""
        return self._transport.run(calls.trigger(schedule_id, idempotency_key))

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
        return self._transport.run(calls.backfill(schedule_id, body))

    def upcoming(self, schedule_id: str, *, count: int | None = None) -> Upcoming:
        """Returns the next fire times, with notes on daylight saving."""
        return self._transport.run(calls.upcoming(schedule_id, count))

    def preview(
        self,
        *,
        after: Moment | None = None,
        count: int | None = None,
        **rules: Unpack[RuleFields],
    ) -> Upcoming:
        """Returns when a schedule with these rules would fire. Nothing is stored."""
        return self._transport.run(calls.preview({**rules, "after": after, "count": count}))

    def ledger_page(
        self, schedule_id: str, *, limit: int | None = None, cursor: str | None = None
    ) -> LedgerPage:
        """Returns one page of the ledger, latest fire time first."""
        return self._transport.run(calls.ledger_page(schedule_id, limit, cursor))

    def ledger(self, schedule_id: str) -> Iterator[Expected]:
        """Yields what became of every fire time, latest first; reads page by page."""
        return self._transport.iterate(calls.ledger(schedule_id))
