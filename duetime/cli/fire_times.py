"""Fire times for the eye: on the clock of their zone, with what daylight saving does to them."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from duetime.cli import phrases
from lambdas.core.recurrence.rules import BadRule

if TYPE_CHECKING:
    from duetime.client import Upcoming


def table(told: "Upcoming", zone: tzinfo | None, now: datetime) -> Table:
    """What the clock passes over has a row too: that is why it is not there."""
    rows = Table(box=None, show_header=False, pad_edge=False)
    for _ in ("when", "how far away"):
        rows.add_column(no_wrap=True)
    for at, fires, notes in _rows(told):
        away = phrases.relative(at, now) if fires else "not run"
        cells = [Text(on_the_clock(at, zone), style="" if fires else "dim strike")]
        cells += [Text(away, style="dim"), *([Text(notes, style="yellow")] if notes else [])]
        rows.add_row(*cells)
    return rows


def _rows(told: "Upcoming") -> Iterator[tuple[str, bool, str]]:
    fires = {datetime.fromisoformat(at): at for at in told["fire_times"]}
    notes: dict[datetime, list[str]] = {}
    for touch in told["daylight_saving"]:
        at = datetime.fromisoformat(touch["at"])
        notes.setdefault(at, []).append(touch["note"])
    for at in sorted(fires.keys() | notes.keys()):
        yield at.isoformat(), at in fires, "; ".join(notes.get(at, []))


def on_the_clock(at: str, zone: tzinfo | None, *, weekday: bool = True) -> str:
    """Of the zone; without one, of the reader."""
    local = datetime.fromisoformat(at).astimezone(zone)
    time = f"{local:%a %Y-%m-%d %H:%M:%S}" if weekday else f"{local:%Y-%m-%d %H:%M:%S}"
    return f"{time} {local.isoformat()[-6:]}"


def zone_of(rules: Sequence[Mapping[str, Any]]) -> tzinfo | None:
    """The one zone in which all of the cron rules are meant, if there is one."""
    names = {rule.get("timezone", "UTC") for rule in rules if rule["type"] == "cron"}
    return load(names.pop()) if len(names) == 1 else None


def load(name: str) -> tzinfo | None:
    """None for one that this machine does not know: then the reader's own clock is better."""
    from lambdas.core.recurrence import zones

    try:
        return zones.load(name)
    except BadRule:
        return None
