"""The models of a forecast and of a quota."""

from duetime.api.openapi.answers import AnswerModel, Time


class LaneCounts(AnswerModel):
    """How many of the tasks are in each lane."""

    high: int
    medium: int
    low: int


class DueCount(AnswerModel):
    """How many tasks come due."""

    count: int
    """Tasks and occurrences together."""
    tasks: int
    """Stored tasks that are still to start."""
    occurrences: int
    """Fire times of active schedules that are not tasks yet."""
    lanes: LaneCounts | None = None
    """With `by=lane`: `count`, by lane."""


class DueMinute(DueCount):
    """What comes due in one minute."""

    minute: Time
    """Its start."""


class Forecast(AnswerModel):
    """What comes due in the next hours."""

    looked_from: Time
    """The counts are complete from here on."""
    looked_until: Time
    """The counts are complete up to here. The minute that begins here or has it may have more."""
    complete: bool
    """Whether they are complete from now on for all the hours that were asked for."""
    total: DueCount
    peak: DueMinute | None
    """The fullest minute, the first of several; null if nothing comes due."""
    minutes: list[DueMinute]
    """The minutes in which something comes due, in order."""


class Quota(AnswerModel):
    """The quota of a namespace. Null: there is no such limit."""

    namespace: str
    submissions_per_second: float | None
    burst: int | None
    stored_tasks: int | None
    stored: int | None
    """How many tasks it has stored; null also if they are not counted yet."""
