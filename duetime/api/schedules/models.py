"""Request bodies: a schedule and its rules, a note, a backfill, a preview."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from duetime.api.http import FieldError, invalid
from duetime.api.validation import Moment, Word
from duetime.core.recurrence.rules import (
    BadRule,
    CronRule,
    DayMatch,
    DelayRule,
    DstGap,
    DstOverlap,
    ExcludedDates,
    Exclusion,
    RateRule,
    Recurrence,
    Seconds,
)
from duetime.core.schedules.plan import Misfire, MisfirePolicy
from duetime.core.task import MAX_AHEAD
from duetime.core.times import YEAR, Millis, seconds

MAX_DECLARED = 1_000  # schedules of one app
STRICT = ConfigDict(extra="forbid", strict=True)

Interval = Annotated[float, Field(ge=1, le=YEAR // 1_000)]
Zone = Annotated[str, StringConstraints(max_length=64)]
Expression = Annotated[str, StringConstraints(max_length=1_000)]
Date = Annotated[str, StringConstraints(max_length=10)]
PerMinute = Annotated[float, Field(ge=1, le=6_000)]
OverlapIn = Literal["allow", "skip", "queue", "cancel"]
Note = Annotated[str, StringConstraints(max_length=256)]


class DstIn(BaseModel):
    model_config = STRICT

    gap: Literal["skip", "shift"] | None = None
    overlap: Literal["first", "last", "both"] | None = None


class CronIn(BaseModel):
    model_config = STRICT

    type: Literal["cron"]
    expression: Expression
    timezone: Zone | None = None
    seconds: Literal["first", "last"] | None = None
    days: Literal["either", "both"] | None = None
    dst: DstIn | None = None

    def rule(self, now: Millis) -> CronRule | RateRule:
        from duetime.core.recurrence.eventbridge import with_rate

        return with_rate(self._cron(), now)

    def exclusion(self) -> Exclusion:
        return self._cron()

    def _cron(self) -> CronRule:
        gap, overlap = (self.dst.gap, self.dst.overlap) if self.dst else (None, None)
        return CronRule(
            expression=self.expression,
            timezone=self._zone(),
            gap=DstGap(gap) if gap else None,
            overlap=DstOverlap(overlap) if overlap else None,
            seconds=Seconds(self.seconds) if self.seconds else None,
            days=DayMatch(self.days or "either"),
        )

    def _zone(self) -> str:
        from duetime.core.recurrence.cron_syntax import zone_of

        return zone_of(self.expression) or "UTC" if self.timezone is None else self.timezone


class RateIn(BaseModel):
    model_config = STRICT

    type: Literal["rate"]
    every: Interval
    anchor: Moment | None = None

    def rule(self, now: Millis) -> RateRule:
        return RateRule(
            every=seconds(self.every), anchor=now if self.anchor is None else self.anchor
        )


class DelayIn(BaseModel):
    model_config = STRICT

    type: Literal["delay"]
    delay: Interval

    def rule(self, now: Millis) -> DelayRule:  # noqa: ARG002
        return DelayRule(delay=seconds(self.delay))


class DatesIn(BaseModel):
    model_config = STRICT

    type: Literal["dates"]
    dates: Annotated[list[Date], Field(min_length=1, max_length=366)]
    timezone: Zone = "UTC"

    def exclusion(self) -> Exclusion:
        return ExcludedDates(dates=tuple(self.dates), timezone=self.timezone)


RuleIn = Annotated[CronIn | RateIn | DelayIn, Field(discriminator="type")]
ExclusionIn = Annotated[CronIn | DatesIn, Field(discriminator="type")]


class RecurringIn(BaseModel):
    """The fields of every body that has rules."""

    model_config = STRICT

    rule: RuleIn | None = None
    rules: Annotated[list[RuleIn], Field(min_length=1, max_length=10)] | None = None
    exclude: Annotated[list[ExclusionIn], Field(max_length=50)] = []

    def recurrence(self, anchor: Millis, now: Millis) -> Recurrence:
        """`anchor` is for a rate that has none."""
        if errors := [*self._rule_errors(), *self._delay_errors(), *self._anchor_errors(now)]:
            raise invalid(errors)
        return Recurrence(
            rules=tuple(rule.rule(anchor) for rule in self._rules()),
            exclude=tuple(exclusion.exclusion() for exclusion in self.exclude),
        )

    def field_of(self, bad: BadRule) -> str:
        """Returns the path of the submitted field that a bad rule comes from."""
        if bad.part == "exclude":
            return "exclude" if bad.index is None else f"exclude.{bad.index}.{bad.field}"
        if self.rules is None:
            return f"rule.{bad.field}"
        return "rules" if bad.index is None else f"rules.{bad.index}.{bad.field}"

    @contextmanager
    def refusing_bad_rules(self) -> Iterator[None]:
        """Turns a BadRule into an error of the submitted field."""
        try:
            yield
        except BadRule as bad:
            at = "" if bad.position is None else f" (at position {bad.position})"
            error = FieldError(self.field_of(bad), f"{bad.reason}{at}", bad.position)
            raise invalid([error]) from None

    def _rules(self) -> Sequence[CronIn | RateIn | DelayIn]:
        return self.rules or ([self.rule] if self.rule else [])

    def _rule_errors(self) -> list[FieldError]:
        if self.rule is None and self.rules is None:
            return [FieldError("rule", "required: give rule, or rules")]
        both = self.rule is not None and self.rules is not None
        return [FieldError("rules", "give rule or rules, not both")] if both else []

    def _delay_errors(self) -> list[FieldError]:
        if not any(isinstance(rule, DelayIn) for rule in self._rules()):
            return []
        errors = []
        if len(self._rules()) > 1:
            errors.append(FieldError("rules", "a rule of type delay must be the only rule"))
        if self.exclude:
            errors.append(FieldError("exclude", "does not go with a rule of type delay"))
        return errors

    def _anchor_errors(self, now: Millis) -> list[FieldError]:
        name = "rule" if self.rules is None else "rules.{}"
        return [
            FieldError(f"{name.format(n)}.anchor", "must be at most 10 years ahead")
            for n, rule in enumerate(self._rules())
            if isinstance(rule, RateIn) and rule.anchor and rule.anchor - now > MAX_AHEAD
        ]


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


class AppIn(BaseModel):
    model_config = STRICT

    app: Word


class SyncIn(AppIn):
    generation: Annotated[int, Field(ge=1)] | None = None
    schedules: Annotated[list[dict[str, Any]], Field(max_length=MAX_DECLARED)]
    prune: bool = False
    allow_empty: bool = False
    retire: bool = False
    dry_run: bool = False


class DeclaredIn(ScheduleIn):
    """A schedule as the code declares it."""

    name: Annotated[Note, StringConstraints(min_length=1)]
    source: Annotated[Note, StringConstraints(min_length=1)]


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
