"""A target that is called too often slows down every task under its rate limit."""

import logging
from collections.abc import Sequence

from duetime.core.errors import Unavailable
from duetime.core.limits.ports import LimitStore, RateStore
from duetime.core.limits.rate import RateKey
from duetime.core.ports import Ports
from duetime.core.steps.record import LONGEST_RETRY_AFTER, Failure
from duetime.core.task import Task
from duetime.core.times import Millis
from duetime.executor.rate_gate import rates_of
from duetime.executor.runs import Ended, log_fields

log = logging.getLogger(__name__)

TOO_MANY_REQUESTS = "Http429"


def slow_down(ports: Ports, ended: Sequence[Ended]) -> None:
    """Blocks the limits whose targets have asked for a pause. If the store does not answer, the
    next task that the target refuses does it."""
    limits, rates = ports.limits, ports.rates
    if rates is None:
        return
    for end in ended:
        failure = end.failure
        pause = pause_of(failure) if failure else None
        if failure is None or pause is None or end.tries:
            continue
        try:
            _block(limits, rates, end.run.task, failure, ports.clock.now() + pause)
        except Unavailable as error:
            log.warning("rate limit not slowed down: %s", error, extra=log_fields(end.run))


def pause_of(failure: Failure) -> Millis | None:
    """Returns for how long a target does not want to be called; None if it has not said so."""
    if failure.limited is not None:
        asked = failure.delay
    else:
        asked = failure.retry_after if failure.error.type == TOO_MANY_REQUESTS else None
    return min(asked, LONGEST_RETRY_AFTER) if asked and asked > 0 else None


def _block(
    limits: LimitStore, rates: RateStore, task: Task, failure: Failure, until: Millis
) -> None:
    spec = task.spec
    names = [use.name for use in spec.limits if failure.limited in (None, use.name)]
    uses = [use for use in spec.limits if use.name in names]
    known = limits.recent(spec.namespace, names) if names else {}
    for use, rate in rates_of(uses, known):
        key = RateKey(namespace=spec.namespace, name=use.name, key=use.key)
        rates.block(key, rate, until)
        fields = {"step": "record", "task_id": task.id, "limit": use.name, "key": use.key}
        log.info("rate limit slowed down", extra=fields | {"until": until})
