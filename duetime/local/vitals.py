"""How far behind the roles of the local runner are, for GET /v1/stats."""

from duetime.api.stats import Vitals
from duetime.core.times import SECOND
from duetime.local.event_pump import Pump
from duetime.scanner.report import TickReport


class RunnerVitals:
    def __init__(self) -> None:
        self._last_tick: TickReport | None = None

    def ticked(self, report: TickReport) -> None:
        self._last_tick = report

    def of(self, pump: Pump) -> Vitals:
        last = self._last_tick
        return Vitals(
            tick_age_seconds=round(pump.tick_age, 3),
            cursor_lag_seconds=None if last is None else last.lag / SECOND,
            held_back=None if last is None else last.held_back,
            relay_age_seconds=pump.relay_age,
        )
