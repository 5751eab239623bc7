"""Compares the CPU that a claimed task costs the scanner with what botocore alone costs.

A tick claims two thousand tasks from a stubbed AWS without a network. A plain client then makes the
same requests one after the other: one UpdateItem for each task, one SendMessageBatch for ten. Both
are measured in CPU time of this process. The tick, with all of its reads, may cost at most 1.3
times as much. Exits with 1 if the median round costs more.

The speed of a shared machine can change by half within a second. So the two take turns within the
tick, after every hundred claims, and a round compares their sums.

The plain client is a default botocore client, except that parameter validation is off, as it is in
ours; with validation it costs a fifth more. Our clients also set their user agent themselves, which
saves some of botocore's work; the second ratio compares with our own client, without that saving.

The process stays on one core: the scanner's function has less than one, and threads that pass the
GIL from core to core sometimes cost more CPU than everything that is measured here.
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

from duetime.aws import backend, clients
from duetime.core.change import Answer, Change
from duetime.core.lanes import Lane
from duetime.core.ports import Ports, TaskStore
from duetime.core.steps.submit import submit
from duetime.core.task import Spec, Task
from duetime.core.times import HOUR, SECOND
from duetime.engine.clock import SystemClock
from duetime.scanner.scanner import Scanner

LIMIT = 1.3
TARGET = {"type": "http", "url": "https://shop.example.com/hooks/order-paid"}


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--tasks", type=int, default=2_000, help="claimed in each round")
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
        adapters = backend.adapters()
        self.plain = Replay(plain("dynamodb"), plain("sqs"))
        self.own = Replay(clients.dynamodb(), clients.sqs())
        self.ports = replace(
            adapters.ports, store=TurnTakingStore(adapters.ports.store, self.replay)
        )
        self.scanner = Scanner(self.ports, adapters.cursors)

    def warm_up(self) -> None:
        """Records the requests of one tick. The plain clients repeat them in every round."""
        self.aws.recorded = recorded = []
        self.tick()
        self.aws.recorded = None
        calls = [call for call in recorded if call[0] in ("UpdateItem", "SendMessageBatch")]
        self.plain.calls = self.own.calls = calls
        self.tick()

    def round(self, number: int) -> dict[str, Any]:
        for replay in (self.plain, self.own):
            replay.seconds, replay.share = 0.0, 0.0
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
        self.aws.hold(waiting(self.ports, self.tasks), self.ports.wake_policy, now)
        gc.collect()
        start = time.process_time()
        done = self.scanner.tick()
        took = time.process_time() - start
        assert done.sent == self.tasks, done
        return took

    def replay(self, claims: int) -> None:
        self.plain.make(claims / self.tasks)
        self.own.make(claims / self.tasks)


class Replay:
    """Repeats the recorded calls one after the other, a share of them at a time."""

    def __init__(self, dynamodb: Any, sqs: Any) -> None:
        self._methods = {
            "UpdateItem": dynamodb.update_item,
            "SendMessageBatch": sqs.send_message_batch,
        }
        self.calls: list[Call] = []
        self.share = 0.0  # of the calls that were made
        self.seconds = 0.0

    def make(self, share: float) -> None:
        first, self.share = round(self.share * len(self.calls)), self.share + share
        start = time.process_time()
        for operation, parameters in self.calls[first : round(self.share * len(self.calls))]:
            self._methods[operation](**parameters)
        self.seconds += time.process_time() - start


class TurnTakingStore:
    """A store that calls `turn` after each of its batches."""

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
    """Makes a botocore client without any of our settings."""
    retries = {"mode": "standard", "total_max_attempts": 3}
    return get_session().create_client(
        service, config=Config(retries=retries, parameter_validation=False)
    )


def waiting(ports: Ports, count: int) -> list[Task]:
    """Returns tasks that were submitted an hour ago and are due within seconds."""
    now, lanes = ports.clock.now(), cycle(Lane)
    then = now - HOUR
    return [
        submit(
            ports.wake_policy,
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
