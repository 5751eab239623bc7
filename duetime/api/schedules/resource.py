"""/v1/schedules: create, read, list, change, delete, pause and resume."""

from collections.abc import Mapping

from duetime.api.capabilities import Capabilities
from duetime.api.http import CONTENTION, Problem, Request, Response, Router, unavailable
from duetime.api.idempotency import key_of, reserve_id, schedule_key
from duetime.api.paging import JsonPage, page_response
from duetime.api.query import Query
from duetime.api.schedules.history import ScheduleHistory
from duetime.api.schedules.models import NoteIn
from duetime.api.schedules.named import NamedSchedules, refuse_rename
from duetime.api.schedules.plans import read_plan
from duetime.api.schedules.runs import ScheduleRuns
from duetime.api.schedules.sync import ScheduleSync
from duetime.api.schedules.views import schedule_json, status_of
from duetime.api.schedules.writer import ScheduleWriter, refuse_declared
from duetime.api.task_models import NothingIn, read_body
from duetime.core.change import Applied, Refused, Unknown
from duetime.core.ports import Ports
from duetime.core.schedules import changes
from duetime.core.schedules.changes import Changed
from duetime.core.schedules.declarations import detach
from duetime.core.schedules.ports import ScheduleListing, SchedulePage
from duetime.core.schedules.schedule import Schedule, ScheduleStatus
from duetime.core.task import storable
from duetime.core.times import Millis
from duetime.core.value import value
from duetime.engine.submission import Submission

MAX_ACTOR = 256  # characters that are stored
ITEM = "/v1/schedules/{id}"
BY_NAME = "/v1/schedules/by-name/{name}"


@value(frozen=True, slots=True)
class ScheduleResource:
    ports: Ports
    writer: ScheduleWriter
    capabilities: Capabilities

    def create(self, request: Request, _: Mapping[str, str]) -> Response:
        Query(request).done()
        text, body, now = key_of(request), request.json(), self.ports.clock.now()
        plan = read_plan(body, self.capabilities, now)
        key = None if text is None else schedule_key(text, plan.namespace, body)
        schedule_id = reserve_id(self.ports, key, now)
        made = changes.create(self.ports.wake_policy, schedule_id, plan, now)
        (answer,) = self.ports.schedules.put([made])
        match answer:
            case Applied(schedule):
                return self._created(201, self.writer.bring_forward(schedule))
            case Refused(Schedule() as stored):
                return self._created(200, stored)
            case Unknown(reason):
                raise unavailable(reason)
            case _:
                raise unavailable(CONTENTION)

    def get(self, request: Request, parameters: Mapping[str, str]) -> Response:
        Query(request).done()
        return self._response(self.writer.find(parameters["id"]))

    def page(self, request: Request, _: Mapping[str, str]) -> Response:
        query = Query(request)
        listing = ScheduleListing(
            namespace=query.namespace_or_all(),
            status=query.one_of("status", ScheduleStatus),
            limit=query.limit(),
            cursor=query.text("cursor"),
        )
        query.done()
        now = self.ports.clock.now()

        def render(page: SchedulePage) -> JsonPage:
            return [schedule_json(schedule, now) for schedule in page.schedules], page.cursor

        return page_response(self.ports.schedules.page, listing, render)

    def change(self, request: Request, parameters: Mapping[str, str]) -> Response:
        Query(request).done()
        body = request.json()

        def step(schedule: Schedule, now: Millis) -> Changed:
            refuse_declared(schedule)
            plan = read_plan(body, self.capabilities, now, schedule)
            refuse_rename(schedule, plan)
            return changes.change(self.ports.wake_policy, schedule, plan, now)

        after = self.writer.replace(parameters["id"], step)
        self.writer.drop_unstarted(after)
        return self._response(self.writer.bring_forward(after))

    def delete(self, request: Request, parameters: Mapping[str, str]) -> Response:
        Query(request).done()
        schedule = self.writer.find(parameters["id"])
        refuse_declared(schedule)
        self.writer.delete(schedule)
        return Response(status=204, headers={})

    def detach(self, request: Request, parameters: Mapping[str, str]) -> Response:
        Query(request).done()
        if request.body.strip():
            read_body(NothingIn, request.json())

        def step(schedule: Schedule, now: Millis) -> Changed | None:
            return detach(schedule, now) if schedule.plan.declared else None

        return self._response(self.writer.replace(parameters["id"], step))

    def pause(self, request: Request, parameters: Mapping[str, str]) -> Response:
        note = _note(request)
        by = request.caller.actor and storable(request.caller.actor, MAX_ACTOR)

        def step(schedule: Schedule, now: Millis) -> Changed | None:
            if status_of(schedule, now) is ScheduleStatus.FINISHED:
                raise _finished(schedule, "paused")
            if schedule.status is ScheduleStatus.PAUSED and note in (None, schedule.note):
                return None
            return changes.pause(self.ports.wake_policy, schedule, now, note, by)

        after = self.writer.replace(parameters["id"], step)
        self.writer.drop_unstarted(after)
        return self._response(after)

    def resume(self, request: Request, parameters: Mapping[str, str]) -> Response:
        note = _note(request)

        def step(schedule: Schedule, now: Millis) -> Changed | None:
            status = status_of(schedule, now)
            if status is ScheduleStatus.FINISHED:
                raise _finished(schedule, "resumed")
            if status is ScheduleStatus.ACTIVE:
                return None
            return changes.resume(self.ports.wake_policy, schedule, now, note)

        after = self.writer.replace(parameters["id"], step)
        return self._response(self.writer.bring_forward(after))

    def _created(self, status: int, schedule: Schedule) -> Response:
        response = self._response(schedule)
        headers = {**response.headers, "location": f"/v1/schedules/{schedule.id}"}
        return Response(status=status, body=response.body, headers=headers)

    def _response(self, schedule: Schedule) -> Response:
        return Response(status=200, body=schedule_json(schedule, self.ports.clock.now()))


