"""Quotas: how many tasks a namespace may submit a second, and how many it may have stored.

A rate is a bucket of `burst` tokens that fills by one every `interval`. Its whole state is the
moment at which the bucket is full again, so a bucket that is full needs no state.
"""

import json
import re
from collections.abc import Mapping
from math import ceil
from typing import Any, Final, Protocol

from duetime.core.errors import DuetimeError
from duetime.core.times import SECOND, Millis
from duetime.core.value import value

ALL_OTHERS: Final = "*"
MIN_RATE, MAX_RATE = 0.01, 100_000.0
MAX_BURST = 100_000
MAX_STORED = 1_000_000_000
FIELDS: Final = ("submissions_per_second", "burst", "stored_tasks")

NANOS_PER_SECOND = 1_000_000_000
NANOS_PER_MILLI = NANOS_PER_SECOND // SECOND
# Clocks of several machines differ by less than this. A bucket that is full later than it could be
# was filled by a clock that was wrong.
CLOCK_SKEW = 10 * NANOS_PER_SECOND

_NAMESPACE = re.compile(r"[A-Za-z0-9._:-]{1,128}", re.ASCII)

Nanos = int


class BadQuota(DuetimeError):
    """Quotas that cannot be used; the message names the field."""


@value(frozen=True, kw_only=True, slots=True)
class Taken:
    """How many tokens were granted, and when the bucket is full again."""

    granted: int
    full_at: Nanos


@value(frozen=True, kw_only=True, slots=True)
class Rate:
    """In any span of time there are at most `burst` + span / `interval` tokens."""

    interval: Nanos
    burst: int

    @property
    def depth(self) -> Nanos:
        """How long an empty bucket takes to be full."""
        return self.burst * self.interval

    def take(self, full_at: Nanos, now: Nanos, wanted: int) -> Taken:
        """Takes as many of the wanted tokens as there are. If there are none, nothing changes."""
        start = max(self.believed(full_at, now), now)
        granted = min(wanted, (now + self.depth - start) // self.interval)
        if granted <= 0:
            return Taken(granted=0, full_at=full_at)
        return Taken(granted=granted, full_at=start + granted * self.interval)

    def wait(self, full_at: Nanos, now: Nanos, wanted: int = 1) -> Nanos:
        """Returns how long it takes until there are so many tokens, if no one takes any. There are
        never more than `burst`."""
        start = max(self.believed(full_at, now), now)
        return max(start + min(wanted, self.burst) * self.interval - self.depth - now, 0)

    def believed(self, full_at: Nanos, now: Nanos) -> Nanos:
        """Returns when the bucket is full again. If a wrong clock has written that, the bucket has
        one token now: a clock that was an hour ahead must not stop a namespace for an hour."""
        if full_at <= now + self.depth + CLOCK_SKEW:
            return full_at
        return now + self.depth - self.interval


@value(frozen=True, kw_only=True, slots=True)
class Quota:
    """The quota of one namespace. None: there is no such limit."""

    submissions_per_second: float | None = None
    burst: int | None = None
    stored_tasks: int | None = None

    @property
    def rate(self) -> Rate | None:
        """Without a burst of its own, a rate allows the submissions of one second at once."""
        per_second = self.submissions_per_second
        if per_second is None:
            return None
        burst = ceil(per_second) if self.burst is None else self.burst
        return Rate(interval=ceil(NANOS_PER_SECOND / per_second), burst=burst)


@value(frozen=True, kw_only=True, slots=True)
class Quotas:
    """The quotas by namespace. `others` is the quota of every namespace that is not named; each has
    a bucket and a count of its own."""

    named: Mapping[str, Quota]
    others: Quota | None = None

    def of(self, namespace: str) -> Quota | None:
        return self.named.get(namespace, self.others)

    def limits_stored(self, namespace: str) -> bool:
        quota = self.of(namespace)
        return quota is not None and quota.stored_tasks is not None


@value(frozen=True, kw_only=True, slots=True)
class Grant:
    """`wait` is the time until one more may be granted; 0 if all were."""

    granted: int
    wait: Nanos = 0


class QuotaStore(Protocol):
    """The state of the quotas. A store that cannot be reached allows everything: a quota protects
    from too much work, and must not stop all of it."""

    def take(self, namespace: str, rate: Rate, wanted: int) -> Grant:
        """Takes tokens from the bucket of a namespace, as many as there are."""
        ...

    def admit(self, namespace: str, limit: int, wanted: int) -> int:
        """Returns how many of the wanted tasks may be stored."""
        ...

    def stored(self, namespace: str) -> int | None:
        """Returns how many tasks are stored, as far as they are counted; None if they are not
        counted yet. Unlike the others, it raises Unavailable."""
        ...


def parse_quotas(text: str) -> Quotas:
    """Reads quotas from JSON text. Raises BadQuota."""
    try:
        return read_quotas(json.loads(text))
    except (ValueError, RecursionError):
        raise BadQuota("quotas: not JSON") from None


def read_quotas(given: Any) -> Quotas:
    """Reads quotas from JSON. Raises BadQuota."""
    if not isinstance(given, Mapping):
        example = '{"shop": {"submissions_per_second": 50}, "*": {"stored_tasks": 100000}}'
        raise BadQuota(f"quotas: must be an object such as {example}")
    quotas = {name: _quota(name, fields) for name, fields in given.items()}
    others = quotas.pop(ALL_OTHERS, None)
    return Quotas(named=quotas, others=others)


def _quota(name: str, given: Any) -> Quota:
    if name != ALL_OTHERS and not _NAMESPACE.fullmatch(name):
        rule = "a namespace is 1 to 128 letters, digits and ._:-, or * for all others"
        raise BadQuota(f"quotas: {name[:60]!r}: {rule}")
    if not isinstance(given, Mapping) or not given:
        raise BadQuota(f"quotas.{name}: must be an object with {', '.join(FIELDS)}")
    for field in given:
        if field not in FIELDS:
            raise BadQuota(f"quotas.{name}.{field}: is none of {', '.join(FIELDS)}")
    per_second = _rate(name, given.get("submissions_per_second"))
    burst = _whole(name, "burst", given.get("burst"), 1, MAX_BURST)
    if burst is not None and per_second is None:
        raise BadQuota(f"quotas.{name}.burst: needs submissions_per_second")
    stored = _whole(name, "stored_tasks", given.get("stored_tasks"), 0, MAX_STORED)
    return Quota(submissions_per_second=per_second, burst=burst, stored_tasks=stored)


def _rate(name: str, given: Any) -> float | None:
    if given is None:
        return None
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    if not is_number or not MIN_RATE <= given <= MAX_RATE:
        bounds = f"from {MIN_RATE:g} to {MAX_RATE:,.0f}"
        raise BadQuota(f"quotas.{name}.submissions_per_second: must be a number {bounds}")
    return float(given)


def _whole(name: str, field: str, given: Any, least: int, most: int) -> int | None:
    if given is None:
        return None
    if not isinstance(given, int) or isinstance(given, bool) or not least <= given <= most:
        bounds = f"from {least} to {most:,}"
        raise BadQuota(f"quotas.{name}.{field}: must be a whole number {bounds}")
    return given


def nanos(at: Millis) -> Nanos:
    return at * NANOS_PER_MILLI
