"""Random expressions, zones and moments, the same for the same seed."""

from datetime import UTC, datetime
from random import Random

from lambdas.core.recurrence import zones

PLACES = (
    "Europe/Berlin",
    "America/New_York",
    "America/Santiago",  # puts its clock forward at midnight
    "America/Nuuk",  # puts its clock forward to midnight
    "Australia/Lord_Howe",  # by half an hour
    "Africa/Casablanca",  # for Ramadan
    "Asia/Kolkata",
    "Pacific/Apia",  # had no 2011-12-30
    "UTC",
)
START = int(datetime(2005, 1, 1, tzinfo=UTC).timestamp())
END = int(datetime(2036, 1, 1, tzinfo=UTC).timestamp())
LOST_DAY = int(datetime(2011, 12, 30, 10, tzinfo=UTC).timestamp())
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]


def changes(zone: str) -> list[int]:
    """The instants at which the clock of a zone is changed."""
    found, at = [], zones.stretch(zone, START).end
    while at < END:
        if zones.offset_at(zone, at) != zones.offset_at(zone, at - 1):
            found.append(at)
        at = zones.stretch(zone, at).end
    return found


CHANGES = {zone: changes(zone) for zone in PLACES}


def a_moment(chance: Random, zone: str) -> int:
    """In seconds; a third of them within two days of a change of the clock."""
    if CHANGES[zone] and chance.random() < 1 / 3:
        change = LOST_DAY if zone == "Pacific/Apia" else chance.choice(CHANGES[zone])
        return change + chance.choice([0, -1, 1, chance.randint(-172_800, 172_800)])
    return chance.randint(START, END)


def an_expression(chance: Random) -> list[str]:
    """Five fields, or six with the seconds last."""
    fields = [
        a_field(chance, 0, 59, "*", "0", "*/5", "*/15", "30"),
        a_field(chance, 0, 23, "*", "0", "2", "1-3", "*/2", "3"),
        a_field(chance, 1, 28, "*", "*", "*", "l", "1", "31"),
        chance.choice(["*"] * 6 + [a_field(chance, 1, 12, *MONTHS, "jun-aug")]),
        a_field(
            chance,
            0,
            7,
            "*",
            "*",
            "*",
            "1-5",
            "mon",
            "sun",
            f"{a_weekday(chance)}#{chance.randint(1, 5)}",
            f"l{chance.randint(0, 7)}",
        ),
    ]
    if chance.random() < 0.2:
        fields.append(a_field(chance, 0, 59, "0", "*/10", "*", "30"))
    return fields


def a_weekday(chance: Random) -> str:
    return chance.choice([*WEEKDAYS, *"01234567"])


def a_field(chance: Random, low: int, high: int, *usual: str) -> str:
    kind = chance.random()
    if kind < 0.55:
        return chance.choice(usual)
    if kind < 0.7:
        return f"*/{chance.randint(1, high)}"
    entries = [an_entry(chance, low, high) for _ in range(chance.choice([1, 1, 2, 3]))]
    return ",".join(entries)


def an_entry(chance: Random, low: int, high: int) -> str:
    first = chance.randint(low, high)
    if first < high - 1 and chance.random() < 0.4:
        span = f"{first}-{chance.randint(first + 1, high)}"
        return span if chance.random() < 0.5 else f"{span}/{chance.randint(1, 7)}"
    return str(first)
