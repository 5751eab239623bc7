"""What a schedule may say about when it fires. Values only: nothing here is slow to import."""

from enum import StrEnum
from typing import Literal

from lambdas.core.errors import DuetimeError
from lambdas.core.times import Millis
from lambdas.core.values import value

Part = Literal["rules", "exclude"]


class Gap(StrEnum):
    """What becomes of a local time that does not exist because the clock is put forward."""

    SKIP = "skip"
    SHIFT = "shift"  # to the first instant after the gap


class Overlap(StrEnum):
    """Which of the two is meant when a local time exists twice because the clock is put back."""

    FIRST = "first"
    LAST = "last"
    BOTH = "both"


class Seconds(StrEnum):
    """Where the seconds are in an expression of six fields: crons disagree."""

    FIRST = "first"
    LAST = "last"


class DayMatch(StrEnum):
    """What a day must match if both the day of the month and the weekday are restricted."""

    EITHER = "either"
    BOTH = "both"


@value(frozen=True, kw_only=True, slots=True)
class CronRule:
    expression: str
    timezone: str = "UTC"
    gap: Gap | None = None  # None: as the expression has it, see `cron.daylight`
    overlap: Overlap | None = None
    seconds: Seconds | None = None  # None: the expression has no field for them
    days: DayMatch = DayMatch.EITHER


@value(frozen=True, kw_only=True, slots=True)
class RateRule:
    """At the anchor and every so often after it, whatever a run takes."""

    every: Millis
    anchor: Millis


@value(frozen=True, kw_only=True, slots=True)
class DelayRule:
    """So long after the previous run ended: no fire time is known before that."""

    delay: Millis


@value(frozen=True, kw_only=True, slots=True)
class ExcludedDates:
    """Whole local days, such as holidays, each like "2026-12-25"."""

    dates: tuple[str, ...]
    timezone: str = "UTC"


Rule = CronRule | RateRule | DelayRule
Exclusion = CronRule | ExcludedDates


@value(frozen=True, kw_only=True, slots=True)
class Recurrence:
    """Fires whenever one of the rules does, once, unless an exclusion matches that instant."""

    rules: tuple[Rule, ...]
    exclude: tuple[Exclusion, ...] = ()


class BadRule(DuetimeError, ValueError):
    """A rule that cannot be followed, in words for whoever wrote it."""

    def __init__(
        self,
        field: str,
        reason: str,
        *,
        position: int | None = None,
        part: Part | None = None,
        index: int | None = None,
    ) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason
        self.position = position  # in the expression, from 1: where the field at fault begins
        self.part = part
        self.index = index  # which of the rules, or of the exclusions

    def of(self, part: Part, index: int) -> "BadRule":
        return BadRule(self.field, self.reason, position=self.position, part=part, index=index)
