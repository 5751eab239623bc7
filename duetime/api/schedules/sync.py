"""/v1/schedules/sync: stores the schedules that an app declares in code.

A sync may die anywhere, and two may run at once: its first write makes its generation the current
one of the app and keeps the ids of its schedules; every later write has the condition that the
generation is still current and that the schedule is as it was read. So repeating a sync ends in the
declared state, and the older of two syncs is refused.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
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
from duetime.api.schedules.declarations import (
    Declaration,
    digest_of,
    handlers_of,
    read_declarations,
)
from duetime.api.schedules.models import AppIn, SyncIn
from duetime.api.schedules.named import with_names
from duetime.api.schedules.sync_steps import (
    Names,
    Step,
    declaration_note,
    is_current,
    plan_json,
    removal_note,
)
from duetime.api.schedules.writer import WRITE_ATTEMPTS, ScheduleWriter, evaluating
from duetime.api.task_models import read_body
from duetime.core.change import Applied, Refused, Unknown
from duetime.core.ports import Ports
from duetime.core.schedules import changes, declarations
from duetime.core.schedules.apps import (
    Apps,
    HandlerClaimed,
    SyncConflict,
    begin_sync,
    check_sync,
    encode_apps,
    finish_sync,
    take_generation,
)
from duetime.core.schedules.changes import Changed
from duetime.core.schedules.declarations import Action
from duetime.core.schedules.schedule import Schedule
from duetime.core.times import Millis
from duetime.core.value import value

Rows = Mapping[str, Schedule]

APPS_LIMIT = 350 * 1024  # bytes; DynamoDB takes 400 KB, and the apps are one item


@value(frozen=True, slots=True)
class ScheduleSync:
    ports: Ports
    writer: ScheduleWriter
    capabilities: Capabilities

    def take_generation(self, request: Request, _: Mapping[str, str]) -> Response:
        Query(request).done()
        app = read_body(AppIn, request.json()).app
        apps = self._update(lambda apps: take_generation(apps, app))
        return Response(status=201, body={"app": app, "generation": apps.get(app).taken})

    def sync(self, request: Request, _: Mapping[str, str]) -> Response:
        Query(request).done()
        body = read_body(SyncIn, request.json())
        try:
            return Response(status=200, body=self._sync(body))
        except SyncConflict as conflict:
            title = "The sync is refused"
            claimed = isinstance(conflict, HandlerClaimed)
            kind = "handler-claimed" if claimed else "sync-conflict"
            raise Problem(409, kind, title, f"The {conflict}.") from None

    def _sync(self, body: SyncIn) -> dict[str, Any]:
        declared = read_declarations(body.app, body.schedules, self.capabilities)
        digest, handlers = digest_of(declared), handlers_of(declared)
        apps, generation = self.ports.schedules.apps(), body.generation
        if body.retire:
            _check_retired(body, apps)
        if generation is None:
            apps = take_generation(apps, body.app)
            generation = _next_generation(body, apps)
        check_sync(apps, body.app, generation, digest=digest, handlers=handlers)
        one = _Sync(self, body, generation, declared)
        rows = one.rows(apps.get(body.app).schedules)
        one.check(rows)
        if body.dry_run:
            return one.json(one.plan(rows), self._same_names(declared))
        apps = self._update(
            lambda apps: begin_sync(
                apps,
                body.app,
                generation,
                digest=digest,
                handlers=handlers,
                schedules=[d.id for d in declared],
            )
        )
        rows = one.rows(apps.get(body.app).schedules)
        plan = one.plan(rows)
        kept = one.apply(plan, rows)
        self._update(lambda apps: finish_sync(apps, body.app, generation, kept))
        return one.json(plan, self._same_names(declared))

    def _same_names(self, declared: Iterable[Declaration]) -> Names:
        """Returns the id of a schedule that a request made, for each name that is declared too."""
        names = {(d.namespace, d.name) for d in declared}
        found = with_names(self.ports.schedules, names)
        return {key: s.id for key, several in found.items() for s in several if not s.plan.declared}

    def _update(self, step: Callable[[Apps], Apps]) -> Apps:
        """Replaces the apps. A write that loses to another one is repeated on the newer apps."""
        for _ in range(WRITE_ATTEMPTS):
            before = self.ports.schedules.apps()
            after = step(before)
            if after is before:
                return before
            after = replace(after, nonce=self.ports.chance.nonce())
            _check_size(after)
            if self.ports.schedules.put_apps(after):
                return after
        raise unavailable(CONTENTION)


@value(frozen=True, slots=True)
class _Sync:
    """One sync, of one generation."""

    parts: ScheduleSync
    body: SyncIn
    generation: int
    declared: Sequence[Declaration]

    def rows(self, known: Iterable[str]) -> Rows:
        ids = {*known, *(d.id for d in self.declared)}
        return self.parts.ports.schedules.get(sorted(ids))

    def check(self, rows: Rows) -> None:
        """Raises the first problem of a plan, before anything is stored."""
        now = self.parts.ports.clock.now()
        for one in self.declared:
            stored = rows.get(one.id)
            action = declarations.decide(stored, one.declared(self.generation))
            returns = stored is not None and one.digest == _digest(stored)  # its plan is kept
            if action in (Action.CREATE, Action.CHANGE) and not returns:
                one.plan(self.parts.capabilities, self.generation, now, stored)
        left = [s for s in rows.values() if is_current(s, self.body.app)]
        if left and not self.declared and not (self.body.allow_empty or self.body.retire):
            detail = f"App {self.body.app} declares no schedule, and has {len(left)} from code."
            detail += " To pause them, sync with allow_empty."
            raise Problem(409, "empty-manifest", "The code declares no schedule", detail)

    def plan(self, rows: Rows) -> list[Step]:
        wanted = {d.id for d in self.declared}
        gone = [s for i, s in sorted(rows.items()) if i not in wanted and _is_of(s, self.body.app)]
        return [
            *(self._step(one, rows.get(one.id)) for one in self.declared),
            *(self._removal(schedule) for schedule in gone),
        ]

    def apply(self, plan: Sequence[Step], rows: Rows) -> list[str]:
        """Returns the ids of the schedules that are the app's after this sync."""
        kept = []
        for step in plan:
            if step.declaration:
                self._store(step.declaration, rows.get(step.id))
            elif step.action is Action.PRUNED:
                self._delete(rows[step.id])
                continue
            else:
                self._remove(rows[step.id])
            if step.action is not Action.DETACHED:
                kept.append(step.id)
        return kept

    def json(self, plan: Sequence[Step], same: Names) -> dict[str, Any]:
        return {
            "app": self.body.app,
            "generation": self.generation,
            "dry_run": self.body.dry_run,
            "schedules": plan_json(plan, same),
        }

    def _step(self, one: Declaration, stored: Schedule | None) -> Step:
        action = declarations.decide(stored, one.declared(self.generation))
        return Step(
            action=action,
            id=one.id,
            name=one.name,
            handler=one.handler,
            namespace=one.namespace,
            source=one.source,
            declaration=one,
            note=declaration_note(action, stored),
        )

    def _removal(self, schedule: Schedule) -> Step:
        declared, now = schedule.plan.declared, self.parts.ports.clock.now()
        with evaluating(schedule):
            note = None if self.body.prune else removal_note(schedule, self.body.app, now)
        return Step(
            action=Action.PRUNED if self.body.prune else Action.REMOVED,
            id=schedule.id,
            name=schedule.plan.name or "",
            handler=str(schedule.plan.task.target.get("handler")),
            namespace=schedule.plan.namespace,
            source=declared.source if declared else "",
            note=note,
        )

    def _store(self, one: Declaration, stored: Schedule | None) -> None:
        writer, ports = self.parts.writer, self.parts.ports
        if stored is None and (created := self._create(one)):
            writer.bring_forward(created)
            return

        def step(schedule: Schedule, now: Millis) -> Changed | None:
            action = declarations.decide(schedule, one.declared(self.generation))
            if action is Action.DETACHED:
                return None
            plan = schedule.plan
            if action is Action.CHANGE and one.digest != _digest(schedule):
                plan = one.plan(self.parts.capabilities, self.generation, now, schedule)
            plan = replace(plan, declared=one.declared(self.generation))
            return declarations.redeclare(ports.wake_policy, schedule, plan, now)

        after = writer.replace(one.id, step, ports.schedules.put_declared)
        if stored is None or after.version != stored.version:
            writer.drop_unstarted(after)
            writer.bring_forward(after)

    def _create(self, one: Declaration) -> Schedule | None:
        """Returns None if another sync has created it."""
        ports = self.parts.ports
        now = ports.clock.now()
        plan = one.plan(self.parts.capabilities, self.generation, now, None)
        made = changes.create(ports.wake_policy, one.id, plan, now)
        match ports.schedules.put_declared(made):
            case Applied(schedule):
                return schedule
            case Refused():
                return None
            case Unknown(reason):
                raise unavailable(reason)

    def _remove(self, stored: Schedule) -> None:
        writer, ports = self.parts.writer, self.parts.ports

        def step(schedule: Schedule, now: Millis) -> Changed | None:
            if not is_current(schedule, self.body.app):
                return None
            return declarations.remove(ports.wake_policy, schedule, self.generation, now)

        after = writer.replace(stored.id, step, ports.schedules.put_declared)
        if after.version != stored.version:
            writer.drop_unstarted(after)

    def _delete(self, stored: Schedule) -> None:
        schedules = self.parts.ports.schedules
        with self.parts.writer.dropping_runs(stored):
            for _ in range(WRITE_ATTEMPTS):
                match schedules.delete_declared(stored, self.generation):
                    case Refused(Schedule() as other) if _is_of(other, self.body.app):
                        stored = other
                    case Unknown(reason):
                        raise unavailable(reason)
                    case _:  # deleted, or detached meanwhile
                        return
            raise unavailable(CONTENTION)


def _check_size(apps: Apps) -> None:
    if len(encode_apps(apps).encode()) > APPS_LIMIT:
        detail = "The handlers, places and ids of all declared schedules, of all apps, must take at"
        detail += " most 350 KiB together. Retire apps that are not used any more."
        raise Problem(413, "too-large", "The apps declare too many schedules", detail)


def _next_generation(body: SyncIn, apps: Apps) -> int:
    """A dry run needs none: it shows what the next generation would do."""
    if body.dry_run:
        return apps.get(body.app).taken
    message = "required: take one with POST /v1/schedules/sync/generations"
    raise invalid([FieldError("generation", message)])


def _check_retired(body: SyncIn, apps: Apps) -> None:
    if body.schedules:
        raise invalid([FieldError("retire", "must be false for a sync with schedules")])
    if not apps.get(body.app).current:
        known = ", ".join(sorted(name for name, app in apps.by_name.items() if app.current))
        raise not_found(f"app {body.app!r} that has declared schedules; known: {known or 'none'}")


def _is_of(schedule: Schedule, app: str) -> bool:
    declared = schedule.plan.declared
    return declared is not None and declared.app == app


def _digest(schedule: Schedule) -> str | None:
    return schedule.plan.declared.digest if schedule.plan.declared else None