def _note(request: Request) -> str | None:
    Query(request).done()
    return read_body(NoteIn, request.json()).note if request.body.strip() else None


def _finished(schedule: Schedule, verb: str) -> Problem:
    detail = f"Schedule {schedule.id} is finished and cannot be {verb}: it never fires again."
    detail += " To start it again, change it."
    return Problem(409, "state-conflict", "The schedule is finished", detail)


def add_routes(
    router: Router, ports: Ports, submission: Submission, capabilities: Capabilities
) -> None:
    writer = ScheduleWriter(ports)
    resource = ScheduleResource(ports, writer, capabilities)
    runs = ScheduleRuns(ports, writer, submission)
    history = ScheduleHistory(ports, writer)
    named = NamedSchedules(ports, writer, capabilities)
    sync = ScheduleSync(ports, writer, capabilities)
    router.add("POST", "/v1/schedules", resource.create)
    router.add("GET", "/v1/schedules", resource.page)
    router.add("POST", "/v1/schedules/preview", history.preview)
    router.add("POST", "/v1/schedules/sync", sync.sync)
    router.add("POST", "/v1/schedules/sync/generations", sync.take_generation)
    router.add("GET", BY_NAME, named.get)
    router.add("PUT", BY_NAME, named.put)
    router.add("DELETE", BY_NAME, named.delete)
    router.add("GET", ITEM, resource.get)
    router.add("PUT", ITEM, resource.change)
    router.add("DELETE", ITEM, resource.delete)
    router.add("POST", f"{ITEM}/detach", resource.detach)
    router.add("POST", f"{ITEM}/pause", resource.pause)
    router.add("POST", f"{ITEM}/resume", resource.resume)
    router.add("POST", f"{ITEM}/trigger", runs.trigger)
    router.add("POST", f"{ITEM}/backfill", runs.backfill)
    router.add("GET", f"{ITEM}/upcoming", history.upcoming)
    router.add("GET", f"{ITEM}/ledger", history.ledger)
