"""The results of a run: its drifts and the counts for its bill."""

from array import array
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from bench.billing.prices import Prices
from duetime.core.times import SECOND, Millis

GB = 1_024  # MB


@dataclass(slots=True)
class Tally:
    counts: Counter[str] = field(default_factory=Counter)  # of billed units and of refusals
    drifts: dict[str, "array[int]"] = field(default_factory=lambda: defaultdict(lambda: array("q")))
    submitted: Counter[str] = field(default_factory=Counter)
    succeeded: Counter[str] = field(default_factory=Counter)
    dead: Counter[str] = field(default_factory=Counter)
    last_due: dict[str, Millis] = field(default_factory=dict)
    last_start: dict[str, Millis] = field(default_factory=dict)
    peak_executors: int = 0
    lag: Millis = 0
    held_back: int = 0

    def add_submitted(self, group: str, due_at: Millis) -> None:
        self.submitted[group] += 1
        self.last_due[group] = max(due_at, self.last_due.get(group, 0))

    def add_start(self, group: str, at: Millis, drift: Millis) -> None:
        self.drifts[group].append(drift)
        self.last_start[group] = max(at, self.last_start.get(group, 0))

    def add_invocation(self, memory: int, span: float) -> None:
        self.counts["invocations"] += 1
        self.counts["mb_ms"] += memory * max(span, 1)

    def dollars(self, prices: Prices) -> float:
        """Returns the list price without the relay, our own log lines and storage."""
        invocations = self.counts["invocations"]
        return prices.total(
            {
                "write": self.counts["write"],
                "read": self.counts["read"],
                "sqs": self.counts["sqs"],
                "api": self.counts["api"],
                "invocations": invocations,
                "gb_seconds": self.counts["mb_ms"] / GB / SECOND,
                "logs": invocations * prices.assumed["log_bytes_per_invocation"],
            }
        )
