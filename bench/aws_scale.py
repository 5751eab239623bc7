"""Plays a deployed stage under load, in virtual time, with AWS's documented limits.

The scanner is the real one, with its claims, horizon, pace, refusals and chains of ticks. The rest
is a model (`bench/simulated_aws/`): a table whose partitions take 1,000 write units a second, event
sources that start with 5 batches and add 300 a minute, functions whose CPU depends on their memory,
and message counts that are a minute old. None of it has run on AWS.

    burst    60,000 tasks due in one minute, spread over it
    second   60,000 tasks due in one second
    steady   1,000 a second, for ten minutes; `--minutes 60` for the hour
    outage   an hour without a scanner at 100 tasks a second, and the same rate afterwards
    dying    for five minutes, 100 healthy tasks a second and 20 whose target never answers
    apart    the same, with the dying target's tasks in the lane `low`

All other tasks are in the lane `medium`: the worst case for a lane's share. Each scenario runs for
the default stage and for the recipe in docs/how-to/deploy.md. Exits with 1 if the recipe needs more
than 60 s after the minute of the burst, has a p99 above 1 s at a steady 1,000 a second, or if any
task is lost. "drained" is the time from the last due time to the last start, "lag" the highest
value of the scanner's metric, "executors" the most that ran at the same time, and "$" the list
price without the relay and storage.
"""

import argparse
import gc
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from multiprocessing import get_context
from typing import Any

from bench.billing.prices import read_prices
from bench.harness import report
from bench.percentile import percentile
from bench.simulated_aws.deployment import LEAD, Deployment, Due
from bench.simulated_aws.executor import DYING
from bench.simulated_aws.limits import Model
from duetime.core.lanes import Lane
from duetime.core.steps import lease
from duetime.core.times import HOUR, MINUTE, SECOND, Millis
from infra.stage import Stage, Weights

DEFAULT = Stage(name="default")
RECIPE = Stage(
    name="recipe",
    slices=4,
    shards=32,
    scanner_memory=1_769,
    concurrency=800,
    weights=Weights(high=25, medium=50, low=25),
    catch_up=1_000,
    warm_writes=12_000,
)
STAGES = {stage.name: stage for stage in (DEFAULT, RECIPE)}
DRAINED_WITHIN = 60.0  # seconds after the minute of the burst
STEADY_P99 = 1.0  # seconds
MAX_TIME = 4 * HOUR  # virtual

MEMORIES = (512, 1_024, 1_769, 3_008)  # of a scanner, MB

TASKS = "tasks"
FRESH, OVERDUE = "fresh", "overdue"
HEALTHY = "healthy"


@dataclass(frozen=True, slots=True)
class Size:
    """The amount of load; the tests use less."""

    burst: int = 60_000
    rate: int = 1_000  # a second, steady
    minutes: int = 10
    outage_rate: int = 100
    outage: Millis = HOUR
    after_outage: Millis = 10 * MINUTE
    healthy_rate: int = 100
    dying_rate: int = 20
    dying_for: Millis = 5 * MINUTE
    dying_timeout: float = 10.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """The result of one group of tasks in a scenario."""

    stage: str
    scenario: str
    group: str
    tasks: int
    p50: float
    p99: float
    slowest: float
    drained: float | None  # seconds from the last due time to the last start; None: not yet
    lost: int
    lag: float
    executors: int
    dollars: float

    def row(self) -> dict[str, Any]:
        name = self.scenario if self.group == TASKS else f"{self.scenario}: {self.group}"
        return {
            "what": name,
            "tasks": self.tasks,
            "p50 s": self.p50,
            "p99 s": self.p99,
            "max s": self.slowest,
            "drained s": "not yet" if self.drained is None else self.drained,
            "lost": self.lost,
            "lag s": round(self.lag),
            "executors": self.executors,
            "$": self.dollars,
        }


