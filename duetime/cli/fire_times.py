"""Tables of fire times, in their time zone and with notes on daylight saving."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from duetime.cli import format as fmt
from duetime.core.recurrence.rules import BadRule

if TYPE_CHECKING:
    from duetime.client import Upcoming


def table(upcoming: "Upcoming", zone: tzinfo | None, now: datetime) -> Table:
    """A local time that daylight saving skips has a row too, which says why it does not run."""
    rows = Table(box=None, show_header=False, pad_edge=False)
    for _ in ("when", "how far away"):
        rows.add_column(no_wrap=True)
    for at, fires, notes in _rows(upcoming):
        away = fmt.relative(at, now) if fires else "not run"
        cells = [Text(clock_time(at, zone), style="" if fires else "dim strike")]
        cells += [Text(away, style="dim"), *([Text(notes, style="yellow")] if notes else [])]
        rows.add_row(*cells)
    return rows


def _rows(upcoming: "Upcoming") -> Iterator[tuple[str, bool, str]]:
    fires = {datetime.fromisoformat(at): at for at in upcoming["fire_times"]}
    notes: dict[datetime, list[str]] = {}
    for dst_note in upcoming["daylight_saving"]:
        at = datetime.fromisoformat(dst_note["at"])
        notes.setdefault(at, []).append(dst_note["note"])
    for at in sorted(fires.keys() | notes.keys()):
        yield at.isoformat(), at in fires, "; ".join(notes.get(at, []))


def clock_time(at: str, zone: tzinfo | None, *, weekday: bool = True) -> str:
    """Returns a time on the clock of a zone, or of this machine if there is none."""
    local = datetime.fromisoformat(at).astimezone(zone)
    time = f"{local:%a %Y-%m-%d %H:%M:%S}" if weekday else f"{local:%Y-%m-%d %H:%M:%S}"
    return f"{time} {local.isoformat()[-6:]}"


def zone_of(rules: Sequence[Mapping[str, Any]]) -> tzinfo | None:
    """Returns the zone of the cron rules, or None if they have none or several."""
    names = {rule.get("timezone", "UTC") for rule in rules if rule["type"] == "cron"}
    return load(names.pop()) if len(names) == 1 else None


def load(name: str) -> tzinfo | None:
    """Returns None for a zone that this machine does not know: its own clock is used then."""
    from duetime.core.recurrence import timezones

    try:
        return timezones.load(name)
    except BadRule:
        return None
