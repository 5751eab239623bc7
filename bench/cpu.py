"""What a claimed task costs the scanner in CPU, beside what botocore alone costs.

A tick claims two thousand tasks over an AWS without a network. The same requests are made again
by a plain client, one after the other: one UpdateItem a task, one SendMessageBatch for ten. Both
are measured in CPU time of this process, in turn, several times over; the tick may cost at most
1.3 times as much. Ends with 1 if it costs more.

The process keeps to one core: the scanner's function has less than that, and threads that pass
the GIL from core to core cost more CPU, now and then, than anything that is measured here.
"""

import argparse
import gc
import os
import sys
import time
from collections.abc import Callable
from itertools import cycle
from statistics import median
from typing import Any

from harness import report
from stubbed_aws import Call, StubbedAws, pretend_deployment

from lambdas import wiring
from lambdas.aws import clients
from lambdas.core.lanes import Lane
from lambdas.core.ports import Ports
from lambdas.core.steps.submit import submit
from lambdas.core.task import Spec, Task
from lambdas.core.times import HOUR, SECOND
from lambdas.scanner.scanner import Scanner
from lambdas.system import SystemClock

LIMIT = 1.3
TARGET = {"type": "http", "url": "https://shop.example.com/hooks/order-paid"}


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--tasks", type=int, default=2_000)
    arguments.add_argument("--rounds", type=int, default=15)
    given = arguments.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    pretend_deployment()
    bench = Bench(given.tasks)
    calls = bench.record()
    rows = [bench.round(number, calls) for number in range(1, given.rounds + 1)]
    ratios = [float(row["ratio"]) for row in rows]
    spread = f"{min(ratios):.2f} to {max(ratios):.2f}; limit {LIMIT}"
    report("cpu", f"CPU of a tick: {median(ratios):.2f} times botocore's ({spread})", rows)
    return int(median(ratios) > LIMIT)


class Bench:
    def __init__(self, tasks: int) -> None:
        self.tasks = tasks
        self.aws = StubbedAws(since=SystemClock().now())
        adapters = wiring.adapters()
        self.ports = adapters.ports
        self.scanner = Scanner(adapters.ports, adapters.cursors)
        dynamodb, sqs = clients.dynamodb(), clients.sqs()
        self._plain = {
            "UpdateItem": dynamodb.update_item,
            "SendMessageBatch": sqs.send_message_batch,
        }

    def record(self) -> list[Call]:
        """The claims and sendings of one tick, as they were asked of its clients."""
        self.aws.recorded = recorded = []
        self.tick()
        self.aws.recorded = None
        return [(operation, asked) for operation, asked in recorded if operation in self._plain]

    def round(self, number: int, calls: list[Call]) -> dict[str, Any]:
        """A shared machine runs now faster, now slower: botocore goes before and after."""
        before = self.make(calls)
        ours = self.tick() / self.tasks
        bare = (before + self.make(calls)) / 2 / self.tasks
        return {
            "what": f"round {number}",
            "botocore alone µs": bare * 1e6,
            "a claimed task µs": ours * 1e6,
            "ratio": f"{ours / bare:.2f}",
        }

    def tick(self) -> float:
        now = self.ports.clock.now()
        self.aws.hold(waiting(self.ports, self.tasks), self.ports.rules, now)
        reports = []
        seconds = cpu_seconds(lambda: reports.append(self.scanner.tick()))
        assert reports[0].sent == self.tasks, reports
        return seconds

    def make(self, calls: list[Call]) -> float:
        def one_after_the_other() -> None:
            for operation, parameters in calls:
                self._plain[operation](**parameters)

        return cpu_seconds(one_after_the_other)


def waiting(ports: Ports, count: int) -> list[Task]:
    """Submitted an hour ago, due within seconds."""
    now, lanes = ports.clock.now(), cycle(Lane)
    then = now - HOUR
    return [
        submit(
            ports.rules,
            ports.chance.new_id(then),
            Spec(
                target=TARGET,
                run_at=now + 5 * SECOND + number,
                payload={"order": number, "customer": "c-4711"},
                priority=next(lanes),
                tags={"team": "shop"},
            ),
            now=then,
            draw=ports.chance.draw(),
        )
        for number in range(count)
    ]


def cpu_seconds(call: Callable[[], Any]) -> float:
    gc.collect()
    start = time.process_time()
    call()
    return time.process_time() - start


if __name__ == "__main__":
    sys.exit(main())
