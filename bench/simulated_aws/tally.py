"""What a run did: its drifts, and what stands on its bill."""

from array import array
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from bench.billing.prices import Prices
from lambdas.core.times import SECOND, Millis

GB = 1_024  # MB


@dataclass(slots=True)
class Tally:
    counts: Counter[str] = field(default_factory=Counter)  # of what AWS bills, and of refusals
    drifts: dict[str, "array[int]"] = field(default_factory=lambda: defaultdict(lambda: array("q")))
    submitted: Counter[str] = field(default_factory=Counter)
    succeeded: Counter[str] = field(default_factory=Counter)
    dead: Counter[str] = field(default_factory=Counter)
    last_due: dict[str, Millis] = field(default_factory=dict)
    last_start: dict[str, Millis] = field(default_factory=dict)
    peak_executors: int = 0
    lag: Millis = 0
    held_back: int = 0

    def asked_for(self, group: str, due_at: Millis) -> None:
        self.submitted[group] += 1
        self.last_due[group] = max(due_at, self.last_due.get(group, 0))

    def started(self, group: str, at: Millis, drift: Millis) -> None:
        self.drifts[group].append(drift)
        self.last_start[group] = max(at, self.last_start.get(group, 0))

    def ran(self, memory: int, span: float) -> None:
        self.counts["invocations"] += 1
        self.counts["mb_ms"] += memory * max(span, 1)

    def dollars(self, prices: Prices) -> float:
        """At list price. Without the relay, logs beyond Lambda's own lines, and storage."""
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
