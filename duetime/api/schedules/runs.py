"""/v1/schedules/{id}/trigger and /backfill: runs outside the rule."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import islice, takewhile

from duetime.api.http import FieldError, Problem, Request, Response, invalid
from duetime.api.idempotency import key_of
from duetime.api.query import Query
from duetime.api.schedules.models import BackfillIn
from duetime.api.schedules.plans import check_order
from duetime.api.schedules.writer import ScheduleWriter
from duetime.api.task_models import NothingIn, read_body
from duetime.api.tasks import submitted_response
from duetime.core.occurrence import OverlapPolicy
from duetime.core.ports import Ports
from duetime.core.schedules import changes
from duetime.core.schedules.changes import Changed
from duetime.core.schedules.fire_times import backfill_fire_times
from duetime.core.schedules.occurrence_spec import occurrence_spec
from duetime.core.schedules.schedule import OWN_RULE, Schedule
from duetime.core.times import Millis
from duetime.core.value import value
from duetime.engine.idempotency import body_hash
from duetime.engine.submission import Submission, TaskRequest

MAX_FIRE_TIMES = 10_000  # in one backfill
COUNT_LIMIT = 20_000  # an error does not count further than this
MAX_BACKFILLS = 10  # in progress at the same time


@value(frozen=True, slots=True)
class ScheduleRuns:
    ports: Ports
    writer: ScheduleWriter
    submission: Submission

    def trigger(self, request: Request, parameters: Mapping[str, str]) -> Response:
        Query(request).done()
        key = key_of(request)
        if request.body.strip():
            read_body(NothingIn, request.json())
        schedule = self.writer.find(parameters["id"])
        now = self.ports.clock.now()
        overlap = schedule.plan.overlap
        spec = occurrence_spec(schedule, now, run_at=now, overlap=overlap, version=None)
        wanted = TaskRequest(
            spec=replace(spec, idempotency_key=key),
            body_hash=body_hash({"trigger": schedule.id}) if key else "",
        )
        (submitted,) = self.submission.submit([wanted])
        return submitted_response(submitted)

    def backfill(self, request: Request, parameters: Mapping[str, str]) -> Response:
        Query(request).done()
        wanted = read_body(BackfillIn, request.json())
        span_id = self.ports.chance.new_id(self.ports.clock.now())
        found = 0

        def step(schedule: Schedule, now: Millis) -> Changed | None:
            nonlocal found
            _check_backfill(schedule, wanted, now)
            overlap = OverlapPolicy(wanted.overlap or schedule.plan.overlap)
            check_order(schedule.plan.task, overlap)
            found = _count(schedule, wanted)
            if found == 0:
                return None
            filled = changes.backfill(
                self.ports.wake_policy,
                schedule,
                span_id,
                start=wanted.start,
                until=wanted.until,
                overlap=overlap,
                per_minute=wanted.per_minute,
                now=now,
            )
            return Changed(schedule=filled)

        self.writer.bring_forward(self.writer.replace(parameters["id"], step))
        return Response(status=202, body={"fire_times": found})


def _check_backfill(schedule: Schedule, wanted: BackfillIn, now: Millis) -> None:
    errors = []
    if wanted.until > now:
        errors.append(
            FieldError("to", "must not be in the future: the schedule itself runs those fire times")
        )
    if wanted.until <= wanted.start:
        errors.append(FieldError("to", "must be after from"))
    if schedule.plan.delay is not None:
        message = "a rule of type delay has no fire times in the past"
        errors.append(FieldError("rule", message))
    if errors:
        raise invalid(errors)
    in_progress = sum(span.id != OWN_RULE for span in schedule.spans)
    if in_progress >= MAX_BACKFILLS:
        detail = (
            f"Schedule {schedule.id} has {in_progress} backfills in progress; wait for one to end."
        )
        raise Problem(409, "state-conflict", "Too many backfills", detail)


def _count(schedule: Schedule, wanted: BackfillIn) -> int:
    times = backfill_fire_times(schedule.plan, wanted.start)
    within = takewhile(lambda at: at < wanted.until, times)
    found = sum(1 for _ in islice(within, COUNT_LIMIT + 1))
    if found > MAX_FIRE_TIMES:
        number = f"{found:,}" if found <= COUNT_LIMIT else f"more than {COUNT_LIMIT:,}"
        message = f"the span has {number} fire times; a backfill takes at most {MAX_FIRE_TIMES:,}"
        raise invalid([FieldError("to", message)])
    return found
