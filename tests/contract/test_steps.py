"""Every step of a task has the same result in every backend."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from duetime.core.change import Applied, Refused
from duetime.core.delivery import delivery_of
from duetime.core.lanes import Lane
from duetime.core.lifecycle import Status
from duetime.core.ports import TaskStore
from duetime.core.steps.cancel import cancel_seen
from duetime.core.steps.claim import claim
from duetime.core.steps.discard import DISCARDED, discard
from duetime.core.steps.lease import lease
from duetime.core.steps.revive import revive
from duetime.core.steps.revoke import revoke
from duetime.core.times import MINUTE, SECOND
from tests.contract.steps import (
    LATER,
    LONG,
    STEPS,
    Made,
    a_dead_task,
    buried_with_a_long_traceback,
    deferred,
    deferred_to_another_lane,
    deferred_until_later,
    failed_at_length,
    failed_with_a_long_traceback,
    leased_again,
    leased_by_a_later_sending,
    settled,
)
from tests.factories import NOW, WAKE_POLICY, a_draw, a_sent_task, a_task


@pytest.mark.parametrize("made", STEPS, ids=lambda made: made.__name__)
def test_every_step_is_applied_and_can_be_repeated(store: TaskStore, made: Callable[[], Made]):
    task, change = made()
    store.put([task])
    after = change.applied_to(task)

    assert after != task
    assert store.apply([change]) == [Applied(after)]
    assert store.get([task.id]) == {task.id: after}
    assert store.apply([change]) == [Applied(after)], "the same step again is our own"


BEFORE_THE_END = [made for made in STEPS if made is not settled]


@pytest.mark.parametrize("made", BEFORE_THE_END, ids=lambda made: made.__name__)
def test_a_step_after_the_end_is_refused(store: TaskStore, made: Callable[[], Made]):
    task, change = made()
    finished = replace(task, status=Status.SUCCEEDED, wake=None, lease_until=None)
    store.put([finished])

    assert store.apply([change]) == [Refused(finished)]


def test_an_attempt_becomes_the_previous_one_when_the_next_begins(store: TaskStore):
    task, change = leased_again()
    store.put([task])

    [answer] = store.apply([change])

    assert answer.stored.previous == task.current
    assert answer.stored.current.number == 2


def test_a_lease_stores_which_message_started_it(store: TaskStore):
    task, change = leased_by_a_later_sending()
    store.put([task])

    [answer] = store.apply([change])

    assert answer.stored.sends == store.get([task.id])[task.id].sends == NOW + SECOND


def test_of_a_lease_and_a_revocation_the_first_wins(store: TaskStore):
    tasks = [a_sent_task(), a_sent_task()]
    store.put(tasks)
    leases = [lease(delivery_of(task, LATER), now=LATER, holder="me") for task in tasks]
    revocations = [revoke(task, now=LATER, nonce="another") for task in tasks]

    [leased, revoked] = store.apply([leases[0], revocations[1]])
    answers = store.apply([revocations[0], leases[1]])

    assert answers == [Refused(leased.stored), Refused(revoked.stored)]


def test_of_a_lease_and_a_deferral_the_first_wins(store: TaskStore):
    """An executor that leases with a message of the old version gets nothing."""
    made = [deferred(a_sent_task(), payload="new") for _ in range(2)]
    store.put([task for task, _ in made])
    leases = [lease(delivery_of(task, NOW), now=LATER, holder="me") for task, _ in made]
    deferrals = [change for _, change in made]

    [leased, changed] = store.apply([leases[0], deferrals[1]])
    answers = store.apply([deferrals[0], leases[1]])

    assert answers == [Refused(leased.stored), Refused(changed.stored)]


def test_a_deferral_made_from_an_old_spec_is_refused(store: TaskStore):
    task, first = deferred(a_task(), payload="first")
    _, second = deferred(task, tags={"team": "growth"})
    store.put([task])

    [changed] = store.apply([first])

    assert store.apply([second]) == [Refused(changed.stored)]
    assert store.apply([first]) == [Applied(changed.stored)], "the same again is our own"


def test_a_claim_does_not_stop_a_deferral(store: TaskStore):
    task, change = deferred(a_task())
    store.put([task])
    store.apply([claim(WAKE_POLICY, task.wake, now=NOW, draw=a_draw())])

    [answer] = store.apply([change])

    assert answer == Applied(change.applied_to(task))


def test_a_changed_task_is_found_by_its_new_wake_only(store: TaskStore):
    task, change = deferred_to_another_lane()
    store.put([task])

    [changed] = store.apply([change])

    assert store.few_wakes(10) == [changed.stored.wake]
    assert changed.stored.wake.lane is Lane.HIGH


def test_a_changed_spec_is_kept_by_every_later_step(store: TaskStore):
    """The SQLite store has a cache of small specs; a spec may grow out of it, and back into it."""
    task = a_sent_task()
    store.put([task])
    for payload in (LONG, "short", {"rows": "y" * 3_000}, None):
        _, change = deferred(task, NOW, payload=payload, expires_at=LATER)
        [answer] = store.apply([change])
        task = answer.stored
        assert store.get([task.id])[task.id].spec.payload == payload

    [leased] = store.apply([lease(delivery_of(task, NOW), now=NOW + SECOND, holder="me")])

    assert leased.stored.spec == task.spec


def test_a_changed_expiry_is_that_of_the_lease(store: TaskStore):
    task, change = deferred(a_sent_task(), NOW, expires_at=LATER)
    store.put([task])
    [changed] = store.apply([change])
    late = lease(delivery_of(changed.stored, NOW), now=LATER, holder="me")

    assert store.apply([late]) == [Refused(changed.stored)]


def test_a_task_is_revived_once(store: TaskStore):
    """The first revival changes the token; a revival of an earlier death is too late."""
    task = a_dead_task()
    first, second = (revive(WAKE_POLICY, task, now=LATER, draw=a_draw()) for _ in range(2))
    store.put([task])

    [alive] = store.apply([first])

    assert (alive.stored.status, alive.stored.sends) == (Status.RETRYING, 0)
    assert store.apply([second]) == [Refused(alive.stored)]
    assert store.apply([first]) == [Applied(alive.stored)], "the same again is our own"


def test_a_revival_that_knows_an_earlier_death_is_refused(store: TaskStore):
    task = a_dead_task()
    again = replace(task, attempt=task.attempt + 1)
    store.put([again])

    assert store.apply([revive(WAKE_POLICY, task, now=LATER, draw=a_draw())]) == [Refused(again)]


def test_a_discarded_task_is_not_revived(store: TaskStore):
    task = a_dead_task()
    change = discard(task, now=LATER)
    store.put([task])

    [ended] = store.apply([change])

    assert (ended.stored.status, ended.stored.reason) == (Status.CANCELLED, DISCARDED)
    assert ended.stored.last_failure == task.last_failure
    late = revive(WAKE_POLICY, task, now=LATER, draw=a_draw())
    assert store.apply([late]) == [Refused(ended.stored)]
    assert store.apply([change]) == [Applied(ended.stored)], "the same again is our own"


def test_a_task_that_was_revived_and_died_again_is_not_discarded(store: TaskStore):
    task = a_dead_task()
    again = replace(task, attempt=task.attempt + 1, token=f"{task.token}x")
    store.put([again])

    assert store.apply([discard(task, now=LATER)]) == [Refused(again)]
    assert store.apply([discard(again, now=LATER)]) != [Refused(again)]


def test_a_task_that_was_changed_since_it_was_read_is_not_cancelled(store: TaskStore):
    task, change = deferred_until_later()
    store.put([task])
    [changed] = store.apply([change])

    assert store.apply([cancel_seen(task, now=NOW)]) == [Refused(changed.stored)]
    [ended] = store.apply([cancel_seen(changed.stored, now=NOW)])
    assert ended.stored.status is Status.CANCELLED


def test_a_revived_task_keeps_the_attempt_that_it_died_of(store: TaskStore):
    task, change = buried_with_a_long_traceback()
    store.put([task])
    [dead] = store.apply([change])
    [alive] = store.apply([revive(WAKE_POLICY, dead.stored, now=LATER, draw=a_draw())])
    again = lease(delivery_of(alive.stored, LATER), now=LATER, holder="me")

    [leased] = store.apply([again])

    assert leased.stored.previous == dead.stored.current
    assert store.get([task.id]) == {task.id: leased.stored}


@pytest.mark.parametrize(
    "failed", [failed_at_length, failed_with_a_long_traceback], ids=lambda made: made.__name__
)
def test_a_long_error_moves_on_with_its_attempt(store: TaskStore, failed: Callable[[], Made]):
    task, change = failed()
    store.put([task])
    [ended] = store.apply([change])
    again = lease(delivery_of(ended.stored, NOW), now=NOW + MINUTE, holder="me")

    store.apply([again])

    assert store.get([task.id])[task.id].previous == ended.stored.current
