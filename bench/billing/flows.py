"""The ways of a task, each gone by a hundred tasks, and a tick with nothing to do.

A flow goes in full batches, or each of its tasks by itself. What a tick does whether or not there
is work belongs to the idle month, so it is taken off. What the end of its retention costs belongs
to a task.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from bench.billing.deployment import FULL, LONE, Deployment
from bench.billing.meter import Counts
from bench.billing.stage import deployed
from bench.billing.units import stored_bytes
from lambdas.core.lanes import MAX_RECEIVES
from lambdas.core.times import MINUTE, SECOND, seconds
from lambdas.scanner.index import FEW

TASKS = 100
LONE_TASKS = 10  # each alone
SIZES = (200, 2_000, 20_000)  # bytes of payload

Body = Mapping[str, Any]
Flow = Callable[[Deployment, Body, int], Counts]


def immediate(deployment: Deployment, body: Body, tasks: int) -> Counts:
    deployment.submit(body, tasks)
    return _end(deployment, tasks)


def delayed(deployment: Deployment, body: Body, tasks: int) -> Counts:
    """Stored beyond the horizon, claimed by a tick, sent with a delay. The half second makes it
    come as early as messages do on average."""
    idle = _tick_at_rest(deployment)
    deployment.submit({**body, "delay": 290.5}, tasks)
    deployment.relay()
    deployment.clock.advance(MINUTE)
    _claim(deployment, tasks)
    return _end_of_delay(deployment, tasks, idle)


def contested(deployment: Deployment, body: Body, tasks: int) -> Counts:
    """Likewise, but two scanners read the index before either claims: one loses every claim."""
    idle = _tick_at_rest(deployment)
    deployment.submit({**body, "delay": 290.5}, tasks)
    deployment.relay()
    deployment.clock.advance(MINUTE)
    wakes = deployment.adapters["scanner"].ports.store.few_wakes(FEW)
    _claim(deployment, tasks)
    lost = deployment.tick(wakes)["lost"]
    if lost != tasks:
        raise RuntimeError(f"{lost} of {tasks} claims were lost")
    counts = _end_of_delay(deployment, tasks, idle)
    counts.subtract(idle)
    return counts


def recurring(deployment: Deployment, body: Body, tasks: int) -> Counts:
    """One occurrence of a schedule with the default policies, put by a tick a horizon ahead. That
    the schedule was made once is not counted."""
    return _one_of_each(deployment, {"type": "rate", "every": 600.5}, body, tasks, ahead=361)


def fixed_delay(deployment: Deployment, body: Body, tasks: int) -> Counts:
    """Likewise, with the debt of its end: the relay has the next run counted from there."""
    return _one_of_each(deployment, {"type": "delay", "delay": 290.5}, body, tasks, ahead=60)


def _one_of_each(
    deployment: Deployment, rule: Mapping[str, Any], body: Body, schedules: int, ahead: float
) -> Counts:
    idle = _tick_at_rest(deployment)
    for _ in range(schedules):
        deployment.schedule({"name": "a report", "rule": rule, "task": body})
    deployment.relay()
    deployment.meter.taken()
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
    """Its first attempt is its last. SQS takes a message for dead when it has come so often, and
    the sandbox that buried it remembers it."""
    return _dead(deployment, body, tasks)


def dead_elsewhere(deployment: Deployment, body: Body, tasks: int) -> Counts:
    """Likewise, but each time its message comes to another sandbox, which has to ask the table."""
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


def counted(name: str, size: int, tasks: int = TASKS, *, alone: bool = False) -> Counts:
    """What one task of a flow uses, as the mean of so many in a deployment of their own."""
    body = _calling("bench.noop", {"payload": "x" * size})
    with deployed(LONE if alone else FULL) as deployment:
        counts = FLOWS[name](deployment, body, tasks)
    return Counter({name: count / tasks for name, count in counts.items()})


def idle_tick(deployment: Deployment) -> Counts:
    """With what its cursor makes the relay do."""
    counts = _tick_at_rest(deployment)
    deployment.relay()
    return counts + deployment.meter.taken()


def _tick_at_rest(deployment: Deployment) -> Counts:
    """The first ticks after a start read a minute less."""
    for _ in range(3):
        deployment.clock.advance(MINUTE)
        deployment.relay()
        deployment.meter.taken()
        deployment.tick()
    return deployment.meter.taken()


def _calling(handler: str, body: Body) -> Body:
    return {**body, "target": {"type": "python", "handler": handler}}


def _dead(deployment: Deployment, body: Body, tasks: int, *, new_sandboxes: bool = False) -> Counts:
    """A dead letter comes back at growing intervals, within two minutes in all."""
    once = _calling("bench.broken", {**body, "retry": {"max_attempts": 1}})
    deployment.submit(once, tasks)
    received = 0
    for _ in range(120):
        received += deployment.deliver(new_sandboxes=new_sandboxes)
        deployment.clock.advance(SECOND)
    if received != MAX_RECEIVES * tasks:
        raise RuntimeError(f"{received} messages came")
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
        raise RuntimeError(f"{delivered} messages came, not {expected}")
    deployment.relay()
    stored = stored_bytes(deployment.meter.items())
    deployment.expire()
    counts = deployment.meter.taken()
    counts["stored"] = stored
    return counts
