"""What the local runner knows of its ticks and its relay: how far behind they are."""

from collections import Counter

from duetime.api.stats import Vitals
from duetime.core.lanes import Queue
from duetime.core.stats.histogram import BUCKETS, bucket_of
from duetime.core.times import SECOND, Millis
from duetime.local.event_pump import Pump
from duetime.scanner.report import TickReport


class Ticks:
    """What the ticks have reported since the start. The tick thread alone writes it."""

    def __init__(self) -> None:
        self.last: TickReport | None = None
        self.claims: Counter[Queue] = Counter()
        self.lost_claims: Counter[Queue] = Counter()
        self.set_aside = 0
        self.durations = [0] * BUCKETS
        self.duration_sum: Millis = 0

    def add(self, report: TickReport) -> None:
        self.last = report
        self.claims += report.claims
        self.lost_claims += report.lost_claims
        self.set_aside += report.set_aside
        self.durations[bucket_of(report.took)] += 1
        self.duration_sum += report.took


def vitals_of(pump: Pump, ticks: Ticks) -> Vitals:
    last = ticks.last
    return Vitals(
        tick_age_seconds=round(pump.tick_age, 3),
        cursor_lag_seconds=None if last is None else last.lag / SECOND,
        held_back=None if last is None else last.held_back,
        relay_age_seconds=pump.relay_age,
    )
