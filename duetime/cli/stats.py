"""`duetime stats` and `duetime slo`: what happened, and whether it was on time."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from duetime.cli import format as fmt
from duetime.cli.option_groups import grouped
from duetime.cli.options import Connection
from duetime.cli.parse import duration, refuse
from duetime.core.lanes import Lane
from duetime.terminal import length

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

    from duetime.client import LaneSlo, Slo, Stats
    from duetime.client.stats import Quantiles

WINDOW = "1h"
POINTS = 40  # of a sparkline, at most
SPARKS = "▁▂▃▄▅▆▇█"
SHORTEST, LONGEST = 60, 7 * 86_400  # seconds
BURN_WINDOWS = ("1h", "6h", "3d")
ELSEWHERE = "Only CloudWatch has the numbers of this deployment"


@grouped
def stats(
    *,
    window: Annotated[
        str, typer.Option(metavar="DURATION", help="How far to look back, up to 7d.")
    ] = WINDOW,
    lane: Annotated[Lane | None, typer.Option(help="Only this lane.")] = None,
    connection: Connection,
) -> None:
    """What happened in the last hour: ends, failures, drift and durations, by lane."""
    seconds = duration("--window", window)
    if not SHORTEST <= seconds <= LONGEST:
        refuse("--window", "must be from 1m to 7d")
    step = _step(seconds)
    with connection.connect() as client:
        found = client.stats(window=window, step=step, lane=lane.value if lane else None)
        budgets = client.slo() if found["source"] == "table" and not connection.json else None
    connection.print(found, lambda: stats_lines(found, budgets))


@grouped
def slo(*, connection: Connection) -> None:
    """Whether tasks start on time: the share of 30 days, and what is left of the budget."""
    with connection.connect() as client:
        found = client.slo()
    connection.print(found, lambda: slo_lines(found))


def _step(seconds: float) -> int:
    """Returns whole minutes, for at most POINTS steps."""
    minutes = -(-int(seconds) // (POINTS * 60))
    return max(minutes, 1) * 60


def stats_lines(found: "Stats", budgets: "Slo | None") -> "Iterator[RenderableType]":
    from rich.text import Text

    if found["source"] == "emf":
        yield Text(_elsewhere(found.get("url")))
        return
    shares = {lane["lane"]: lane["share"] for lane in budgets["lanes"]} if budgets else {}
    yield _stats_table(found, shares)
    yield Text()
    yield Text(f"Each mark: {length(found['step'])}. {_vitals(found)}".rstrip(), style="dim")
    if not found["complete"]:
        text = f"Counted from {fmt.local(found['from'])}: there is too much to read for all."
        yield Text(text, style="yellow")


def _elsewhere(url: str | None) -> str:
    at = f": {url}" if url else "."
    return f"{ELSEWHERE}{at}\nWith `stats: table` of its stage, they are here."


def _stats_table(found: "Stats", shares: dict[str, float | None]) -> "Table":
    table = _table("", "ENDED", "DEAD", "FAILED", "ON TIME", "DRIFT p50", "p99", "TOOK p50", "p99")
    table.columns[1].justify = "left"
    for lane in found["lanes"]:
        failed = sum(lane["attempts"].get(o, 0) for o in ("failed", "timed_out", "lease_expired"))
        table.add_row(
            lane["lane"],
            sparkline(_ends(found, lane["lane"])),
            f"{sum(lane['ends'].values()):,}",
            f"{lane['ends']['DEAD']:,}",
            f"{failed:,}",
            _percent(shares.get(lane["lane"])),
            *_shown(lane["drift_ms"]),
            *_shown(lane["duration_ms"]),
        )
    return table


def _shown(quantiles: "Quantiles | None") -> list[str | None]:
    return [fmt.drift(q) for q in (quantiles["p50"], quantiles["p99"])] if quantiles else ["", ""]


def _ends(found: "Stats", lane: str) -> list[int]:
    """Returns how many tasks of a lane ended in each step of the window."""
    step = found["step"]
    first, last = (int(_seconds(found[end]) // step) for end in ("from", "to"))
    counts = dict.fromkeys(range(first, last + 1), 0)
    for point in found["series"]:
        if point["lane"] == lane:
            counts[int(_seconds(point["at"]) // step)] = sum(point["ends"].values())
    return list(counts.values())


def _seconds(at: str) -> float:
    return datetime.fromisoformat(at).timestamp()


def sparkline(counts: Sequence[int]) -> str:
    """Zero has the lowest mark for itself."""
    most = max(counts, default=0)
    high = len(SPARKS) - 1
    return "".join(SPARKS[-(-count * high // most) if most else 0] for count in counts)


def _vitals(found: "Stats") -> str:
    parts = []
    if (age := found["tick_age_seconds"]) is not None:
        parts.append(f"last tick {length(age)} ago")
    if lag := found["cursor_lag_seconds"]:
        parts.append(f"the scanner is {length(lag)} behind")
    if held := found["held_back"]:
        parts.append(f"{fmt.count(held, 'overdue task')} held back")
    if (behind := found["relay_age_seconds"]) and behind >= 1:
        parts.append(f"the relay is {length(behind)} behind")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def slo_lines(found: "Slo") -> "Iterator[RenderableType]":
    from rich.text import Text

    if found["source"] == "emf":
        yield Text(_elsewhere(found.get("url")))
        return
    table = _table("OBJECTIVE", "ON TIME", "LATE", "OF", "BUDGET LEFT", *_burn_headers())
    for lane in found["lanes"]:
        table.add_row(
            lane["lane"],
            _objective(lane),
            _percent(lane["share"]),
            f"{lane['total'] - lane['good']:,}",
            f"{lane['total']:,}",
            _budget(lane["budget_left"]),
            *(f"{lane['burn'][window]:.2g}" for window in BURN_WINDOWS),
        )
    yield table
    worst = [
        (minute["late"], minute, lane)
        for lane in found["lanes"]
        for minute in lane["worst_minutes"]
    ]
    for late, minute, lane in sorted(worst, key=lambda each: each[0], reverse=True)[:POINTS]:
        at = fmt.local(minute["at"])
        yield Text(f"{at}  {lane['lane']}: {late:,} of {minute['of']:,} late", style="yellow")


def _burn_headers() -> list[str]:
    first, *others = BURN_WINDOWS
    return [f"BURN {first}", *others]


def _table(*headers: str) -> "Table":
    from rich.table import Table

    table = Table("LANE", box=None, header_style="dim", pad_edge=False)
    for header in headers:
        table.add_column(header, justify="right")
    return table


def _objective(lane: "LaneSlo") -> str:
    objective = lane["objective"]
    return f"{100 * objective['share']:.6g}% in {length(objective['drift_ms'] / 1_000)}"


def _percent(share: float | None) -> str:
    """Rounds down: 100 % means all."""
    return "" if share is None else f"{int(share * 10_000) / 100:g}%"


def _budget(left: float | None) -> "Text | str":
    from rich.text import Text

    if left is None:
        return ""
    style = "red" if left < 0 else "yellow" if left < 0.25 else ""
    return Text(f"{left:.0%}", style=style)
