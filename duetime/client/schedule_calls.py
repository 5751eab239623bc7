"""Calls about schedules."""

from http import HTTPStatus
from typing import Any, NamedTuple, cast
from uuid import UUID

from duetime.client.calls import Call, ask, items, send
from duetime.client.requests import SCHEDULES, SYNC, given, named_schedule_path, schedule_path
from duetime.client.schedule_types import (
    Backfill,
    LedgerPage,
    Schedule,
    ScheduleFields,
    SchedulePage,
    SyncPlan,
    Upcoming,
)
from duetime.client.types import Submitted

Key = str | UUID | None


class Created(NamedTuple):
    schedule: Schedule
    replayed: bool  # the idempotency key was used before, and this is the schedule stored then


def create(fields: ScheduleFields, key: Key) -> Call[Created]:
    answer = yield from send("POST", SCHEDULES, body=fields, key=key)
    return Created(answer.value, replayed=answer.status == HTTPStatus.OK)


def get(schedule_id: str) -> Call[Schedule]:
    return ask("GET", schedule_path(schedule_id))


def get_by_name(name: str, namespace: str | None) -> Call[Schedule]:
    return ask("GET", named_schedule_path(name), query={"namespace": namespace})


def put(name: str, namespace: str | None, fields: ScheduleFields) -> Call[Schedule]:
    return ask("PUT", named_schedule_path(name), query={"namespace": namespace}, body=fields)


def delete_by_name(name: str, namespace: str | None) -> Call[None]:
    return ask("DELETE", named_schedule_path(name), query={"namespace": namespace})


def detach(schedule_id: str) -> Call[Schedule]:
    return ask("POST", f"{schedule_path(schedule_id)}/detach")


def generation(app: str) -> Call[int]:
    answer = yield from ask("POST", f"{SYNC}/generations", body={"app": app})
    return int(answer["generation"])


def sync(fields: dict[str, Any]) -> Call[SyncPlan]:
    """Takes a generation first if the caller gives none. A sync can be repeated with its
    generation, so a caller that keeps it can try again after an error.

    To retire an app, it asks for a dry run first: a wrong name is refused before anything is
    stored."""
    if fields["generation"] is None and not fields["dry_run"]:
        if fields["retire"]:
            yield from ask("POST", SYNC, body=given({**fields, "dry_run": True}))
        fields = {**fields, "generation": (yield from generation(fields["app"]))}
    plan: SyncPlan = yield from ask("POST", SYNC, body=given(fields))
    return plan


def page(query: dict[str, Any]) -> Call[SchedulePage]:
    return ask("GET", SCHEDULES, query=query)


def every(query: dict[str, Any]) -> Call[None]:
    return items(SCHEDULES, query)


def update(schedule_id: str, fields: ScheduleFields) -> Call[Schedule]:
    return ask("PUT", schedule_path(schedule_id), body=fields)


def delete(schedule_id: str) -> Call[None]:
    return ask("DELETE", schedule_path(schedule_id))


def set_status(schedule_id: str, verb: str, note: str | None) -> Call[Schedule]:
    """`verb` is pause or resume."""
    return ask("POST", f"{schedule_path(schedule_id)}/{verb}", body=given({"note": note}))


def trigger(schedule_id: str, key: Key) -> Call[Submitted]:
    answer = yield from send("POST", f"{schedule_path(schedule_id)}/trigger", key=key)
    return Submitted(answer.value, replayed=answer.status == HTTPStatus.OK)


def backfill(schedule_id: str, fields: dict[str, Any]) -> Call[Backfill]:
    return ask("POST", f"{schedule_path(schedule_id)}/backfill", body=given(fields))


def upcoming(schedule_id: str, count: int | None) -> Call[Upcoming]:
    return ask("GET", f"{schedule_path(schedule_id)}/upcoming", query={"count": count})


def preview(fields: dict[str, Any]) -> Call[Upcoming]:
    return ask("POST", f"{SCHEDULES}/preview", body=given(fields))


def ledger_page(schedule_id: str, limit: int | None, cursor: str | None) -> Call[LedgerPage]:
    query = {"limit": limit, "cursor": cursor}
    return ask("GET", f"{schedule_path(schedule_id)}/ledger", query=query)


def ledger(schedule_id: str) -> Call[None]:
    return items(f"{schedule_path(schedule_id)}/ledger")


RETURNED_ONLY = Schedule.__annotations__.keys() - ScheduleFields.__annotations__.keys()


def fields_of(schedule: Schedule) -> ScheduleFields:
    """Returns the fields of a schedule that can be submitted, to change it or to copy it."""
    kept = {name: value for name, value in schedule.items() if name not in RETURNED_ONLY}
    return cast(ScheduleFields, kept)
