"""The schedules that an app declares in code, as a sync submits them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from duetime.api.capabilities import Capabilities
from duetime.api.http import FieldError, Problem, invalid
from duetime.api.schedules.models import DeclaredIn
from duetime.api.schedules.plans import read_plan
from duetime.api.task_models import read_body
from duetime.core.ids import derived_id
from duetime.core.schedules.plan import Declared, Plan
from duetime.core.schedules.schedule import Schedule
from duetime.core.times import Millis
from duetime.core.value import value
from duetime.engine.idempotency import body_hash

DIGEST_LENGTH = 24  # characters of a hash


@value(frozen=True, kw_only=True, slots=True)
class Declaration:
    """One declared schedule. Its id is made from the namespace, the app, the handler and the name,
    so every sync finds the schedule of the one before."""

    place: int  # among the schedules of the request
    app: str
    handler: str
    name: str
    namespace: str
    source: str
    digest: str
    body: Mapping[str, Any]  # without the source

    @property
    def id(self) -> str:
        return derived_id("code", self.namespace, self.app, self.handler, self.name)

    def declared(self, generation: int) -> Declared:
        return Declared(app=self.app, source=self.source, digest=self.digest, generation=generation)

    def plan(
        self, capabilities: Capabilities, generation: int, now: Millis, current: Schedule | None
    ) -> Plan:
        try:
            plan = read_plan(self.body, capabilities, now, current)
        except Problem as problem:
            raise _placed(problem, self.place, self.source) from None
        return replace(plan, declared=self.declared(generation))


def read_declarations(
    app: str, given: Sequence[Mapping[str, Any]], capabilities: Capabilities
) -> list[Declaration]:
    found: dict[str, Declaration] = {}
    for place, body in enumerate(given):
        one = _read(app, place, body, capabilities)
        if one.id in found:
            first = found[one.id].source
            reason = f"handler {one.handler!r} has two schedules of the name {one.name!r}"
            where = f"schedules.{place}.name"
            raise invalid([FieldError(where, f"{reason}: {first} and {one.source}")])
        found[one.id] = one
    return list(found.values())


def digest_of(declarations: Iterable[Declaration]) -> str:
    """Returns a hash of all declarations, in any order."""
    return body_hash({one.id: [one.digest, one.source] for one in declarations})[:DIGEST_LENGTH]


def handlers_of(declarations: Iterable[Declaration]) -> dict[str, str]:
    return {one.handler: one.source for one in declarations}


def _read(app: str, place: int, body: Mapping[str, Any], capabilities: Capabilities) -> Declaration:
    source = body.get("source")
    try:
        given = read_body(DeclaredIn, body)
        task = capabilities.with_defaults(given.task)
        handler = _handler(task)
    except Problem as problem:
        raise _placed(problem, place, source) from None
    namespace = task.get("namespace", "default")
    if not isinstance(namespace, str):
        raise _placed(invalid([FieldError("task.namespace", "must be a string")]), place, source)
    rest = {name: value for name, value in body.items() if name != "source"}
    return Declaration(
        place=place,
        app=app,
        handler=handler,
        name=given.name,
        namespace=namespace,
        source=given.source,
        digest=body_hash({**rest, "task": task})[:DIGEST_LENGTH],
        body=rest,
    )


def _handler(task: Mapping[str, Any]) -> str:
    match task.get("target"):
        case {"type": "python", "handler": str(handler)}:
            return handler
    message = "must be a python target: a schedule in code belongs to a handler"
    raise invalid([FieldError("task.target", message)])


def _placed(problem: Problem, place: int, source: Any) -> Problem:
    """Returns the same problem with its fields below their place in the request, and with the file
    and line of the declaration."""
    prefix = f"{source}: " if isinstance(source, str) and source else ""
    errors = [
        FieldError(f"schedules.{place}.{e['field']}", f"{prefix}{e['message']}", e.get("position"))
        for e in problem.body.get("errors", [])
    ]
    kind = problem.body["type"].rpartition(":")[2]
    detail = None if errors else f"{prefix}{problem.body['detail']}"
    return Problem(problem.status, kind, problem.body["title"], detail, errors)
