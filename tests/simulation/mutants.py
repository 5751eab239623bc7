"""The protocol, broken on purpose, one rule at a time. The simulation must notice each."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from random import Random
from unittest.mock import patch

from duetime.embedded.store import EmbeddedStore
from lambdas.core.change import Change, Expect
from lambdas.core.delivery import new_token
from lambdas.core.lifecycle import Step
from lambdas.core.rules import Rules
from lambdas.core.steps import claim as claims
from lambdas.core.steps import lease as leases
from lambdas.core.steps import record as records
from lambdas.core.steps import revive as revivals
from lambdas.core.steps import watch as watches
from lambdas.core.task import Task
from lambdas.core.times import YEAR
from lambdas.core.wakes import WakeKind
from lambdas.executor.books import Books
from lambdas.executor.context import Context
from lambdas.executor.executor import Executor
from lambdas.executor.messages import Messages
from lambdas.scanner import near, scanner
from lambdas.scanner.dispatch import Dispatcher
from tests.simulation import faults, recurring

ANYTHING = Expect(statuses=None)
EVERYTHING = 10_000
DRAWN = faults.drawn

Mutant = Callable[[], AbstractContextManager[object]]
MUTANTS: dict[str, Mutant] = {}


def mutant(make: Callable[[], AbstractContextManager[object]]) -> Mutant:
    MUTANTS[make.__name__] = make
    return make


def aimed(often: tuple[str, ...] = (), **drawn: list[object]) -> Callable[[Mutant], Mutant]:
    """For a mutant that random worlds seldom meet: in its worlds only these schedules are drawn
    (see recurring), and these faults are frequent."""

    def draw(*random: Random) -> faults.Faults:
        found = DRAWN(*random)
        for name in often:
            setattr(found, name, max(getattr(found, name), 3 * faults.STRENGTHS[name]))
        return found

    def aim(make: Mutant) -> Mutant:
        @contextmanager
        def made() -> Iterator[None]:
            with patch.multiple(recurring, **drawn), patch.object(faults, "drawn", draw), make():
                yield

        made.__name__ = make.__name__
        return made

    return aim


def _careless(step):
    """The same change, whatever the task is like by now."""
    return lambda *args, **options: replace(step(*args, **options), expect=ANYTHING)


@mutant
def no_condition_on_the_claim():
    return patch("lambdas.scanner.dispatch.claim", _careless(claims.claim))


@mutant
@contextmanager
def watches_claimed_ahead_of_time() -> Iterator[None]:
    take = scanner._Tick.take

    def eager(index, windows, pacer, *, now, horizon):
        found = near.read_near(index, windows, pacer, now=now, horizon=horizon)
        for w in windows:
            for minute in w.near:
                found.watches += index.wakes(minute, w.shard, WakeKind.WATCH)
        return found

    def take_all(tick, wakes):
        tick._now += YEAR
        left = take(tick, wakes)
        tick._now -= YEAR
        return left

    with (
        patch.object(scanner, "read_near", eager),
        patch.object(scanner._Tick, "take", take_all),
    ):
        yield


@mutant
def no_holder_check_on_record():
    def held(task: Task, step: Step) -> Expect:
        return ANYTHING

    return patch.object(records, "held", held)


@mutant
def one_token_for_a_whole_life():
    again = records._again

    def keeping(rules, task, *args, **options):
        return again(rules, task, *args, **options) | {"token": task.token}

    return patch.object(records, "_again", keeping)


@mutant
def new_token_on_resend():
    look = watches._look_at_sent

    def renaming(rules, task, *, draw, **options):
        verdict = look(rules, task, draw=draw, **options)
        sets = {**verdict.change.sets, "token": new_token(task.due_at, draw.nonce)}
        return replace(verdict, change=replace(verdict.change, sets=sets))

    return patch.object(watches, "_look_at_sent", renaming)


@mutant
def no_watch():
    def never(rules, task_id, lane, due_at, *, now, draw):
        return rules.wake(WakeKind.WATCH, task_id, lane, now + YEAR, now=now)

    return patch.object(Rules, "first_watch", never)


@mutant
@contextmanager
def lease_before_the_due_time() -> Iterator[None]:
    def early(delivery, *, now, holder):
        return leases.lease(delivery, now=max(now, delivery.due_at), holder=holder)

    due = Books._due

    def all_of_them(books):
        books._waiting = [(0, number, message) for _, number, message in books._waiting]
        return due(books)

    with (
        patch.object(Books, "_due", all_of_them),
        patch.object(Executor, "_is_due", lambda executor, message, now: True),
        patch("lambdas.executor.executor.lease", early),
    ):
        yield


@mutant
def release_forgotten_after_a_refused_send():
    def nothing(rules, delivery, *, now):
        never = Expect(statuses=frozenset())
        return Change(step=Step.RENEW, task_id=delivery.task_id, expect=never, sets={})

    return patch("lambdas.enqueue.release", nothing)


@mutant
def release_without_a_condition():
    return patch("lambdas.enqueue.release", _careless(claims.release))


@mutant
def cursor_past_the_look_back():
    """It takes the present minute for done as soon as it was read once."""
    return patch.multiple("lambdas.scanner.window", LOOK_BACK=-1, FRESH=-1)


@mutant
def part_of_the_index_taken_for_all():
    few_wakes = EmbeddedStore.few_wakes

    def newest(store, limit):
        return few_wakes(store, EVERYTHING)[-limit:]

    return patch.object(EmbeddedStore, "few_wakes", newest)


@mutant
def attempt_reset_on_revival():
    def afresh(rules, task, **options):
        change = revivals.revive(rules, task, **options)
        return replace(change, sets={**change.sets, "attempt": 0})

    return patch("lambdas.executor.settling.revive", afresh)


@mutant
def last_message_deleted_on_dead():
    return patch.object(Messages, "bury", Messages.delete)


# Beyond the twelve: what the simulation itself has found, and what it costs to forget it.


@mutant
def message_deleted_under_a_running_attempt():
    def hasty(messages, message, delay):
        if delay > 60_000:
            messages.delete([message])
        else:
            hand_back(messages, message, delay)

    hand_back = Messages.hand_back
    return patch.object(Messages, "hand_back", hasty)


@mutant
def handlers_not_stopped_in_silence():
    return patch.object(Books, "guard", lambda books: None)


@mutant
def late_send_taken_for_a_redrive():
    from lambdas.core.delivery import Message

    def hasty(message, died_at):
        return message.sent_at > message.delivery.written_at + 60_000

    return patch.object(Message, "redriven", hasty)


@mutant
def live_leases_taken_for_dead():
    return patch("lambdas.core.lease.run_out", lambda lease_until, now: True)


@mutant
def lease_without_the_token():
    def any_token(delivery, *, now, holder):
        change = leases.lease(delivery, now=now, holder=holder)
        return replace(change, expect=replace(change.expect, token=None, attempt=None))

    return patch("lambdas.executor.executor.lease", any_token)


@mutant
def key_reserved_after_the_task():
    """Every replay of a submission becomes a task of its own."""
    return patch(
        "lambdas.api.submission.Submission._ids",
        lambda self, wanted, now: [self.ports.chance.new_id(now) for _ in wanted],
    )


@mutant
def one_attempt_too_many():
    def generous(rules, task, *args, **options):
        return records.fail(rules, replace(task, budget=task.budget + 1), *args, **options)

    return patch("lambdas.executor.executor.fail", generous)


@mutant
def timeouts_ignored():
    return patch("lambdas.executor.context.seconds", lambda value: YEAR)


@mutant
def cancellation_not_heard():
    stop = Context.stop

    def deaf(context, *, asked=False, lost=False):
        if not asked:
            stop(context, lost=lost)

    return patch.object(Context, "stop", deaf)


@mutant
def own_write_not_known():
    return patch.object(Change, "stands_in", lambda change, task: False)


@mutant
def expiry_ignored():
    return patch.object(Task, "expired", lambda task, now: False)


@mutant
def earlier_attempts_not_kept():
    return patch("lambdas.executor.executor.keeps_attempt", lambda store, task: True)


@mutant
def snooze_that_uses_up_an_attempt():
    return patch.object(records, "_granted", lambda task, failure: 0)


@mutant
def outcome_given_up_at_once():
    return patch.object(Books, "_keep", lambda books, end: books._executor.lose(end))


# Ticks that run out of time, and lanes that are backed up.


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


# Schedules.


@mutant
@aimed(SCHEDULES=[2], RULES=["delay"])
def runs_not_told_apart_by_their_end():
    """Whoever pays finds that the schedule does not name the run, and lets it be."""
    return patch("lambdas.core.schedules.ended._is_due", lambda schedule, task: False)


@mutant
def overlap_not_written_down():
    from lambdas.core.schedules.decisions import Start

    def hasty(candidate, schedule, tasks):
        return Start()

    return patch("lambdas.core.schedules.overlap.Candidate.decide", hasty)


@mutant
def debts_forgotten():
    return patch("lambdas.debts._pay", lambda ports, task: True)


@mutant
def fire_time_passed_over():
    """The schedule goes on although nobody knows whether its occurrences were put."""
    from lambdas.materialise import _Put

    class Sure(_Put):
        sure = property(lambda self: True, lambda self, value: None)

    return patch("lambdas.materialise._Put", Sure)


@mutant
def ids_drawn_at_random():
    from itertools import count

    from lambdas.core.ids import new_id

    numbers = count(1)

    def anew(schedule_id, maker, fire_time):
        return new_id(fire_time, next(numbers))

    return patch("lambdas.core.schedules.passes.occurrence_id", anew)


@mutant
def old_versions_start():
    return patch("lambdas.core.schedules.overlap.stale", lambda schedule, occurrence: None)


@mutant
def missed_decided_again_and_again():
    """What a pass that was cut off has put is skipped by the next one."""
    return patch("lambdas.core.schedules.ahead.missed", lambda schedule, now: [])


# Runs that come late.


@mutant
def misfires_not_decided_at_the_start():
    return patch("lambdas.core.schedules.overlap.judge", lambda *args: None)


@mutant
@contextmanager
def run_once_decided_again_and_again() -> Iterator[None]:
    """Every late run that comes after the decision takes itself for the latest."""
    from lambdas import materialise
    from lambdas.core.schedules import late

    release = materialise._release

    def forgetful(schedule, *args):
        return late.judge(replace(schedule, settled_until=0), *args)

    def lenient(ports, passes, now):
        for done in passes:
            done.drops.clear()
        return release(ports, passes, now)

    with (
        patch("lambdas.core.schedules.overlap.judge", forgetful),
        patch.object(materialise, "_release", lenient),
    ):
        yield


@mutant
def late_runs_start_before_their_turn():
    from lambdas.core.schedules import late
    from lambdas.core.schedules.decisions import Park

    def hasty(*args):
        judged = late.judge(*args)
        return None if judged == Park() else judged

    return patch("lambdas.core.schedules.overlap.judge", hasty)


@mutant
@aimed(SCHEDULES=[2], RULES=["rate"], OVERLAPS=["allow"], MISFIRES=["run_all"])
def late_runs_start_without_a_pace():
    return patch("lambdas.core.schedules.late._wait_for_start", lambda *args: None)


@mutant
def runs_outside_the_rule_dropped():
    def ordinary(schedule, task_id, occurrence):
        return any(span.running == task_id for span in schedule.spans)

    return patch("lambdas.core.schedules.overlap._is_protected", ordinary)


@mutant
@aimed(SCHEDULES=[2], RULES=["rate"], OVERLAPS=["skip"], MISFIRES=["run_all", "run_once"])
def late_runs_taken_for_overlapping():
    from lambdas.core.schedules import overlap

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
    """One that was let in, and lost its place before its lease, starts all the same."""
    return patch("lambdas.executor.gate.Gate._revoke", lambda *args: True)


@mutant
@aimed(SCHEDULES=[2], RULES=["rate"], OVERLAPS=["skip", "queue"], MISFIRES=["run_all"])
@contextmanager
def ends_of_late_runs_not_noticed() -> Iterator[None]:
    from lambdas.core.schedules.passes import Pass
    from lambdas.core.schedules.schedule import Span

    with (
        patch.object(Pass, "is_over", lambda done, task_id: False),
        patch.object(Span, "freed", lambda span, ended, now: span),
    ):
        yield
