"""Mutants: the protocol with one rule broken. The simulation must catch each."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from random import Random
from unittest.mock import patch

from duetime.core.archive import archive_line
from duetime.core.change import Change, Expect
from duetime.core.delivery import new_token
from duetime.core.lifecycle import Step
from duetime.core.steps import cancel as cancels
from duetime.core.steps import claim as claims
from duetime.core.steps import defer as deferrals
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
from duetime.scanner.dispatch import Dispatcher
from duetime.sqlite.task_store import SqliteTaskStore
from tests.simulation import (
    bulk_workload,
    change_workload,
    faults,
    schedule_workload,
    unique_workload,
)

ANYTHING = Expect(statuses=None)
EVERYTHING = 10_000
DRAWN = faults.draw_faults

Mutant = Callable[[], AbstractContextManager[object]]
MUTANTS: dict[str, Mutant] = {}


def mutant(make: Mutant, *, changed: float = 0.0) -> Mutant:
    """Registers a mutant. `changed` is the share of the tasks that clients change in its worlds:
    the more happens in a world, the seldomer it triggers a mutant of something else."""

    @contextmanager
    def made() -> Iterator[None]:
        with patch.object(change_workload, "SHARES", [changed]), make():
            yield

    MUTANTS[make.__name__] = made
    return made


def change_mutant(make: Mutant) -> Mutant:
    return mutant(make, changed=1.0)


def aimed(often: tuple[str, ...] = (), **drawn: list[object]) -> Callable[[Mutant], Mutant]:
    """Aims the worlds at a mutant that random worlds seldom trigger: they draw only these kinds of
    schedules (see `schedule_workload`), and these faults are frequent."""

    def draw(*random: Random) -> faults.Faults:
        found = DRAWN(*random)
        for name in often:
            setattr(found, name, max(getattr(found, name), 3 * faults.STRENGTHS[name]))
        return found

    def aim(make: Mutant) -> Mutant:
        @contextmanager
        def made() -> Iterator[None]:
            with (
                patch.multiple(schedule_workload, **drawn),
                patch.object(faults, "draw_faults", draw),
                make(),
            ):
                yield

        made.__name__ = make.__name__
        return made

    return aim


def _careless(step):
    """Returns the step without the condition of its change."""
    return lambda *args, **options: replace(step(*args, **options), expect=ANYTHING)


@mutant
def no_condition_on_the_claim():
    return patch("duetime.scanner.dispatch.claim", _careless(claims.claim))


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
    return patch("duetime.engine.enqueue.release", _careless(claims.release))


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
        "duetime.api.submission.reserve_ids",
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

    def deaf(control, *, cancelled=False, lease_lost=False):
        if not cancelled:
            request_stop(control, lease_lost=lease_lost)

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


# Changes.


def _changed(**fields: Callable[[Task, Change], object]) -> AbstractContextManager[object]:
    """Replaces what a deferral writes to these fields."""

    def broken(wake_policy, task, wanted, **options):
        change = deferrals.defer(wake_policy, task, wanted, **options)
        sets = {name: value(task, change) for name, value in fields.items()}
        return replace(change, sets={**change.sets, **sets})

    return patch("duetime.engine.defer.defer", broken)


@change_mutant
def change_keeps_the_token_of_a_due_time():
    def kept(task: Task, change: Change) -> str:
        return task.token if task.due_at == change.sets["due_at"] else change.sets["token"]

    return _changed(token=kept)


@change_mutant
def change_keeps_the_wake():
    return _changed(wake=lambda task, change: task.wake)


@change_mutant
def change_keeps_the_budget():
    return _changed(budget=lambda task, change: task.budget)


@change_mutant
def change_without_a_condition():
    return patch("duetime.engine.defer.defer", _careless(deferrals.defer))


@change_mutant
@contextmanager
def change_made_from_an_old_version() -> Iterator[None]:
    """The token is not expected, so that of two changes the second brings the old fields back."""

    def hasty(*args, **options):
        change = deferrals.defer(*args, **options)
        return replace(change, expect=replace(change.expect, token=None))

    with (
        patch.object(change_workload, "RUN_BESIDE", 1.0),
        patch("duetime.engine.defer.defer", hasty),
    ):
        yield


@change_mutant
def change_of_a_running_task():
    """The status is not expected, so that an attempt that has started counts as not sent."""

    def hasty(*args, **options):
        change = deferrals.defer(*args, **options)
        return replace(change, expect=replace(change.expect, statuses=None, attempt=None))

    return patch("duetime.engine.defer.defer", hasty)


# Bulk operations.


@mutant
def shift_repeated_without_its_mark():
    return patch("duetime.api.bulk_actions.is_marked", lambda task, mark: False)


@mutant
@aimed(often=("frozen", "slow"), SCHEDULES=[0])
@contextmanager
def shift_of_a_task_that_no_longer_matches() -> Iterator[None]:
    with (
        patch.multiple(change_workload, SHARES=[1.0]),
        patch.multiple(bulk_workload, SHARES=[1.0], TAGS=["shift"], SHIFTS=4, PAGE=50),
        patch("duetime.api.bulk_actions.unwanted", lambda task, wanted: None),
    ):
        yield


@mutant
@aimed(often=("frozen", "slow"), SCHEDULES=[0])
@contextmanager
def bulk_cancel_without_a_condition() -> Iterator[None]:
    """A task whose tags a client has changed since the page was read is cancelled."""

    def hasty(task, **options):
        change = cancels.cancel_seen(task, **options)
        return replace(change, expect=replace(change.expect, token=None))

    with (
        patch.multiple(change_workload, SHARES=[1.0]),
        patch.multiple(bulk_workload, SHARES=[1.0], TAGS=["cancel"], CANCELS=10, PAGE=50),
        patch("duetime.api.bulk_actions.cancel_seen", hasty),
    ):
        yield


@mutant
@aimed(often=("frozen", "slow"), SCHEDULES=[0])
@contextmanager
def discard_without_a_condition() -> Iterator[None]:
    """A task that was revived since the request read it is given up."""
    from duetime.core.steps import discard as discards

    with (
        patch.multiple(bulk_workload, SHARES=[1.0], DISCARDS=10),
        patch("duetime.api.bulk_actions.discard", _careless(discards.discard)),
    ):
        yield


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
    return patch.object(Dispatcher, "_trickle", lambda dispatcher, lane: 0)


# Unique keys.


def unique(make: Mutant) -> Mutant:
    """Aims the worlds at unique keys: every submission has one of two."""

    @contextmanager
    def made() -> Iterator[None]:
        with patch.multiple(unique_workload, SHARES=[1], KEYS=2), make():
            yield

    made.__name__ = make.__name__
    return made


@mutant
@unique
def unique_key_taken_over_without_its_condition():
    take_keys = SqliteTaskStore.take_keys

    def careless(store, keys):
        return [take_keys(store, [_from_its_holder(store, key)])[0] for key in keys]

    def _from_its_holder(store, key):
        if key.instead_of is None:
            return key
        [holder] = take_keys(store, [replace(key, instead_of=None)])
        return replace(key, instead_of=holder)

    return patch.object(SqliteTaskStore, "take_keys", careless)


@mutant
@unique
def unique_key_taken_from_a_live_task():
    from duetime.core.steps.supersede import KeyState

    return patch("duetime.api.unique.key_state", lambda task, key: KeyState.FREE)


@mutant
@unique
def unique_key_taken_from_a_dead_task_that_can_be_revived():
    from duetime.core.steps.supersede import KeyState, key_state

    def hasty(task, key):
        state = key_state(task, key)
        return KeyState.FREE if state is KeyState.DEAD else state

    return patch("duetime.api.unique.key_state", hasty)


@mutant
@unique
def unique_key_taken_from_a_task_that_is_still_to_be_stored():
    return patch("duetime.api.unique.UniqueTasks._is_abandoned", lambda *args: True)


@mutant
@unique
def unique_key_never_freed():
    from duetime.core.steps.supersede import KeyState

    return patch("duetime.api.unique.key_state", lambda task, key: KeyState.HELD)


# Schedules.


@mutant
@aimed(SCHEDULES=[2], RULES=["delay"])
def end_of_a_run_not_matched_to_its_schedule():
    """The follow-up of a run finds that the schedule does not name the run, and does nothing."""
    return patch("duetime.core.schedules.run_ended._is_due", lambda schedule, task: False)


@mutant
def overlap_not_recorded():
    from duetime.core.schedules.start_decisions import Start

    def hasty(candidate, schedule, tasks):
        return Start()

    return patch("duetime.core.schedules.overlap.Candidate.decide", hasty)


@mutant
def follow_ups_forgotten():
    return patch("duetime.engine.followups._run_follow_up", lambda ports, task: True)


@mutant
def fire_time_lost_after_an_unknown_put():
    """The schedule advances although the answer to the put of its occurrences is unknown."""
    from duetime.engine.materialise import _Put

    class Sure(_Put):
        sure = property(lambda self: True, lambda self, value: None)

    return patch("duetime.engine.materialise._Put", Sure)


@mutant
def ids_drawn_at_random():
    from itertools import count

    from duetime.core.ids import new_id

    numbers = count(1)

    def anew(schedule_id, maker, fire_time):
        return new_id(fire_time, next(numbers))

    return patch("duetime.core.schedules.lookahead_pass.occurrence_id", anew)


@mutant
def old_versions_start():
    return patch("duetime.core.schedules.overlap.stale_reason", lambda schedule, occurrence: None)


@mutant
def missed_decided_again_and_again():
    """A pass skips the occurrences that an interrupted pass has put."""
    return patch("duetime.core.schedules.lookahead.missed", lambda schedule, now: [])


# Late runs.


@mutant
def misfires_not_decided_at_the_start():
    return patch("duetime.core.schedules.overlap.decide_late_run", lambda *args: None)


@mutant
@contextmanager
def run_once_decided_again_and_again() -> Iterator[None]:
    """Every late run after the decision counts as the latest."""
    from duetime.core.schedules import late_runs as late
    from duetime.engine import materialise

    release = materialise._release

    def forgetful(schedule, *args):
        return late.decide_late_run(replace(schedule, settled_until=0), *args)

    def lenient(ports, passes, now):
        for done in passes:
            done.drops.clear()
        return release(ports, passes, now)

    with (
        patch("duetime.core.schedules.overlap.decide_late_run", forgetful),
        patch.object(materialise, "_release", lenient),
    ):
        yield


@mutant
def late_runs_start_before_their_turn():
    from duetime.core.schedules import late_runs as late
    from duetime.core.schedules.start_decisions import Park

    def hasty(*args):
        judged = late.decide_late_run(*args)
        return None if judged == Park() else judged

    return patch("duetime.core.schedules.overlap.decide_late_run", hasty)


@mutant
@aimed(SCHEDULES=[2], RULES=["rate"], OVERLAPS=["allow"], MISFIRES=["run_all"])
def late_runs_start_without_a_pace():
    return patch("duetime.core.schedules.late_runs._wait_for_start", lambda *args: None)


@mutant
def runs_outside_the_rule_dropped():
    def ordinary(schedule, task_id, occurrence):
        return any(span.running == task_id for span in schedule.spans)

    return patch("duetime.core.schedules.overlap._is_protected", ordinary)


@mutant
@aimed(SCHEDULES=[2], RULES=["rate"], OVERLAPS=["skip"], MISFIRES=["run_all", "run_once"])
def late_runs_taken_for_overlapping():
    from duetime.core.schedules import overlap

    def hasty(candidate, schedule):
        return overlap._is_protected(schedule, candidate.task_id, candidate.occurrence)

    return patch.object(overlap.Candidate, "_has_to_wait", hasty)


@mutant
@aimed(
    often=("frozen", "message_doubled"),
    SCHEDULES=[2],
    RULES=["rate"],
    OVERLAPS=["skip"],
    MISFIRES=["run_all", "run_once"],
    GRACES=[0],
)
def late_runs_keep_their_messages():
    """A run that the gate admitted, and that lost its turn before its lease, still starts."""
    return patch("duetime.executor.overlap_gate.OverlapGate._revoke", lambda *args: True)


@mutant
@aimed(SCHEDULES=[2], RULES=["rate"], OVERLAPS=["skip", "queue"], MISFIRES=["run_all"])
@contextmanager
def ends_of_late_runs_not_noticed() -> Iterator[None]:
    from duetime.core.schedules.lookahead_pass import LookaheadPass
    from duetime.core.schedules.schedule import Span

    with (
        patch.object(LookaheadPass, "is_over", lambda done, task_id: False),
        patch.object(Span, "without_run", lambda span, ended, now: span),
    ):
        yield


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
