"""/v1/schedules/{id}/trigger and /backfill: runs outside the ordinary course."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import islice, takewhile

from lambdas.api.http import FieldError, Problem, Request, Response, invalid
from lambdas.api.models import NothingIn, read_body
from lambdas.api.query import Query
from lambdas.api.schedules.bodies import BackfillIn
from lambdas.api.schedules.keys import key_of
from lambdas.api.schedules.writing import Writing
from lambdas.api.submission import Submission, Wanted, body_hash
from lambdas.api.tasks import submitted_response
from lambdas.core.occurrence import OverlapPolicy
from lambdas.core.ports import Ports
from lambdas.core.schedules import changes
from lambdas.core.schedules.changes import Changed
from lambdas.core.schedules.occurrences import occurrence_spec
from lambdas.core.schedules.schedule import MISSED, Schedule
from lambdas.core.schedules.times import from_of_old
from lambdas.core.times import Millis
from lambdas.core.values import value

MOST_FIRE_TIMES = 10_000  # in one backfill
COUNTED = 20_000  # beyond that, how many too many is not worth the time
MOST_BACKFILLS = 10  # under way at the same time


@value(frozen=True, slots=True)
class Running:
    ports: Ports
    writing: Writing
    submission: Submission

    def trigger(self, request: Request, parameters: Mapping[str, str]) -> Response:
        Query(request).done()
        key = key_of(request)
        if request.body.strip():
            read_body(NothingIn, request.json())
        schedule = self.writing.find(parameters["id"])
        now = self.ports.clock.now()
        overlap = schedule.plan.overlap
        spec = occurrence_spec(schedule, now, run_at=now, overlap=overlap, version=None)
        wanted = Wanted(
            spec=replace(spec, idempotency_key=key),
            body_hash=body_hash({"trigger": schedule.id}) if key else "",
        )
        (submitted,) = self.submission.submit([wanted])
        if isinstance(submitted, Problem):
            raise submitted
        return submitted_response(submitted)

    def backfill(self, request: Request, parameters: Mapping[str, str]) -> Response:
        Query(request).done()
        wanted = read_body(BackfillIn, request.json())
        span_id = self.ports.chance.new_id(self.ports.clock.now())
        found = 0

        def step(schedule: Schedule, now: Millis) -> Changed | None:
            nonlocal found
            _check_backfill(schedule, wanted, now)
            found = _count(schedule, wanted)
            if found == 0:
                return None
            overlap = wanted.overlap and OverlapPolicy(wanted.overlap)
            filled = changes.backfill(
                self.ports.rules,
                schedule,
                span_id,
                start=wanted.start,
                until=wanted.until,
                overlap=overlap or schedule.plan.overlap,
                per_minute=wanted.per_minute,
                now=now,
            )
            return Changed(schedule=filled)

        self.writing.bring_forward(self.writing.replace(parameters["id"], step))
        return Response(status=202, body={"fire_times": found})


def _check_backfill(schedule: Schedule, wanted: BackfillIn, now: Millis) -> None:
    errors = []
    if wanted.until > now:
        errors.append(FieldError("to", "must not be in the future: the schedule sees to that"))
    if wanted.until <= wanted.start:
        errors.append(FieldError("to", "must be after from"))
    if schedule.plan.delay is not None:
        message = "a rule of type delay has no fire times in the past"
        errors.append(FieldError("rule", message))
    if errors:
        raise invalid(errors)
    under_way = sum(span.id != MISSED for span in schedule.spans)
    if under_way >= MOST_BACKFILLS:
        detail = f"Schedule {schedule.id} has {under_way} backfills under way; wait for one to end."
        raise Problem(409, "state-conflict", "Too many backfills", detail)


def _count(schedule: Schedule, wanted: BackfillIn) -> int:
    times = from_of_old(schedule.plan, wanted.start)
    within = takewhile(lambda at: at < wanted.until, times)
    found = sum(1 for _ in islice(within, COUNTED + 1))
    if found > MOST_FIRE_TIMES:
        told = f"{found:,}" if found <= COUNTED else f"more than {COUNTED:,}"
        message = f"that is {told} fire times; a backfill takes {MOST_FIRE_TIMES:,}"
        raise invalid([FieldError("to", message)])
    return found
