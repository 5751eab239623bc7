"""Random expressions, zones and moments, the same for the same seed."""

from datetime import UTC, datetime
from random import Random

from duetime.core.recurrence import timezones as zones

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
    """Returns the instants at which the clock of a zone changes."""
    found, at = [], zones.stretch(zone, START).end
    while at < END:
        if zones.offset_at(zone, at) != zones.offset_at(zone, at - 1):
            found.append(at)
        at = zones.stretch(zone, at).end
    return found


CHANGES = {zone: changes(zone) for zone in PLACES}


def a_moment(chance: Random, zone: str) -> int:
    """Returns a moment in seconds; a third of them within two days of a clock change."""
    if CHANGES[zone] and chance.random() < 1 / 3:
        change = LOST_DAY if zone == "Pacific/Apia" else chance.choice(CHANGES[zone])
        return change + chance.choice([0, -1, 1, chance.randint(-172_800, 172_800)])
    return chance.randint(START, END)


# Days that cronsim has too, in its own notation, and days that it lacks.
DAYS_OF_CRONSIM = ("lw", "lw,15", "l,1", "20-l", "13")
WEEKDAYS_OF_CRONSIM = ("5l", "fril", "fri#l", "monday", "sunday-tuesday", "mon#1,fri", "satl,3#2")
DAYS_OF_OURS = ("l-3", "l-1,l", "1w,15w", "31w", "w16,20-l", "lw,l-30", "28w,lw")
WEEKDAYS_OF_OURS = ("mon-wed#2", "fri-mon#l", "1-5#1,sun", "sundayl,wednesday")


def an_expression(
    chance: Random, days: tuple[str, ...] = (), weekdays: tuple[str, ...] = ()
) -> list[str]:
    """Returns five fields, or six with the seconds last; a third of the days are from `days`."""
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
    for place, given in ((2, days), (4, weekdays)):
        if given and chance.random() < 1 / 3:
            fields[place] = chance.choice(given)
    return fields


def an_expression_of_ours(chance: Random) -> list[str]:
    """Returns an expression with days that croniter and cronsim lack."""
    return an_expression(
        chance, DAYS_OF_CRONSIM + DAYS_OF_OURS, WEEKDAYS_OF_CRONSIM + WEEKDAYS_OF_OURS
    )


def an_eventbridge_expression(chance: Random) -> str:
    minute = chance.choice(["0", "0/15", "*", "5,35", "50-10", "30-30", f"{chance.randint(0, 59)}"])
    hour = chance.choice(["*", "2", "20-2", "0/2", "22-4/2", "8-17", f"{chance.randint(0, 23)}"])
    day = chance.choice(["*", "1", "l", "lw", "15w", "l-3", "25-5", "1/7", "31", "13,l"])
    weekday = chance.choice(["*", "mon-fri", "2-6", "1", "7", "6l", "3#2", "l", "fri-mon", "tue#5"])
    month = chance.choice(["*", "*", "*", "jan,jul", "11-2", "2", "1/3"])
    year = chance.choice(["*", "*", "2026", "2024-2028", "2026/2", "2025,2027-2030/3", "*/4"])
    days = (day, month, "?") if chance.random() < 0.5 else ("?", month, weekday)
    return f"cron({' '.join([minute, hour, *days, year])})"


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
