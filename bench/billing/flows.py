"""The flows of a task, each with a hundred tasks, and a tick with nothing to do.

A flow runs in full batches, or with each task by itself. What a tick costs without work belongs to
the idle month, so it is subtracted. The end of its retention is part of a task's cost.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from bench.billing.deployment import FULL, LONE, Deployment
from bench.billing.meter import Counts
from bench.billing.moto_setup import deployed
from bench.billing.payloads import order_of
from bench.billing.units import stored_bytes
from duetime.core.lanes import MAX_RECEIVES
from duetime.core.times import MINUTE, SECOND, seconds
from duetime.scanner.wake_reader import SMALL_INDEX

TASKS = 100
LONE_TASKS = 10  # when each is by itself
SIZES = (200, 2_000, 20_000)  # bytes of payload

Body = Mapping[str, Any]
Flow = Callable[[Deployment, Body, int], Counts]


def immediate(deployment: Deployment, body: Body, tasks: int) -> Counts:
    deployment.submit(body, tasks)
    return _end(deployment, tasks)


def delayed(deployment: Deployment, body: Body, tasks: int) -> Counts:
    """Stored beyond the horizon, claimed by a tick, sent with a delay. With the half second a
    message comes as early as on average."""
    idle = _tick_at_rest(deployment)
    deployment.submit({**body, "delay": 290.5}, tasks)
    deployment.relay()
    deployment.clock.advance(MINUTE)
    _claim(deployment, tasks)
    return _end_of_delay(deployment, tasks, idle)


def contested(deployment: Deployment, body: Body, tasks: int) -> Counts:
    """Like `delayed`, but two scanners read the index before either claims: one loses all."""
    idle = _tick_at_rest(deployment)
    deployment.submit({**body, "delay": 290.5}, tasks)
    deployment.relay()
    deployment.clock.advance(MINUTE)
    wakes = deployment.adapters["scanner"].ports.store.few_wakes(SMALL_INDEX)
    _claim(deployment, tasks)
    lost = deployment.tick(wakes)["lost"]
    if lost != tasks:
        raise RuntimeError(f"{lost} of {tasks} claims were lost")
    counts = _end_of_delay(deployment, tasks, idle)
    counts.subtract(idle)
    return counts


def recurring(deployment: Deployment, body: Body, tasks: int) -> Counts:
    """One occurrence of a schedule with the default policies, put by a tick a horizon ahead. The
    creation of the schedule is not counted."""
    return _one_of_each(deployment, {"type": "rate", "every": 600.5}, body, tasks, ahead=361)


def fixed_delay(deployment: Deployment, body: Body, tasks: int) -> Counts:
    """Like `recurring`, with a follow-up: the relay schedules the next run from the end of this."""
    return _one_of_each(deployment, {"type": "delay", "delay": 290.5}, body, tasks, ahead=60)


def _one_of_each(
    deployment: Deployment, rule: Mapping[str, Any], body: Body, schedules: int, ahead: float
) -> Counts:
    idle = _tick_at_rest(deployment)
    for _ in range(schedules):
        deployment.schedule({"name": "a report", "rule": rule, "task": body})
    deployment.relay()
    deployment.meter.take_counts()
    before = stored_bytes(deployment.meter.items())
    deployment.clock.advance(seconds(ahead))
    put = deployment.tick()["occurrences"]
    if put != schedules:
        raise RuntimeError(f"{put} occurrences of {schedules} schedules were put")
    deployment.clock.advance(seconds(rule.get("every", rule.get("delay")) - ahead - 1.5))
    counts = _end(deployment, schedules)
    counts.subtract(idle)
    counts["stored"] -= before
    return counts


def one_retry(deployment: Deployment, body: Body, tasks: int) -> Counts:
    deployment.submit(_calling("bench.flaky", body), tasks)
    return _end(deployment, 2 * tasks)


def dead(deployment: Deployment, body: Body, tasks: int) -> Counts:
    """Dies at its first attempt. SQS moves the message to the dead-letter queue after its last
    receive; the sandbox that buried it remembers it."""
    return _dead(deployment, body, tasks)


def dead_elsewhere(deployment: Deployment, body: Body, tasks: int) -> Counts:
    """Like `dead`, but each receive is in another sandbox, which has to read the table."""
    return _dead(deployment, body, tasks, new_sandboxes=True)


FLOWS: Mapping[str, Flow] = {
    "immediate": immediate,
    "delayed": delayed,
    "delayed, claim lost once": contested,
    "recurring": recurring,
    "fixed delay": fixed_delay,
    "one retry": one_retry,
    "dead": dead,
    "dead, other sandboxes": dead_elsewhere,
}


def count_flow(
    name: str,
    size: int,
    tasks: int = TASKS,
    *,
    alone: bool = False,
    payload_of: Callable[[int], Any] = order_of,
    stats: bool = False,
) -> Counts:
    """Returns what one task of a flow uses: the mean of `tasks` in a new deployment, with `stats`
    one that counts in its table."""
    body = _calling("bench.noop", {"payload": payload_of(size)})
    with deployed(LONE if alone else FULL, stats=stats) as deployment:
        counts = FLOWS[name](deployment, body, tasks)
    return Counter({name: count / tasks for name, count in counts.items()})


def idle_tick(deployment: Deployment) -> Counts:
    """Counts a tick without work, and what the relay does with its cursor."""
    counts = _tick_at_rest(deployment)
    deployment.relay()
    return counts + deployment.meter.take_counts()


def _tick_at_rest(deployment: Deployment) -> Counts:
    """Counts the third tick without work: the first ones read a minute less."""
    for _ in range(3):
        deployment.clock.advance(MINUTE)
        deployment.relay()
        deployment.meter.take_counts()
        deployment.tick()
    return deployment.meter.take_counts()


def _calling(handler: str, body: Body) -> Body:
    return {**body, "target": {"type": "python", "handler": handler}}


def _dead(deployment: Deployment, body: Body, tasks: int, *, new_sandboxes: bool = False) -> Counts:
    """Kills the tasks. Their dead letters come back at growing intervals, within two minutes."""
    once = _calling("bench.broken", {**body, "retry": {"max_attempts": 1}})
    deployment.submit(once, tasks)
    received = 0
    for _ in range(120):
        received += deployment.deliver(new_sandboxes=new_sandboxes)
        deployment.clock.advance(SECOND)
    if received != MAX_RECEIVES * tasks:
        raise RuntimeError(f"received {received} messages, not {MAX_RECEIVES * tasks}")
    return _end(deployment, 0)


def _claim(deployment: Deployment, expected: int) -> None:
    claimed = deployment.tick()["claimed"]
    if claimed != expected:
        raise RuntimeError(f"claimed {claimed} of {expected}")


def _end_of_delay(deployment: Deployment, tasks: int, idle: Counts) -> Counts:
    deployment.clock.advance(229 * SECOND)
    counts = _end(deployment, tasks)
    counts.subtract(idle)
    return counts


def _end(deployment: Deployment, expected: int) -> Counts:
    delivered = deployment.deliver()
    if delivered != expected:
        raise RuntimeError(f"delivered {delivered} messages, not {expected}")
    deployment.relay()
    stored = stored_bytes(deployment.meter.items())
    deployment.expire()
    counts = deployment.meter.take_counts()
    counts["stored"] = stored
    return counts
