"""Mutants of aging."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

from duetime.core.lanes import Lane
from duetime.core.steps import promote as promotions
from duetime.core.steps import watch as watches
from duetime.core.times import MINUTE, Millis
from duetime.core.wake_policy import WakePolicy
from duetime.core.wakes import WakeKind
from tests.simulation import aging_invariants
from tests.simulation.mutant import Mutant, aimed, mutant


def aging(make: Mutant, age_after: Millis = 5 * MINUTE) -> Mutant:
    """Registers a mutant whose worlds have no schedules, and in which messages are often late."""

    @contextmanager
    def made() -> Iterator[None]:
        with patch.object(aging_invariants, "AGE_AFTERS", [age_after]), make():
            yield

    made.__name__ = make.__name__
    return mutant(aimed(often=("message_late", "slow"), SCHEDULES=[0])(made))


def aging_soon(make: Mutant) -> Mutant:
    """The first watch promotes, while late messages arrive."""
    return aging(make, 2 * MINUTE)


@aging
def promoted_with_the_old_token():
    def keeping(wake_policy, task, **options):
        change = promotions.promote(wake_policy, task, **options)
        return replace(change, sets={**change.sets, "token": task.token})

    return patch.object(watches, "promote", keeping)


@aging_soon
def promoted_after_a_lease():
    """The watch has read the task before an executor took it. A lease keeps token and wake."""

    def careless(wake_policy, task, **options):
        change = promotions.promote(wake_policy, task, **options)
        expect = replace(change.expect, statuses=None, attempt=None)
        return replace(change, expect=expect)

    return patch.object(watches, "promote", careless)


@aging
def watch_beyond_age_after():
    def watch(wake_policy, task_id, lane, at, *, since, now, draw):
        return wake_policy.wake(WakeKind.WATCH, task_id, lane, at, now=now)

    return patch.object(WakePolicy, "watch", watch)


@aging_soon
def watches_not_spread():
    """The second of two scanners takes the claim of the first for its own, and sends as well."""
    return patch("duetime.core.wake_policy.AGING_SPREAD", 0)


@aging
def aged_tasks_are_only_sent_again():
    return patch.object(watches, "is_aged", lambda wake_policy, task, now: False)


@aging
def promoted_to_the_top_at_once():
    def leaping(wake_policy, task, **options):
        change = promotions.promote(wake_policy, task, **options)
        promoted = replace(change.sets["promoted"], lane=Lane.HIGH)
        wake = replace(change.sets["wake"], lane=Lane.HIGH)
        return replace(change, sets={**change.sets, "promoted": promoted, "wake": wake})

    return patch.object(watches, "promote", leaping)
