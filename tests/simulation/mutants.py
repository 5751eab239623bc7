"""Mutants: the protocol with one rule broken. The simulation must catch each.

Here are those of the path of a task; `aging_mutants.py`, `request_mutants.py`, `child_mutants.py`,
`drain_mutants.py`, `limit_mutants.py`, `new_task_mutants.py`, `rate_mutants.py`, `run_mutants.py`,
`run_role_mutants.py`, `schedule_mutants.py` and `worker_mutants.py` have the rest.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

from duetime.core.archive import archive_line
from duetime.core.change import Change, Expect
from duetime.core.delivery import new_token
from duetime.core.lifecycle import Step
from duetime.core.steps import claim as claims
from duetime.core.steps import lease as leases
from duetime.core.steps import record as records
from duetime.core.steps import revive as revivals
from duetime.core.steps import watch as watches
from duetime.core.steps.remove import Removal
from duetime.core.task import Task
from duetime.core.times import YEAR
from duetime.core.wake_policy import WakePolicy
from duetime.core.wakes import WakeKind
from duetime.engine import removal
from duetime.executor.attempt_loop import AttemptLoop
from duetime.executor.executor import Executor
from duetime.executor.message_acks import MessageAcks
from duetime.executor.run_control import RunControl
from duetime.scanner import scanner, wake_reader
from duetime.scanner.backed_up_lanes import BackedUpLanes
from duetime.sqlite.task_store import SqliteTaskStore
from tests.simulation import (  # noqa: F401 - they register theirs
    aging_mutants,
    child_mutants,
    drain_mutants,
    limit_mutants,
    new_task_mutants,
    rate_mutants,
    request_mutants,
    run_mutants,
    run_role_mutants,
    schedule_mutants,
    worker_mutants,
)
from tests.simulation.mutant import ANYTHING, EVERYTHING, MUTANTS, careless, mutant

__all__ = ["MUTANTS"]


@mutant
def no_condition_on_the_claim():
    return patch("duetime.scanner.dispatch.claim", careless(claims.claim))


@mutant
@contextmanager
def watches_claimed_ahead_of_time() -> Iterator[None]:
    process = scanner._Tick.process

    def eager(index, windows, pacer, *, now, horizon):
        found = wake_reader.read_near(index, windows, pacer, now=now, horizon=horizon)
        for w in windows:
            for minute in w.near:
                found.watches += index.wakes(minute, w.shard, WakeKind.WATCH)
        return found

    def take_all(tick, wakes):
        tick._now += YEAR
        left = process(tick, wakes)
        tick._now -= YEAR
        return left

    with (
        patch.object(scanner, "read_near", eager),
        patch.object(scanner._Tick, "process", take_all),
    ):
        yield


@mutant
def no_holder_check_on_record():
    def held(task: Task, step: Step) -> Expect:
        return ANYTHING

    return patch.object(records, "held", held)


@mutant
def one_token_for_a_whole_life():
    retry_fields = records._retry_fields

    def keeping(wake_policy, task, *args, **options):
        return retry_fields(wake_policy, task, *args, **options) | {"token": task.token}

    return patch.object(records, "_retry_fields", keeping)


@mutant
def new_token_on_resend():
    check_sent = watches._check_sent

    def renaming(wake_policy, task, *, draw, **options):
        verdict = check_sent(wake_policy, task, draw=draw, **options)
        sets = {**verdict.change.sets, "token": new_token(task.due_at, draw.nonce)}
        return replace(verdict, change=replace(verdict.change, sets=sets))

    return patch.object(watches, "_check_sent", renaming)


@mutant
def no_watch():
    def never(wake_policy, task_id, lane, due_at, *, now, draw):
        return wake_policy.wake(WakeKind.WATCH, task_id, lane, now + YEAR, now=now)

    return patch.object(WakePolicy, "first_watch", never)


@mutant
@contextmanager
def lease_before_the_due_time() -> Iterator[None]:
    def early(delivery, *, now, holder):
        return leases.lease(delivery, now=max(now, delivery.due_at), holder=holder)

    due = AttemptLoop._due

    def all_of_them(loop):
        loop._waiting = [(0, number, message) for _, number, message in loop._waiting]
        return due(loop)

    with (
        patch.object(AttemptLoop, "_due", all_of_them),
        patch.object(Executor, "_is_due", lambda executor, message, now: True),
        patch("duetime.executor.executor.lease", early),
    ):
        yield


@mutant
def release_forgotten_after_a_refused_send():
    def nothing(wake_policy, delivery, *, now):
        never = Expect(statuses=frozenset())
        return Change(step=Step.RENEW, task_id=delivery.task_id, expect=never, sets={})

    return patch("duetime.engine.enqueue.release", nothing)


@mutant
def release_without_a_condition():
    return patch("duetime.engine.enqueue.release", careless(claims.release))


@mutant
def cursor_past_the_look_back():
    """The cursor passes the current minute as soon as it was read once."""
    return patch.multiple("duetime.scanner.windows", LOOK_BACK=-1, FRESH=-1)


@mutant
def part_of_the_index_taken_for_all():
    few_wakes = SqliteTaskStore.few_wakes

    def newest(store, limit):
        return few_wakes(store, EVERYTHING)[-limit:]

    return patch.object(SqliteTaskStore, "few_wakes", newest)


@mutant
def attempt_reset_on_revival():
    def afresh(wake_policy, task, **options):
        change = revivals.revive(wake_policy, task, **options)
        return replace(change, sets={**change.sets, "attempt": 0})

    return patch("duetime.executor.stale_messages.revive", afresh)


@mutant
def last_message_deleted_on_dead():
    return patch.object(MessageAcks, "bury", MessageAcks.delete)


# Rules whose violation the simulation itself has found.


@mutant
def message_deleted_under_a_running_attempt():
    def hasty(messages, message, delay):
        if delay > 60_000:
            messages.delete([message])
        else:
            hand_back(messages, message, delay)

    hand_back = MessageAcks.hand_back
    return patch.object(MessageAcks, "hand_back", hasty)


@mutant
def handlers_not_stopped_in_silence():
    return patch.object(AttemptLoop, "check_leases", lambda loop: None)


@mutant
def late_send_taken_for_a_redrive():
    from duetime.core.delivery import Message

    def hasty(message, died_at):
        return message.sent_at > message.delivery.written_at + 60_000

    return patch.object(Message, "redriven", hasty)


@mutant
def live_leases_taken_for_dead():
    return patch("duetime.core.steps.lease.run_out", lambda lease_until, now: True)


@mutant
def lease_without_the_token():
    def any_token(delivery, *, now, holder):
        change = leases.lease(delivery, now=now, holder=holder)
        return replace(change, expect=replace(change.expect, token=None, attempt=None))

    return patch("duetime.executor.executor.lease", any_token)


@mutant
def key_reserved_after_the_task():
    """Every replay of a submission creates another task."""
    return patch(
        "duetime.engine.submission.reserve_ids",
        lambda ports, keys, now, ids: [ports.chance.new_id(now) for _ in keys],
    )


@mutant
def one_attempt_too_many():
    def generous(wake_policy, task, *args, **options):
        return records.fail(wake_policy, replace(task, budget=task.budget + 1), *args, **options)

    return patch("duetime.executor.executor.fail", generous)


@mutant
def timeouts_ignored():
    return patch("duetime.executor.run_control.seconds", lambda value: YEAR)


@mutant
def cancellation_ignored():
    request_stop = RunControl.request_stop

    def deaf(control, reason):
        if reason != "cancelled":
            request_stop(control, reason)

    return patch.object(RunControl, "request_stop", deaf)


@mutant
def own_write_not_recognised():
    return patch.object(Change, "already_in", lambda change, task: False)


@mutant
def expiry_ignored():
    return patch.object(Task, "expired", lambda task, now: False)


@mutant
def earlier_attempts_not_kept():
    return patch("duetime.executor.executor.keeps_attempt", lambda store, task: True)


@mutant
def snooze_that_uses_up_an_attempt():
    return patch.object(records, "_extra_budget", lambda task, failure: 0)


@mutant
def outcome_given_up_at_once():
    def abandon(loop, end):
        loop._executor.abandon_outcome(end)

    return patch.object(AttemptLoop, "_retry_record", abandon)


# Ticks that run out of time, and backed-up lanes.


@mutant
def dead_chain_holds_its_slice_for_ever():
    def for_ever(chain, *, slices, continues, within, now):
        return chain is not None and chain.slices == slices and chain.id != continues

    return patch.object(scanner, "must_yield", for_ever)


@mutant
def rule_scans_beside_a_chain():
    return patch.object(scanner, "must_yield", lambda chain, **options: False)


@mutant
def backed_up_lanes_refuse_for_ever():
    return patch.object(BackedUpLanes, "_trickle", lambda lanes, queue, pace: 0)


# Removal.


@mutant
def removal_without_a_condition():
    """A task that was revived since the remover has read it is removed all the same."""

    def careless(connection, removals):
        return [removal.task for removal in removals]

    return patch("duetime.sqlite.task_writes.unchanged", careless)


@mutant
def archived_after_the_removal():
    def hasty(ports, tasks):
        answers = ports.store.remove([Removal(task) for task in tasks])
        ports.archive.write([removal._line(ports, task) for task in tasks])
        return answers

    return patch("duetime.engine.removal.remove_tasks", hasty)


@mutant
def archived_without_earlier_attempts():
    return patch.object(removal, "_line", lambda ports, task: archive_line(task, ()))
