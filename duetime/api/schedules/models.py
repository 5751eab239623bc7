"""Rules and exclusions as submitted, and what is wrong with them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from lambdas.api.fields import Moment
from lambdas.api.http import FieldError, invalid
from lambdas.api.models import LATEST
from lambdas.core.recurrence.rules import (
    BadRule,
    CronRule,
    DayMatch,
    DelayRule,
    ExcludedDates,
    Exclusion,
    Gap,
    Overlap,
    RateRule,
    Recurrence,
    Seconds,
)
from lambdas.core.times import YEAR, Millis, seconds

STRICT = ConfigDict(extra="forbid", strict=True)

Interval = Annotated[float, Field(ge=1, le=YEAR // 1_000)]
Zone = Annotated[str, StringConstraints(max_length=64)]
Expression = Annotated[str, StringConstraints(max_length=1_000)]
Date = Annotated[str, StringConstraints(max_length=10)]


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
        from lambdas.core.recurrence.eventbridge import with_rate

        return with_rate(self._cron(), now)

    def exclusion(self) -> Exclusion:
        return self._cron()

    def _cron(self) -> CronRule:
        gap, overlap = (self.dst.gap, self.dst.overlap) if self.dst else (None, None)
        return CronRule(
            expression=self.expression,
            timezone=self._zone(),
            gap=Gap(gap) if gap else None,
            overlap=Overlap(overlap) if overlap else None,
            seconds=Seconds(self.seconds) if self.seconds else None,
            days=DayMatch(self.days or "either"),
        )

    def _zone(self) -> str:
        from lambdas.core.recurrence.language import zone_of

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
    """What every body that has rules has in it."""

    model_config = STRICT

    rule: RuleIn | None = None
    rules: Annotated[list[RuleIn], Field(min_length=1, max_length=10)] | None = None
    exclude: Annotated[list[ExclusionIn], Field(max_length=50)] = []

    def recurrence(self, anchor: Millis, now: Millis) -> Recurrence:
        """`anchor` is that of a rate which names none."""
        if errors := [*self._which(), *self._stands_alone(), *self._anchors(now)]:
            raise invalid(errors)
        return Recurrence(
            rules=tuple(rule.rule(anchor) for rule in self._given()),
            exclude=tuple(exclusion.exclusion() for exclusion in self.exclude),
        )

    def field_of(self, bad: BadRule) -> str:
        """The field that a complaint is about, as it was submitted."""
        if bad.part == "exclude":
            return "exclude" if bad.index is None else f"exclude.{bad.index}.{bad.field}"
        if self.rules is None:
            return f"rule.{bad.field}"
        return "rules" if bad.index is None else f"rules.{bad.index}.{bad.field}"

    @contextmanager
    def refusing(self) -> Iterator[None]:
        """Whatever a rule is found to be wrong about is told under the name of its field."""
        try:
            yield
        except BadRule as bad:
            at = "" if bad.position is None else f" (at position {bad.position})"
            error = FieldError(self.field_of(bad), f"{bad.reason}{at}", bad.position)
            raise invalid([error]) from None

    def _given(self) -> Sequence[CronIn | RateIn | DelayIn]:
        return self.rules or ([self.rule] if self.rule else [])

    def _which(self) -> list[FieldError]:
        if self.rule is None and self.rules is None:
            return [FieldError("rule", "required: give rule, or rules")]
        both = self.rule is not None and self.rules is not None
        return [FieldError("rules", "give rule or rules, not both")] if both else []

    def _stands_alone(self) -> list[FieldError]:
        if not any(isinstance(rule, DelayIn) for rule in self._given()):
            return []
        errors = []
        if len(self._given()) > 1:
            errors.append(FieldError("rules", "a rule of type delay stands alone"))
        if self.exclude:
            errors.append(FieldError("exclude", "does not go with a rule of type delay"))
        return errors

    def _anchors(self, now: Millis) -> list[FieldError]:
        name = "rule" if self.rules is None else "rules.{}"
        return [
            FieldError(f"{name.format(n)}.anchor", "must be at most 10 years ahead")
            for n, rule in enumerate(self._given())
            if isinstance(rule, RateIn) and rule.anchor and rule.anchor - now > LATEST
        ]
