"""The zones of the tzdata package, and every clock change in them."""

import struct
import zoneinfo
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from shutil import copy

import pytest

from duetime.core.recurrence import timezones as zones
from tests.core.recurrence.strategies import PLACES

FROM, TO = 0, 2**31  # 1970 to 2038: the files list these changes one by one


def data(zone: str) -> bytes:
    return files("tzdata").joinpath("zoneinfo", *zone.split("/")).read_bytes()


def listed_changes(zone: str) -> list[int]:
    """Reads the changes from the file itself (RFC 8536): the second block, with 8-byte times."""
    raw = data(zone)
    first = struct.unpack(">6l", raw[20:44])
    start = 44 + first[3] * 5 + first[4] * 6 + first[5] + first[2] * 8 + first[1] + first[0]
    *_, times, types, _ = struct.unpack(">6l", raw[start + 20 : start + 44])
    at = start + 44
    instants = struct.unpack(f">{times}q", raw[at : at + 8 * times])
    which = raw[at + 8 * times : at + 9 * times]
    table = at + 9 * times
    offsets = [struct.unpack(">l", raw[table + 6 * i : table + 6 * i + 4])[0] for i in range(types)]
    after = [offsets[index] for index in which]
    return [
        instant
        for instant, (before, now) in zip(instants, pairwise([offsets[0], *after]), strict=True)
        if before != now and FROM < instant < TO
    ]


def found_changes(zone: str, until: int) -> list[int]:
    found, now = [], zones.stretch(zone, FROM)
    while now.end < until:
        if now.after != now.offset:
            found.append(now.end)
        now = zones.stretch(zone, now.end)
    return found


@pytest.mark.long
def test_every_change_of_every_clock_is_found():
    """The file may list fewer years, so the comparison ends with its last change."""
    seen = 0
    distinct = {data(zone): zone for zone in sorted(zones.names())}
    for zone in distinct.values():
        expected = listed_changes(zone)
        until = expected[-1] + 1 if expected else 0
        assert found_changes(zone, until) == expected, zone
        seen += len(expected)
    assert seen > 10_000


@pytest.mark.parametrize("zone", PLACES)
def test_stretch_contains_its_instant_and_has_the_offsets_of_its_neighbours(zone):
    for at in range(0, 2**31, 9_999_991):
        now = zones.stretch(zone, at)
        assert now.begin <= at < now.end
        assert now.offset == zones.offset_at(zone, at) == zones.offset_at(zone, now.end - 1)
        assert now.before == zones.offset_at(zone, now.begin - 1) or now.before == now.offset
        assert now.after == zones.offset_at(zone, now.end) or now.after == now.offset


@pytest.mark.parametrize("at", [zones.EARLIEST - 10**9, zones.LATEST + 10**9])
def test_beyond_the_calendar_the_offset_stays_as_it_was(at):
    now = zones.stretch("Europe/Berlin", at)

    assert now.begin <= at < now.end


def test_time_zones_of_the_machine_are_not_used(tmp_path: Path):
    """Simulates a machine whose zone data has Kolkata's time for Berlin."""
    (tmp_path / "Europe").mkdir()
    copy(str(files("tzdata").joinpath("zoneinfo", "Asia", "Kolkata")), tmp_path / "Europe/Berlin")
    summer = 1_780_000_000
    zones.load.cache_clear()
    zoneinfo.reset_tzpath(to=[str(tmp_path)])
    try:
        assert zoneinfo.ZoneInfo.no_cache("Europe/Berlin").key == "Europe/Berlin"
        assert zones.offset_at("Europe/Berlin", summer) == 7_200
    finally:
        zoneinfo.reset_tzpath()


def test_every_name_of_the_package_can_be_loaded():
    assert len(zones.names()) > 500
    for name in zones.names():
        assert zones.load(name).key == name
