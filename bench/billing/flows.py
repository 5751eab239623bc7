"""The ways of a task, each gone by a hundred tasks together, and a tick with nothing to do.

What a tick does whether or not there is work belongs to the idle month, so it is taken off.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from bench.billing.deployment import Deployment
from bench.billing.meter import Counts
from bench.billing.stage import deployed
from bench.billing.units import stored_bytes
from lambdas.core.lanes import MAX_RECEIVES
from lambdas.core.times import MINUTE, SECOND, seconds

TASKS = 100
SIZES = (200, 2_000, 20_000)  # bytes of payload

Body = Mapping[str, Any]
Flow = Callable[[Deployment, Body, int], Counts]


def immediate(deployment: Deployment, body: Body, tasks: int) -> Counts:
    _submit(deployment, body, tasks)
    return _end(deployment, tasks)


def delayed(deployment: Deployment, body: Body, tasks: int) -> Counts:
    """Stored beyond the horizon, claimed by a tick, sent with a delay. The half second makes it
    come as early as messages do on average."""
    idle = _tick_at_rest(deployment)
    _submit(deployment, {**body, "delay": 290.5}, tasks)
    _claim(deployment, tasks)
    deployment.clock.advance(229 * SECOND)
    counts = _end(deployment, tasks)
    counts.subtract(idle)
    return counts


def alone(deployment: Deployment, body: Body, tasks: int) -> Counts:
    """Nothing is shared: a request, a message and an invocation for each."""
    for _ in range(tasks):
        deployment.submit(body)
        _deliver(deployment, 1)
        deployment.relay()
    return _end(deployment, 0)


def delayed_alone(deployment: Deployment, body: Body, tasks: int) -> Counts:
    """Claimed together, but each falls due alone, three seconds after the one before."""
    idle = _tick_at_rest(deployment)
    for number in range(tasks):
        deployment.submit({**body, "delay": 241.5 + 3 * number})
    _claim(deployment, tasks)
    deployment.clock.advance(seconds(178.5))
    for _ in range(tasks):
        deployment.clock.advance(seconds(1.5))  # and as much is waited for the due time
        _deliver(deployment, 1)
        deployment.relay()
    counts = _end(deployment, 0)
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
    _submit(deployment, _calling("bench.flaky", body), tasks)
    return _end(deployment, 2 * tasks)


def dead(deployment: Deployment, body: Body, tasks: int) -> Counts:
    """Its first attempt is its last. SQS takes a message for dead when it has come ten times, which
    takes it up to two minutes."""
    once = _calling("bench.broken", {**body, "retry": {"max_attempts": 1}})
    _submit(deployment, once, tasks)
    received = 0
    for _ in range(120):
        received += deployment.deliver()
        deployment.clock.advance(SECOND)
    if received != MAX_RECEIVES * tasks:
        raise RuntimeError(f"{received} messages came")
    return _end(deployment, 0)


FLOWS: Mapping[str, Flow] = {
    "immediate": immediate,
    "delayed": delayed,
    "recurring": recurring,
    "fixed delay": fixed_delay,
    "one retry": one_retry,
    "dead": dead,
    "alone": alone,
    "delayed alone": delayed_alone,
}


def counted(name: str, size: int, tasks: int = TASKS) -> Counts:
    """What one task of a flow uses, as the mean of so many in a deployment of their own."""
    body = _calling("bench.noop", {"payload": "x" * size})
    with deployed() as deployment:
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


def _submit(deployment: Deployment, body: Body, tasks: int) -> None:
    for start in range(0, tasks, 100):
        deployment.submit(*[body] * min(tasks - start, 100))


def _claim(deployment: Deployment, expected: int) -> None:
    deployment.clock.advance(MINUTE)
    claimed = deployment.tick()["claimed"]
    if claimed != expected:
        raise RuntimeError(f"claimed {claimed} of {expected}")


def _deliver(deployment: Deployment, expected: int) -> None:
    delivered = deployment.deliver()
    if delivered != expected:
        raise RuntimeError(f"{delivered} messages came, not {expected}")


def _end(deployment: Deployment, expected: int) -> Counts:
    _deliver(deployment, expected)
    deployment.relay()
    counts = deployment.meter.taken()
    counts["stored"] = stored_bytes(deployment.meter.items())
    return counts
