"""The rules of a recurrence. Plain values, cheap to import."""

from enum import StrEnum
from typing import Literal

from duetime.core.errors import DuetimeError
from duetime.core.times import Millis
from duetime.core.value import value

Part = Literal["rules", "exclude"]


class DstGap(StrEnum):
    """What happens to a local time that does not exist because the clock is put forward."""

    SKIP = "skip"
    SHIFT = "shift"  # it moves to the first instant after the gap


class DstOverlap(StrEnum):
    """Which one is meant of a local time that exists twice because the clock is put back."""

    FIRST = "first"
    LAST = "last"
    BOTH = "both"


class Seconds(StrEnum):
    """The position of the seconds in an expression of six fields, on which crons disagree."""

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
    gap: DstGap | None = None  # None: depends on the expression, see `cron.default_dst`
    overlap: DstOverlap | None = None
    seconds: Seconds | None = None  # None: the expression has no field for them
    days: DayMatch = DayMatch.EITHER


@value(frozen=True, kw_only=True, slots=True)
class RateRule:
    """Fires at the anchor and then at a fixed interval, independent of the duration of runs."""

    every: Millis
    anchor: Millis


@value(frozen=True, kw_only=True, slots=True)
class DelayRule:
    """Fires a fixed time after the previous run ended; no fire time is known before that."""

    delay: Millis


@value(frozen=True, kw_only=True, slots=True)
class ExcludedDates:
    """Whole local days, such as holidays, each written as 2026-12-25."""

    dates: tuple[str, ...]
    timezone: str = "UTC"


Rule = CronRule | RateRule | DelayRule
Exclusion = CronRule | ExcludedDates


@value(frozen=True, kw_only=True, slots=True)
class Recurrence:
    """Fires at every instant at which a rule fires and no exclusion matches."""

    rules: tuple[Rule, ...]
    exclude: tuple[Exclusion, ...] = ()


class BadRule(DuetimeError, ValueError):
    """An invalid rule; `reason` is shown to the user."""

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
        self.position = position  # of the faulty field in the expression, from 1
        self.part = part
        self.index = index  # which of the rules, or of the exclusions

    def of(self, part: Part, index: int) -> "BadRule":
        return BadRule(self.field, self.reason, position=self.position, part=part, index=index)
