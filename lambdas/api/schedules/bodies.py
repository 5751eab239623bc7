"""The other bodies: a schedule, a note, a backfill, a preview."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StringConstraints

from lambdas.api.fields import Moment
from lambdas.api.schedules.rules import STRICT, RecurringIn
from lambdas.core.schedules.plan import Misfire, MisfirePolicy
from lambdas.core.times import YEAR, seconds

PerMinute = Annotated[float, Field(ge=1, le=6_000)]
OverlapIn = Literal["allow", "skip", "queue", "cancel"]
Note = Annotated[str, StringConstraints(max_length=256)]


class MisfireIn(BaseModel):
    model_config = STRICT

    policy: Literal["run_once", "run_all", "skip"] = "run_once"
    grace: Annotated[float, Field(ge=0, le=86_400)] = 60.0
    window: Annotated[float, Field(ge=0, le=YEAR // 1_000)] | None = None
    per_minute: PerMinute = 60.0

    def misfire(self) -> Misfire:
        return Misfire(
            policy=MisfirePolicy(self.policy),
            grace=seconds(self.grace),
            window=None if self.window is None else seconds(self.window),
            per_minute=self.per_minute,
        )


class ScheduleIn(RecurringIn):
    name: Note | None = None
    task: dict[str, Any]
    starts_at: Moment | None = None
    ends_at: Moment | None = None
    max_runs: Annotated[int, Field(ge=1, le=1_000_000_000)] | None = None
    jitter: Annotated[float, Field(ge=0, le=3_600)] = 0.0
    misfire: MisfireIn | None = None
    overlap: OverlapIn = "skip"
    pause_on_failure: Annotated[int, Field(ge=1, le=100)] | None = None


class PreviewIn(RecurringIn):
    after: Moment | None = None
    count: Annotated[int, Field(ge=1, le=100)] = 10


class NoteIn(BaseModel):
    model_config = STRICT

    note: Note | None = None


class BackfillIn(BaseModel):
    model_config = STRICT

    start: Annotated[Moment, Field(alias="from")]
    until: Annotated[Moment, Field(alias="to")]
    overlap: OverlapIn | None = None
    per_minute: PerMinute = 60.0
