"""Mutants of rate limits."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

from duetime.aws import message_codec
from duetime.core.limits.rate import RateState, interval
from duetime.core.steps import defer as defers
from duetime.core.steps import lease as leases
from duetime.core.times import YEAR
from duetime.executor import rate_gate
from duetime.executor.rate_gate import RateGate
from duetime.sqlite import rate_store
from tests.simulation import limit_workload, rate_workload
from tests.simulation.mutant import Mutant, mutant

GOOD_GRANT, RESERVE, BODY = rate_gate._good_grant, RateGate._reserve, message_codec.body_of
DEFER_TO_SLOT = defers.defer_to_slot
GIVE_BACK = "UPDATE rates SET tat = tat - ? WHERE name = ? AND key = ?"


def rate_mutant(make: Mutant) -> Mutant:
    """Registers a mutant in whose worlds every submission is under a rate limit."""

    @contextmanager
    def made() -> Iterator[None]:
        with patch.object(rate_workload, "SHARES", [1.0]), make():
            yield

    made.__name__ = make.__name__
    return mutant(made)


@rate_mutant
def grant_asked_again():
    """A task asks again at its time, and gets the time behind it."""
    return patch.object(rate_gate, "_good_grant", lambda one, now: None)


@rate_mutant
def slot_given_back_on_a_lost_answer():
    def giving_back(gate, arrivals, rates, now):
        RESERVE(gate, arrivals, rates, now)
        for one in arrivals:
            if one.unanswered:
                row = (interval(one.rate), one.key.name, one.key.key)
                rates.port._database.write(lambda c, row=row: c.execute(GIVE_BACK, row))

    return patch.object(RateGate, "_reserve", giving_back)


@rate_mutant
@contextmanager
def not_before_only_as_delay() -> Iterator[None]:
    """The executor takes a message that has come for one whose time has come."""

    def trusting(one, now):
        grant = GOOD_GRANT(one, now)
        return None if grant is None else min(grant, now)

    def body(delivery):
        return BODY(replace(delivery, not_before=0))

    with (
        patch.object(message_codec, "body_of", body),
        patch.object(rate_gate, "_good_grant", trusting),
    ):
        yield


@rate_mutant
def blocked_limit_not_read():
    def unblocked(store, keys):
        return [RateState() for _ in keys]

    return patch.object(rate_store.SqliteRateStore, "states", unblocked)


@rate_mutant
def grants_good_for_ever():
    return patch.object(rate_gate, "grant_life", lambda rate: YEAR)


@rate_mutant
def reserved_from_an_old_state():
    """A reservation is written without a condition on what it was made from."""
    reserved = rate_store.reserved
    last: list[RateState] = [RateState()]

    def stale(state, request):
        seen, last[0] = last[0], state
        return reserved(min(seen, state, key=lambda one: one.tat), request)

    return patch.object(rate_store, "reserved", stale)


@rate_mutant
def pause_moves_no_clock():
    def moved_only(state, rate, until):
        return replace(state, blocked_until=max(state.blocked_until, until))

    return patch.object(rate_store, "blocked", moved_only)


@rate_mutant
def deferred_with_the_old_token():
    def keeping(wake_policy, delivery, *slot, **options):
        change = DEFER_TO_SLOT(wake_policy, delivery, *slot, **options)
        return replace(change, sets={**change.sets, "token": delivery.token})

    return patch.object(rate_gate, "defer_to_slot", keeping)


@rate_mutant
def grant_kept_by_the_lease():
    def keeping(delivery, **options):
        change = leases.lease(delivery, **options)
        sets = {name: value for name, value in change.sets.items() if name != "grant"}
        return replace(change, sets=sets)

    return patch("duetime.executor.executor.lease", keeping)


@rate_mutant
def every_second_time_wasted():
    reserved = rate_store.reserved

    def wasteful(state, request):
        after, slots = reserved(state, request)
        return replace(after, tat=after.tat + interval(request.rate)), slots

    return patch.object(rate_store, "reserved", wasteful)


@rate_mutant
@contextmanager
def waits_holding_a_slot() -> Iterator[None]:
    """A task that waits for its rate keeps its slot of a concurrency limit."""
    with (
        patch.object(limit_workload, "SHARES", [1.0]),
        patch.object(rate_gate, "_in_slot", lambda uses, known: False),
    ):
        yield
