"""The call for a forecast, and the types of its JSON."""

from typing import Literal, NotRequired, TypedDict

from duetime.client.calls import Call, ask


class DueCount(TypedDict):
    """How many tasks come due: stored ones, and occurrences that are not tasks yet."""

    count: int  # both
    tasks: int
    occurrences: int
    lanes: NotRequired[dict[str, int]]  # with by="lane": `count` by lane


class DueMinute(DueCount):
    minute: str  # its start


class Forecast(TypedDict):
    """What comes due. The counts are complete from `looked_from` to before `looked_until`."""

    looked_from: str
    looked_until: str
    complete: bool  # whether that is all that was asked for
    total: DueCount
    peak: DueMinute | None  # the fullest minute; None: nothing is due
    minutes: list[DueMinute]  # without those in which nothing is due


def forecast(
    hours: int | None, by: Literal["lane"] | None, namespace: str | None
) -> Call[Forecast]:
    return ask("GET", "/v1/forecast", query={"hours": hours, "by": by, "namespace": namespace})
