"""Counts in dollars."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.billing.meter import Counts, calls, invocations, units_written

PRICES = Path(__file__).parents[1] / "prices.toml"
MILLION = 1_000_000

Usage = Mapping[str, float]  # line → units


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """A line of a bill."""

    what: str
    dollars: float
    per: float
    free: float
    source: str

    def list_price(self, units: float) -> float:
        return units / self.per * self.dollars

    def after_free(self, units: float) -> float:
        """Returns the price in an account that uses the free tier for nothing else."""
        return self.list_price(max(units - self.free, 0))


@dataclass(frozen=True, kw_only=True, slots=True)
class Prices:
    as_of: str
    region: str
    lines: Mapping[str, Line]
    assumed: Mapping[str, float]
    elsewhere: Mapping[str, float]

    def total(self, usage: Usage) -> float:
        return sum(self.lines[name].list_price(units) for name, units in usage.items())

    def usage(self, counts: Counts) -> dict[str, float]:
        """Returns the units of each line of the bill."""
        logged = counts["logs"] + counts["api"] * self.assumed["access_log_bytes_per_request"]
        return {
            "write": units_written(counts),
            "read": counts["read"],
            "sqs": counts["sqs"],
            "api": counts["api"],
            **self._invoked(invocations(counts), calls(counts), counts["waited"], logged),
        }

    def traces(self, counts: Counts, *, alone: bool) -> dict[str, float]:
        """Returns what tracing adds, if it is on. `alone`: tasks come so slowly that every
        invocation is traced."""
        traced = self.assumed["traced_alone" if alone else "traced_in_bulk"]
        return {"traces": invocations(counts) * traced}

    def kept(self, counts: Counts) -> dict[str, float]:
        """Returns the storage of each month until the end of the retention."""
        return {"stored": counts["stored"], "backups": counts["stored"]}

    def _invoked(
        self, times: float, calls: float = 0, waited: float = 0, logged: float = 0
    ) -> dict[str, float]:
        ms = times * self.assumed["ms_per_invocation"] + calls * self.assumed["ms_per_call"]
        return {
            "invocations": times,
            "gb_seconds": self.assumed["memory_gb"] * (ms + waited) / 1_000,
            "logs": logged + times * self.assumed["log_bytes_per_invocation"],
        }

    def idle_month(self, tick: Counts, *, lanes: int, metrics: int) -> dict[str, float]:
        """Returns a month of ticks without work, and of what AWS does by itself."""
        minutes = self.assumed["minutes_a_month"]
        ticks = Counts({name: count * minutes for name, count in tick.items()})
        polls = self.assumed["pollers"] * self.assumed["polls_a_minute"] * minutes * lanes
        usage = self.usage(ticks)
        usage["sqs"] += polls
        return usage | {
            **self.traces(ticks, alone=True),
            "metrics": metrics,
            "alarms": self.assumed["alarms"],
            "dashboards": self.assumed["dashboards"],
        }

    def elsewhere_used(self, attempts: int = 1, batch: int = 10) -> dict[str, Usage]:
        """Returns what a timed task uses at the alternatives. Its target runs in Lambda too,
        except for Cloud Tasks. `batch`: messages that Lambda receives together from the queue
        behind EventBridge Scheduler."""
        share = attempts / batch
        again = attempts - 1
        return {
            "EventBridge Scheduler + SQS + Lambda": {
                "scheduler": 1,
                "sqs": 1 + share + 1 / batch,  # sent alone, deleted once
                **self._invoked(share),
            },
            "Step Functions + Lambda": {
                "transitions": self.elsewhere["transitions"] + again,
                **self._invoked(attempts),
            },
            "Google Cloud Tasks, without what it calls": {
                "operations": self.elsewhere["operations"] + again
            },
        }

    def step_functions(self, flow: str, steps: int) -> Usage:
        """Returns what a workflow of so many steps uses at Step Functions. Each step that does
        something invokes a function, one by one."""
        return {"transitions": self.elsewhere[f"{flow}_transitions"], **self._invoked(steps)}


def read_prices(path: Path = PRICES) -> Prices:
    given = tomllib.loads(path.read_text())
    lines = {name: Line(**line) for name, line in given.pop("line").items()}
    return Prices(lines=lines, **given)
