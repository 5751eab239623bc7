"""Time zones, divided into stretches of constant UTC offset.

The data always comes from the tzdata package, never from the machine, so that all machines agree.
Times are whole seconds.
"""

from datetime import UTC, datetime
from functools import cache, lru_cache
from importlib.resources import files
from zoneinfo import ZoneInfo

from duetime.core.recurrence.rules import BadRule
from duetime.core.value import value

BLOCK = 1 << 25  # seconds, a little over a year: searched at once
PROBE = 3 * 86_400  # since 1970 no clock was changed twice within six days; a test checks it
EARLIEST = int(datetime(2, 1, 1, tzinfo=UTC).timestamp())
LATEST = int(datetime(9998, 12, 31, tzinfo=UTC).timestamp())


@value(frozen=True, kw_only=True, slots=True)
class Stretch:
    """A time from `begin` to `end` in which local time is UTC plus `offset` seconds.

    `before` and `after` are the neighbouring offsets. They equal `offset` where the search ended,
    at least a block away from the requested time.
    """

    begin: int
    end: int
    offset: int
    before: int
    after: int

    @property
    def second_pass_until(self) -> int:
        """Until then the clock repeats local times from before it was put back."""
        return self.begin + max(self.before - self.offset, 0)

    @property
    def first_pass_from(self) -> int:
        """From then on the clock shows local times that it repeats after it is put back."""
        return self.end - max(self.offset - self.after, 0)


def stretch(zone: str, at: int) -> Stretch:
    """Returns the stretch that contains this instant."""
    return next(found for found in _around(zone, at // BLOCK) if at < found.end)


@lru_cache(maxsize=4_096)
def _around(zone: str, block: int) -> tuple[Stretch, ...]:
    """Returns the stretches of a block and its two neighbours."""
    start, end = (block - 1) * BLOCK, (block + 2) * BLOCK
    changes = [change for b in (block - 1, block, block + 1) for change in _changes(zone, b)]
    edges = [start, *changes, end]
    offsets = [offset_at(zone, edge) for edge in edges[:-1]]
    befores, afters = [offsets[0], *offsets[:-1]], [*offsets[1:], offsets[-1]]
    return tuple(
        Stretch(begin=begin, end=end, offset=offset, before=before, after=after)
        for begin, end, offset, before, after in zip(
            edges[:-1], edges[1:], offsets, befores, afters, strict=True
        )
    )


@lru_cache(maxsize=4_096)
def _changes(zone: str, block: int) -> tuple[int, ...]:
    """Returns the instants in (start, start + BLOCK] at which the offset changes."""
    if zone == "UTC":
        return ()
    start = block * BLOCK
    probes = [*range(start, start + BLOCK, PROBE), start + BLOCK]
    offsets = [offset_at(zone, probe) for probe in probes]
    return tuple(
        _change_between(zone, probes[i], probes[i + 1])
        for i in range(len(probes) - 1)
        if offsets[i] != offsets[i + 1]
    )


def _change_between(zone: str, before: int, after: int) -> int:
    offset = offset_at(zone, before)
    while after - before > 1:
        middle = (before + after) // 2
        if offset_at(zone, middle) == offset:
            before = middle
        else:
            after = middle
    return after


def offset_at(zone: str, at: int) -> int:
    within = min(max(at, EARLIEST), LATEST)
    offset = datetime.fromtimestamp(within, load(zone)).utcoffset()
    assert offset is not None
    return offset.days * 86_400 + offset.seconds


@cache  # as many as there are zones
def load(zone: str) -> ZoneInfo:
    if zone not in names():
        raise BadRule("timezone", f"{zone!r} is not a time zone{_suggestion(zone)}")
    with files("tzdata").joinpath("zoneinfo", *zone.split("/")).open("rb") as data:
        return ZoneInfo.from_file(data, key=zone)


@lru_cache(maxsize=1)
def names() -> frozenset[str]:
    return frozenset(files("tzdata").joinpath("zones").read_text().split())


def _suggestion(zone: str) -> str:
    """Suggests a name that differs in case or a typo, or that lacks its continent."""
    from difflib import get_close_matches

    known = {name.lower(): name for name in sorted(names())}
    cities = {name.lower().rpartition("/")[2]: name for name in sorted(names(), reverse=True)}
    wanted = zone.lower().replace(" ", "_")
    for table in (known, cities):
        near = get_close_matches(wanted, table, n=1, cutoff=0.8)
        if near:
            return f"; did you mean {table[near[0]]}?"
    return "; it takes an IANA name such as Europe/Berlin"
