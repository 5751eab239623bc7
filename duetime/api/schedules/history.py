"""What will happen and what has: upcoming, preview, the ledger."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from lambdas.api.http import FieldError, Request, Response, invalid
from lambdas.api.models import LATEST, read_body
from lambdas.api.pages import list_page
from lambdas.api.query import Query
from lambdas.api.schedules.bodies import PreviewIn
from lambdas.api.schedules.ledger import ledger_page
from lambdas.api.schedules.render import touch_json
from lambdas.api.schedules.writing import Writing, evaluating
from lambdas.core.ports import Ports
from lambdas.core.recurrence.fire_times import check, fire_times
from lambdas.core.recurrence.rules import DelayRule, Recurrence
from lambdas.core.recurrence.told import describe, touched
from lambdas.core.schedules.times import upcoming
from lambdas.core.times import Millis, rfc3339
from lambdas.core.values import value

FEW, MANY = 10, 100


@value(frozen=True, slots=True)
class Telling:
    ports: Ports
    writing: Writing

    def upcoming(self, request: Request, parameters: Mapping[str, str]) -> Response:
        query = Query(request)
        count = query.number("count", FEW)
        query.done()
        if not 1 <= count <= MANY:
            raise invalid([FieldError("count", f"must be from 1 to {MANY}")])
        schedule = self.writing.find(parameters["id"])
        now = self.ports.clock.now()
        with evaluating(schedule):
            times = list(islice(upcoming(schedule, now), count))
            return Response(status=200, body=_told(schedule.plan.recurrence, now, times))

    def ledger(self, request: Request, parameters: Mapping[str, str]) -> Response:
        query = Query(request)
        limit, cursor = query.limit(), query.text("cursor")
        query.done()
        schedule = self.writing.find(parameters["id"])
        with evaluating(schedule):
            return list_page(*ledger_page(self.ports, schedule.id, limit, cursor))

    def preview(self, request: Request, _: Mapping[str, str]) -> Response:
        Query(request).done()
        wanted = read_body(PreviewIn, request.json())
        now = self.ports.clock.now()
        after = now if wanted.after is None else wanted.after
        if after - now > LATEST:
            raise invalid([FieldError("after", "must be at most 10 years ahead")])
        recurrence = wanted.recurrence(now, now)
        with wanted.refusing():
            check(recurrence, after)
            times = list(islice(_fire_times(recurrence, after), wanted.count))
        told = _told(recurrence, after, times)
        return Response(status=200, body={**told, "description": describe(recurrence)})


def _fire_times(recurrence: Recurrence, after: Millis) -> Iterator[Millis]:
    """Of a delay only the first is known, as if a run ended at that instant."""
    rule = recurrence.rules[0]
    if isinstance(rule, DelayRule):
        return iter([after + rule.delay])
    return fire_times(recurrence, after)


def _told(recurrence: Recurrence, after: Millis, times: Sequence[Millis]) -> dict[str, Any]:
    touches = touched(recurrence, after, times[-1]) if times else []
    return {
        "fire_times": [rfc3339(at) for at in times],
        "daylight_saving": touch_json(touches),
    }