def burst(deployment: Deployment, size: Size, within: Millis = MINUTE) -> None:
    first = deployment.start + 10 * MINUTE
    deployment.hold(
        Due(at=first + n * within // size.burst, group=TASKS) for n in range(size.burst)
    )


def steady(deployment: Deployment, size: Size) -> None:
    end = deployment.start + LEAD + size.minutes * MINUTE
    deployment.submit_each_second(end, partial(evenly, size.rate, TASKS))


def outage(deployment: Deployment, size: Size) -> None:
    now, rate = deployment.start, size.outage_rate
    deployment.scanned_until(now - size.outage)
    for second in range(now - size.outage, now, SECOND):
        deployment.hold(evenly(rate, OVERDUE, second))
    for second in range(now, now + LEAD, SECOND):
        deployment.hold(evenly(rate, FRESH, second))
    deployment.submit_each_second(now + size.after_outage, partial(evenly, rate, FRESH))


def dying(deployment: Deployment, size: Size, lane: Lane = Lane.MEDIUM) -> None:
    end = deployment.start + LEAD + size.dying_for

    def due_in(second: Millis) -> list[Due]:
        silent = [
            replace(due, lane=lane, timeout=size.dying_timeout)
            for due in evenly(size.dying_rate, DYING, second)
        ]
        return [*evenly(size.healthy_rate, HEALTHY, second), *silent]

    deployment.submit_each_second(end, due_in)


def evenly(rate: int, group: str, second: Millis) -> list[Due]:
    return [Due(at=second + n * SECOND // rate, group=group) for n in range(rate)]


SCENARIOS: Mapping[str, Callable[[Deployment, Size], None]] = {
    "burst": burst,
    "second": partial(burst, within=SECOND),
    "steady": steady,
    "outage": outage,
    "dying": dying,
    "apart": partial(dying, lane=Lane.LOW),
}


def play(stage: Stage, scenario: str, size: Size, model: Model) -> list[Result]:
    gc.disable()  # nearly every object lives until the end
    try:
        deployment = Deployment(stage, model)
        SCENARIOS[scenario](deployment, size)
        deployment.run(MAX_TIME)
        return [result_of(deployment, scenario, group) for group in deployment.tally.submitted]
    finally:
        gc.enable()


def result_of(deployment: Deployment, scenario: str, group: str) -> Result:
    tally = deployment.tally
    drifts, submitted = sorted(tally.drifts[group]), tally.submitted[group]
    ended = tally.succeeded[group] + tally.dead[group]
    left = [t for t in deployment.table.tasks.values() if t.spec.name == group]
    lost = submitted - ended - len(left) + deployment.table.forgotten()
    last_due, last_start = tally.last_due[group], tally.last_start.get(group, 0)
    return Result(
        stage=deployment.stage.name,
        scenario=scenario,
        group=group,
        tasks=submitted,
        p50=percentile(drifts, 0.5) / SECOND,
        p99=percentile(drifts, 0.99) / SECOND,
        slowest=drifts[-1] / SECOND,
        drained=None if left else max(last_start - last_due, 0) / SECOND,
        lost=lost,
        lag=tally.lag / SECOND,
        executors=tally.peak_executors,
        dollars=tally.dollars(read_prices()),
    )


def claims_a_minute(memory: int, model: Model, tasks: int = 120_000) -> dict[str, Any]:
    """Measures how much one slice claims while it has more than it can claim."""
    deployment = Deployment(Stage(name="one slice", scanner_memory=memory), model)
    first = deployment.start + 3 * MINUTE
    deployment.hold(Due(at=first + n, group=TASKS) for n in range(tasks))
    deployment.run(2 * MINUTE)
    last = max(at for at, _, _ in deployment.scanner.reports)
    claims = deployment.tally.counts["claims"] * MINUTE // (last - deployment.start)
    return {"what": f"{memory:,} MB", "claims a minute": claims, "claims a second": claims // 60}


def failures(results: Sequence[Result]) -> list[str]:
    """Returns the figures that break a promise of docs/how-to/deploy.md."""
    failed = [f"{r.stage}, {r.scenario}: {r.lost} tasks lost" for r in results if r.lost]
    of_recipe = {r.scenario: r for r in results if r.stage == RECIPE.name}
    for name in ("burst", "second"):
        r = of_recipe.get(name)
        if r and (r.drained is None or r.drained > DRAINED_WITHIN):
            failed.append(f"recipe, {name}: not drained within {DRAINED_WITHIN:g} s")
    r = of_recipe.get("steady")
    if r and r.p99 > STEADY_P99:
        failed.append(f"recipe, steady: p99 {r.p99:.2f} s, more than {STEADY_P99:g} s")
    return failed


def main() -> int:
    arguments = argparse.ArgumentParser(
        prog="python -m bench.aws_scale",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    arguments.add_argument(
        "--minutes", type=int, default=Size().minutes, help="minutes of steady load"
    )
    arguments.add_argument(
        "--scenario", choices=SCENARIOS, action="append", help="run only this scenario"
    )
    arguments.add_argument("--stage", choices=STAGES, action="append", help="run only this stage")
    arguments.add_argument(
        "--handler-ms",
        type=int,
        default=Model().assumed.handler_ms,
        help="time that a target takes",
    )
    arguments.add_argument(
        "--tls-ms", type=float, default=Model().assumed.tls_cpu, help="CPU time of a new connection"
    )
    arguments.add_argument(
        "--account",
        type=int,
        default=Model().limits.account,
        help="concurrent executions of the account",
    )
    given = arguments.parse_args()
    if given.handler_ms >= lease.LENGTH:
        arguments.error(f"--handler-ms must be less than {lease.LENGTH}: leases are not renewed")
    model = Model(
        limits=replace(Model().limits, account=given.account),
        assumed=replace(Model().assumed, handler_ms=given.handler_ms, tls_cpu=given.tls_ms),
    )
    size = Size(minutes=given.minutes)
    stages = [STAGES[name] for name in given.stage or STAGES]
    with ProcessPoolExecutor(mp_context=get_context("fork")) as processes:
        plays = [
            processes.submit(play, stage, scenario, size, model)
            for scenario, stage in product(given.scenario or SCENARIOS, stages)
        ]
        capacity = [processes.submit(claims_a_minute, memory, model) for memory in MEMORIES]
        results = [result for played in plays for result in played.result()]
        report("aws-capacity", "One slice of the scanner", [row.result() for row in capacity])
    for stage in stages:
        rows = [r.row() for r in results if r.stage == stage.name]
        title = f"{stage.name}: drift, with {given.minutes} minutes of steady load"
        report(f"aws-scale-{stage.name}", title, rows)
    failed = failures(results)
    for line in failed:
        print(line)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
