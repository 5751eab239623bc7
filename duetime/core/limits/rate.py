"""Rate limits: every start gets a time of its own on the clock of its limit (GCRA).

The whole state of a limit with one key is `tat`, the time from which on the next start would be
evenly spaced. A reservation of n starts moves it by n intervals, and the answer is the time of each
start: no one has to ask again. Times are handed out in milliseconds; `tat` has nanoseconds, so that
a rate whose interval is no whole number of them stays exact.

In any span of one period there are at most count + burst of these times. See tests/core/limits.
"""

from duetime.core.limits.definition import Rate
from duetime.core.quotas import NANOS_PER_MILLI, Nanos, nanos
from duetime.core.times import SECOND, Millis
from duetime.core.value import value


@value(frozen=True, kw_only=True, slots=True)
class RateKey:
    """A limit with one of the keys that tasks use it with."""

    namespace: str
    name: str
    key: str = ""


@value(frozen=True, kw_only=True, slots=True)
class RateState:
    tat: Nanos = 0
    blocked_until: Millis = 0  # a target has asked for a pause until then


@value(frozen=True, kw_only=True, slots=True)
class SlotRequest:
    """`at_once`: only times that are not after `asked_at`, so perhaps fewer than `count`."""

    key: RateKey
    rate: Rate
    count: int
    asked_at: Millis
    at_once: bool = False


def interval(rate: Rate) -> Nanos:
    return -(-rate.period * NANOS_PER_MILLI // rate.count)


def tolerance(rate: Rate) -> Nanos:
    """Returns how far before its even time a start may come: `burst` starts."""
    return rate.burst * interval(rate)


def grant_life(rate: Rate) -> Millis:
    """Returns how late a task may start at a time that it was given. If it comes later, others may
    be starting at theirs, so it needs another one. A period has at most this share of starts more
    than its times."""
    return max(SECOND, rate.period // 10)


def free_at_once(state: RateState, rate: Rate, now: Millis) -> int:
    """Returns how many starts the limit allows now."""
    if state.blocked_until > now:
        return 0
    room = nanos(now) + tolerance(rate) - max(state.tat, nanos(now))
    return max(room // interval(rate) + 1, 0)


def reserved(state: RateState, request: SlotRequest) -> tuple[RateState, list[Millis]]:
    """Returns the state after a reservation, and the times that it hands out."""
    rate, now, count = request.rate, request.asked_at, request.count
    if request.at_once:
        count = min(count, free_at_once(state, rate, now))
    tat = max(state.tat, nanos(now)) + count * interval(rate)
    after = RateState(tat=tat if count else state.tat, blocked_until=state.blocked_until)
    return after, slots_before(after, rate, count, now)


def slots_before(after: RateState, rate: Rate, count: int, now: Millis) -> list[Millis]:
    """Returns the times that were handed out last, by the state after that. A time is rounded up:
    the law holds for whole milliseconds, too."""
    step, early = interval(rate), tolerance(rate)
    first = after.tat - count * step - early
    earliest = max(now, after.blocked_until)
    return [max(earliest, _millis_after(first + place * step)) for place in range(count)]


def blocked(state: RateState, rate: Rate, until: Millis) -> RateState:
    """Returns the state after a target has asked for a pause. The first starts after it are evenly
    spaced: a target that was asked too much does not get a burst."""
    return RateState(
        tat=max(state.tat, tat_after_block(rate, until)),
        blocked_until=max(state.blocked_until, until),
    )


def tat_after_block(rate: Rate, until: Millis) -> Nanos:
    return nanos(until) + tolerance(rate)


def most_starts(rate: Rate, span: Millis) -> int:
    """Returns how many times a limit hands out at most in a span, its end excluded."""
    return -(-(nanos(span) + tolerance(rate)) // interval(rate))


def next_slot(state: RateState, rate: Rate, now: Millis) -> Millis:
    """Returns when the next task may start, if no other asks before it."""
    request = SlotRequest(key=RateKey(namespace="", name=""), rate=rate, count=1, asked_at=now)
    return reserved(state, request)[1][0]


def _millis_after(at: Nanos) -> Millis:
    return -(-at // NANOS_PER_MILLI)
