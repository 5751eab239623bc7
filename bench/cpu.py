"""What a claimed task costs the scanner in CPU, beside what botocore alone costs.

A tick claims two thousand tasks over an AWS without a network. The same requests are made again
by a plain client, one after the other: one UpdateItem a task, one SendMessageBatch for ten. Both
are measured in CPU time of this process; the tick, with all that it reads, may cost at most 1.3
times as much. Ends with 1 if the median round costs more.

A shared machine runs now faster, now slower, by half within a second. So the two take turns
within the tick, after every hundred claims, and a round compares their sums.

The plain client is botocore's as it comes, but for the validation of parameters, which is off as
it is in ours: with it, a client as most people write it costs a fifth more. Our clients also name
their user agent themselves, which saves some of botocore's own work; the second ratio is to
requests made with our own client, that is to say without that saving.

The process keeps to one core: the scanner's function has less than that, and threads that pass
the GIL from core to core cost more CPU, now and then, than anything that is measured here.
"""

import argparse
import gc
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import cycle
from statistics import median
from typing import Any

from botocore.config import Config
from botocore.session import get_session
from harness import report
from stubbed_aws import Call, StubbedAws, pretend_deployment

from lambdas import wiring
from lambdas.aws import clients
from lambdas.core.change import Answer, Change
from lambdas.core.lanes import Lane
from lambdas.core.ports import Ports, TaskStore
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
    bench.warm_up()
    rows = [bench.round(number) for number in range(1, given.rounds + 1)]
    ratios = [row["ratio"] for row in rows]
    spread = f"{min(ratios):.2f} to {max(ratios):.2f}; limit {LIMIT}"
    report("cpu", f"CPU of a tick: {median(ratios):.2f} times botocore's ({spread})", rows)
    return int(median(ratios) > LIMIT)


class Bench:
    def __init__(self, tasks: int) -> None:
        self.tasks = tasks
        self.aws = StubbedAws(since=SystemClock().now())
        adapters = wiring.adapters()
        self.plain = Alone(plain("dynamodb"), plain("sqs"))
        self.own = Alone(clients.dynamodb(), clients.sqs())
        self.ports = replace(adapters.ports, store=InTurns(adapters.ports.store, self.alone))
        self.scanner = Scanner(self.ports, adapters.cursors)

    def warm_up(self) -> None:
        """One tick, whose claims and sendings are those that are made again from then on."""
        self.aws.recorded = recorded = []
        self.tick()
        self.aws.recorded = None
        calls = [call for call in recorded if call[0] in ("UpdateItem", "SendMessageBatch")]
        self.plain.calls = self.own.calls = calls
        self.tick()

    def round(self, number: int) -> dict[str, Any]:
        for alone in (self.plain, self.own):
            alone.seconds, alone.share = 0.0, 0.0
        ours = self.tick() - self.plain.seconds - self.own.seconds
        return {
            "what": f"round {number}",
            "botocore alone µs": self.plain.seconds / self.tasks * 1e6,
            "with our client µs": self.own.seconds / self.tasks * 1e6,
            "a claimed task µs": ours / self.tasks * 1e6,
            "ratio": ours / self.plain.seconds,
            "to our client": ours / self.own.seconds,
        }

    def tick(self) -> float:
        now = self.ports.clock.now()
        self.aws.hold(waiting(self.ports, self.tasks), self.ports.rules, now)
        gc.collect()
        start = time.process_time()
        done = self.scanner.tick()
        took = time.process_time() - start
        assert done.sent == self.tasks, done
        return took

    def alone(self, claims: int) -> None:
        self.plain.make(claims / self.tasks)
        self.own.make(claims / self.tasks)


class Alone:
    """Makes the recorded calls one after the other, a share of them at a time."""

    def __init__(self, dynamodb: Any, sqs: Any) -> None:
        self._methods = {
            "UpdateItem": dynamodb.update_item,
            "SendMessageBatch": sqs.send_message_batch,
        }
        self.calls: list[Call] = []
        self.share = 0.0  # of the calls that are made
        self.seconds = 0.0

    def make(self, share: float) -> None:
        first, self.share = round(self.share * len(self.calls)), self.share + share
        start = time.process_time()
        for operation, parameters in self.calls[first : round(self.share * len(self.calls))]:
            self._methods[operation](**parameters)
        self.seconds += time.process_time() - start


class InTurns:
    """A store after whose batches somebody else has a turn."""

    def __init__(self, store: TaskStore, turn: Callable[[int], None]) -> None:
        self._store = store
        self._turn = turn

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def apply(self, changes: Sequence[Change]) -> list[Answer]:
        answers = self._store.apply(changes)
        self._turn(len(changes))
        return answers


def plain(service: str) -> Any:
    """A client of botocore without anything of ours."""
    retries = {"mode": "standard", "total_max_attempts": 3}
    return get_session().create_client(
        service, config=Config(retries=retries, parameter_validation=False)
    )


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


if __name__ == "__main__":
    sys.exit(main())
