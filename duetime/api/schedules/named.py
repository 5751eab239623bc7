"""/v1/schedules/by-name/{name}: schedules that are created, read, replaced and deleted by name.

A schedule that is put by name has an id made from its namespace and name. So of two requests that
put the same name at the same time one creates the schedule and the other changes it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from duetime.api.capabilities import Capabilities
from duetime.api.http import (
    CONTENTION,
    FieldError,
    Problem,
    Request,
    Response,
    invalid,
    not_found,
    unavailable,
)
from duetime.api.query import Query
from duetime.api.schedules.plans import has_plan, read_plan
from duetime.api.schedules.views import schedule_json
from duetime.api.schedules.writer import ScheduleWriter, refuse_declared
from duetime.core.change import Applied, Refused, Unknown
from duetime.core.ids import derived_id
from duetime.core.ports import Ports
from duetime.core.schedules import changes
from duetime.core.schedules.changes import Changed
from duetime.core.schedules.plan import Plan
from duetime.core.schedules.ports import ScheduleListing, ScheduleStore
from duetime.core.schedules.schedule import Schedule
from duetime.core.times import Millis
from duetime.core.value import value

PAGE, MAX_PAGES = 100, 20  # how far a search by name reads
Name = tuple[str, str]  # namespace, name


def named_id(namespace: str, name: str) -> str:
    """Returns the id of the schedule that was put by this name."""
    return derived_id("name", namespace, name)


def refuse_rename(schedule: Schedule, plan: Plan) -> None:
    """Raises a Problem for another name of a schedule that was put by name: its id is made from it,
    so the old name would still lead to the schedule, and the new one could not be put."""
    name = schedule.plan.name
    if name and plan.name != name and schedule.id == named_id(schedule.plan.namespace, name):
        message = f"must stay {name!r}: the schedule was put by this name"
        raise invalid([FieldError("name", message)])


def with_names(schedules: ScheduleStore, names: Iterable[Name]) -> dict[Name, list[Schedule]]:
    """Returns the schedules with these names, from the newest of each namespace. The list may lag
    by a second."""
    found: dict[Name, list[Schedule]] = {name: [] for name in names}
    for namespace in sorted({namespace for namespace, _ in found}):
        cursor = None
        for _ in range(MAX_PAGES):
            listing = ScheduleListing(namespace=namespace, limit=PAGE, cursor=cursor)
            page = schedules.page(listing)
            for schedule in page.schedules:
                name = namespace, schedule.plan.name or ""
                if name in found:
                    found[name].append(schedule)
            cursor = page.cursor
            if cursor is None:
                break
    return found


@value(frozen=True, slots=True)
class NamedSchedules:
    ports: Ports
    writer: ScheduleWriter
    capabilities: Capabilities

    def get(self, request: Request, parameters: Mapping[str, str]) -> Response:
        return self._response(200, self._find(_name(request, parameters)))

    def delete(self, request: Request, parameters: Mapping[str, str]) -> Response:
        schedule = self._find(_name(request, parameters))
        refuse_declared(schedule)
        self.writer.delete(schedule)
        return Response(status=204, headers={})

    def put(self, request: Request, parameters: Mapping[str, str]) -> Response:
        name = _name(request, parameters)
        body = _body(request.json(), name)
        schedule_id = named_id(*name)
        stored = self.ports.schedules.get([schedule_id]).get(schedule_id)
        declared = self._declared(name)
        if stored and declared:
            raise _not_unique([stored, *declared])
        if stored is None:
            self._refuse_twin(name, declared)
            if created := self._create(schedule_id, body):
                return self._response(201, self.writer.bring_forward(created))

        def step(schedule: Schedule, now: Millis) -> Changed | None:
            if has_plan(schedule, body, self.capabilities, now):
                return None
            plan = read_plan(body, self.capabilities, now, schedule)
            return changes.change(self.ports.wake_policy, schedule, plan, now)

        after = self.writer.replace(schedule_id, step)
        if stored and after.version == stored.version:
            return self._response(200, after)
        self.writer.drop_unstarted(after)
        return self._response(200, self.writer.bring_forward(after))

    def _create(self, schedule_id: str, body: Any) -> Schedule | None:
        """Returns None if another request has created it."""
        now = self.ports.clock.now()
        plan = read_plan(body, self.capabilities, now)
        made = changes.create(self.ports.wake_policy, schedule_id, plan, now)
        match self.writer.put(made):
            case Applied(schedule):
                return schedule
            case Refused(Schedule()):
                return None
            case Unknown(reason):
                raise unavailable(reason)
            case _:
                raise unavailable(CONTENTION)

    def _find(self, name: Name) -> Schedule:
        """Returns the schedule that was put by this name or, if there is none, the only one that
        has it. One that the code declares counts beside the one that was put by name."""
        schedule_id = named_id(*name)
        found = list(self.ports.schedules.get([schedule_id]).values())
        found += self._declared(name)
        if not found or found[0].id != schedule_id:
            found = self._all(name, found)
        if not found:
            raise not_found(f"schedule {name[1]!r} in namespace {name[0]}")
        if len(found) > 1:
            raise _not_unique(found)
        return found[0]

    def _refuse_twin(self, name: Name, declared: Iterable[Schedule]) -> None:
        """Refuses a second schedule of a name, which would run everything twice."""
        others = [s for s in self._all(name, declared) if s.id != named_id(*name)]
        if len(others) > 1:
            raise _not_unique(others)
        for schedule in others:
            refuse_declared(schedule)
            detail = f"Schedule {schedule.id} has that name, and was not put by name."
            raise _taken(f"{detail} Change it by its id, or delete it first.")

    def _declared(self, name: Name) -> list[Schedule]:
        """Returns the schedules of this name that apps have declared in code. Unlike the list, it
        does not lag."""
        apps = self.ports.schedules.apps().by_name.values()
        if not (ids := sorted({i for app in apps for i in app.schedules})):
            return []
        return [
            schedule
            for schedule in self.ports.schedules.get(ids).values()
            if schedule.plan.declared and (schedule.plan.namespace, schedule.plan.name) == name
        ]

    def _all(self, name: Name, declared: Iterable[Schedule]) -> list[Schedule]:
        """Returns the schedules of this name in the list, and these."""
        listed = with_names(self.ports.schedules, [name])[name]
        return list({schedule.id: schedule for schedule in (*listed, *declared)}.values())

    def _response(self, status: int, schedule: Schedule) -> Response:
        body = schedule_json(schedule, self.ports.clock.now())
        response = Response(status=status, body=body)
        if status == 201:
            location = f"/v1/schedules/{schedule.id}"
            response.headers = {**response.headers, "location": location}
        return response


def _not_unique(several: Sequence[Schedule]) -> Problem:
    ids = ", ".join(schedule.id for schedule in several[:10])
    return _taken(f"{len(several)} schedules have that name; use an id: {ids}.")


def _taken(detail: str) -> Problem:
    return Problem(409, "state-conflict", "The name is not unique", detail)


def _name(request: Request, parameters: Mapping[str, str]) -> Name:
    query = Query(request)
    namespace = query.word("namespace", "default")
    query.done()
    name = parameters["name"]
    if len(name) > 256:
        raise invalid([FieldError("name", "must have at most 256 characters")])
    return namespace, name


def _body(body: Any, name: Name) -> Any:
    """Fills in the name and the namespace. The body may have them, if they are the same."""
    if not isinstance(body, dict):
        return body
    namespace, text = name
    errors = []
    if body.get("name") not in (None, text):
        errors.append(FieldError("name", f"must be {text!r}, as in the path"))
    task = body.get("task")
    if isinstance(task, dict):
        if task.get("namespace", namespace) != namespace:
            message = f"must be {namespace!r}, as in the query"
            errors.append(FieldError("task.namespace", message))
        task = {**task, "namespace": namespace}
    if errors:
        raise invalid(errors)
    return {**body, "name": text, **({"task": task} if "task" in body else {})}
