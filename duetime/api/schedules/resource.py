"""/v1/schedules: create, read, list, change, delete, pause, resume."""

from collections.abc import Mapping

from lambdas.api.http import OVERTAKEN, Problem, Request, Response, unavailable
from lambdas.api.models import read_body
from lambdas.api.pages import Told, fitting_page
from lambdas.api.query import Query
from lambdas.api.schedules.bodies import NoteIn
from lambdas.api.schedules.keys import key_of, reserved_id
from lambdas.api.schedules.plans import read_plan
from lambdas.api.schedules.render import schedule_json, status_of
from lambdas.api.schedules.writing import Writing
from lambdas.api.tasks import Accepted
from lambdas.core.change import Unknown
from lambdas.core.ports import Ports
from lambdas.core.schedules import changes
from lambdas.core.schedules.changes import Changed
from lambdas.core.schedules.ports import Differs, ScheduleListing, SchedulePage, Stands
from lambdas.core.schedules.schedule import Schedule, ScheduleStatus
from lambdas.core.times import Millis
from lambdas.core.values import value


@value(frozen=True, slots=True)
class Keeping:
    ports: Ports
    writing: Writing
    accepted: Accepted

    def create(self, request: Request, _: Mapping[str, str]) -> Response:
        Query(request).done()
        key, body, now = key_of(request), request.json(), self.ports.clock.now()
        plan = read_plan(body, self.accepted, now)
        schedule_id = reserved_id(self.ports, plan.namespace, key, body, now)
        made = changes.create(self.ports.rules, schedule_id, plan, now)
        (answer,) = self.ports.schedules.put([made])
        match answer:
            case Stands(schedule):
                return self._created(201, self.writing.bring_forward(schedule))
            case Differs(Schedule() as standing):
                return self._created(200, standing)
            case Unknown(reason):
                raise unavailable(reason)
            case _:
                raise unavailable(OVERTAKEN)

    def get(self, request: Request, parameters: Mapping[str, str]) -> Response:
        Query(request).done()
        return self._told(self.writing.find(parameters["id"]))

    def page(self, request: Request, _: Mapping[str, str]) -> Response:
        query = Query(request)
        listing = ScheduleListing(
            namespace=query.word("namespace", "default"),
            status=query.one_of("status", ScheduleStatus),
            limit=query.limit(),
            cursor=query.text("cursor"),
        )
        query.done()
        now = self.ports.clock.now()

        def tell(page: SchedulePage) -> Told:
            return [schedule_json(schedule, now) for schedule in page.schedules], page.cursor

        return fitting_page(self.ports.schedules.page, listing, tell)

    def change(self, request: Request, parameters: Mapping[str, str]) -> Response:
        Query(request).done()
        body = request.json()

        def step(schedule: Schedule, now: Millis) -> Changed:
            plan = read_plan(body, self.accepted, now, schedule)
            return changes.change(self.ports.rules, schedule, plan, now)

        after = self.writing.replace(parameters["id"], step)
        self.writing.drop_unstarted(after)
        return self._told(self.writing.bring_forward(after))

    def delete(self, request: Request, parameters: Mapping[str, str]) -> Response:
        Query(request).done()
        self.writing.delete(self.writing.find(parameters["id"]))
        return Response(status=204, headers={})

    def pause(self, request: Request, parameters: Mapping[str, str]) -> Response:
        note = _note(request)

        def step(schedule: Schedule, now: Millis) -> Changed | None:
            if status_of(schedule, now) is ScheduleStatus.FINISHED:
                raise _finished(schedule, "paused")
            if schedule.status is ScheduleStatus.PAUSED and note in (None, schedule.note):
                return None
            return changes.pause(self.ports.rules, schedule, now, note)

        after = self.writing.replace(parameters["id"], step)
        self.writing.drop_unstarted(after)
        return self._told(after)

    def resume(self, request: Request, parameters: Mapping[str, str]) -> Response:
        note = _note(request)

        def step(schedule: Schedule, now: Millis) -> Changed | None:
            status = status_of(schedule, now)
            if status is ScheduleStatus.FINISHED:
                raise _finished(schedule, "resumed")
            if status is ScheduleStatus.ACTIVE:
                return None
            return changes.resume(self.ports.rules, schedule, now, note)

        after = self.writing.replace(parameters["id"], step)
        return self._told(self.writing.bring_forward(after))

    def _created(self, status: int, schedule: Schedule) -> Response:
        told = self._told(schedule)
        headers = {**told.headers, "location": f"/v1/schedules/{schedule.id}"}
        return Response(status=status, body=told.body, headers=headers)

    def _told(self, schedule: Schedule) -> Response:
        return Response(status=200, body=schedule_json(schedule, self.ports.clock.now()))


def _note(request: Request) -> str | None:
    Query(request).done()
    return read_body(NoteIn, request.json()).note if request.body.strip() else None


def _finished(schedule: Schedule, what: str) -> Problem:
    detail = f"Schedule {schedule.id} is finished and cannot be {what}: it never fires again."
    detail += " Change it, and it begins anew."
    return Problem(409, "state-conflict", "The schedule is finished", detail)
