"""materialise: turns the occurrences of schedules that come due soon into tasks.

The scanner calls it for schedules whose wake has come due, the API after a change, the relay after
the end of a run.

It puts the tasks, writes the ledger, advances the schedules and enqueues the tasks, and may be cut
off anywhere: a task that was put is found again by its id, and one that was not enqueued has a
watch. The write that advances a schedule loses if the schedule was changed or paused meanwhile:
then the tasks that were put belong to an old version, and are cancelled here or before they start.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from typing import NamedTuple, TypeGuard

from duetime import tracing
from duetime.core.change import Answer, Applied, Refused, Unknown, Unreadable
from duetime.core.errors import Unavailable
from duetime.core.ports import Ports
from duetime.core.schedules.changes import broken
from duetime.core.schedules.ledger import Entry, LedgerOutcome, LedgerRow
from duetime.core.schedules.lookahead import look_ahead, needed_task_ids
from duetime.core.schedules.lookahead_pass import LookaheadPass, PlannedOccurrence
from duetime.core.schedules.occurrence_spec import occurrence_spec
from duetime.core.schedules.schedule import OWN_RULE, Schedule
from duetime.core.schedules.start_decisions import CHANGED, MISFIRE
from duetime.core.steps.cancel import cancel_unstarted
from duetime.core.steps.submit import submit
from duetime.core.task import Task
from duetime.core.times import Millis
from duetime.core.value import value
from duetime.core.wakes import WakeKind
from duetime.engine.enqueue import enqueue

log = logging.getLogger(__name__)


class Evaluator:
    """Evaluates schedules, and marks a schedule that cannot be evaluated as broken, so that it does
    not affect the others."""

    def __init__(self, ports: Ports, now: Millis) -> None:
        self._ports = ports
        self._now = now
        self.broken = 0  # schedules that were marked
        self._known: dict[str, Task] = {}  # the tasks that the schedules depend on

    def load(self, schedules: Sequence[Schedule]) -> list[Schedule]:
        """Reads the tasks that the schedules depend on. Returns the schedules that can be
        evaluated."""
        ids: list[str] = []
        sound = []
        for schedule in schedules:
            with self._marking_broken(schedule):
                ids += needed_task_ids(schedule, self._now, self._ports.wake_policy.horizon)
                sound.append(schedule)
        found = self._ports.store.get(ids) if ids else {}
        self._known = {i: task for i, task in found.items() if task.spec.occurrence}
        return sound

    def look_ahead(self, schedule: Schedule, slot: Millis) -> LookaheadPass | None:
        with self._marking_broken(schedule):
            return look_ahead(self._ports.wake_policy, schedule, self._now, slot, self._known)
        return None

    @contextmanager
    def _marking_broken(self, schedule: Schedule) -> Iterator[None]:
        try:
            yield
        except OSError as error:  # this machine's fault: a time zone or module could not be opened
            raise Unavailable(f"the schedule could not be evaluated: {error}") from error
        except Exception as error:
            log.exception("schedule broken", extra={"step": "scan", "schedule_id": schedule.id})
            reason = f"{type(error).__name__}: {error}"
            aside = broken(self._ports.wake_policy, schedule, reason, self._now)
            self._ports.schedules.write_ledger(aside.ledger_entries, self._now)
            self._ports.schedules.put([aside.schedule])
            self.broken += 1


ID_TAKEN = "a client has used the id of this run for another task"
MAX_WRITE_ATTEMPTS = 5  # to write a schedule whose runs start and end at the same time
NO_SLOTS: Mapping[str, Millis] = {}


@value(kw_only=True, slots=True)
class Materialised:
    occurrences: int = 0  # new tasks
    sent: int = 0
    advanced: list[Schedule] = field(default_factory=list)
    broken: int = 0
    more: bool = False  # one pass could not put everything that is due


class _Built(NamedTuple):
    task: Task | None
    row: LedgerRow
    awaited: bool  # the next run waits for its end, so it must be enqueued at once


@value(kw_only=True, slots=True)
class _Put:
    """A pass whose occurrences have been put."""

    done: LookaheadPass
    tasks: list[Task] = field(default_factory=list)  # new
    found: list[Task] = field(default_factory=list)  # put by a cut-off pass: to be enqueued now
    sure: bool = True  # it is known of every occurrence whether it was put
    advanced: bool = False

    @property
    def id(self) -> str:
        return self.done.schedule.id


def materialise(
    ports: Ports,
    schedules: Sequence[Schedule],
    slots: Mapping[str, Millis] = NO_SLOTS,
    *,
    now: Millis,
) -> Materialised:
    """Turns the occurrences of these schedules that come due soon into tasks.

    `slots` maps schedule ids to the time when a catch-up run may start. `now` must not be later
    than the read of the schedules: with a later time, a delayed caller would treat fire times as
    missed that others have put since."""
    done = Materialised()
    decided = _round(ports, schedules, slots, now, done)
    if decided:  # what happens to missed fire times is stored: now they can be put
        _round(ports, decided, slots, now, done)
    return done


def _round(
    ports: Ports,
    schedules: Sequence[Schedule],
    slots: Mapping[str, Millis],
    now: Millis,
    done: Materialised,
) -> list[Schedule]:
    """Makes one pass over each schedule. Returns the schedules that need another pass."""
    evaluator = Evaluator(ports, now)
    passes = [
        found
        for schedule in evaluator.load(schedules)
        if (found := evaluator.look_ahead(schedule, slots.get(schedule.id, 0)))
    ]
    done.broken += evaluator.broken
    put = _put(ports, passes, now)
    lost = _advance(ports, put, done)
    stale = [task for p in put if p.id in lost for task in p.tasks]
    if stale:
        ports.store.apply([cancel_unstarted(task, now=now, reason=CHANGED) for task in stale])
    due = [task for p in put if p.id not in lost for task in p.tasks]
    done.occurrences += len(due)
    due += [task for p in put if p.id not in lost for task in p.found]
    done.sent += enqueue(ports, [t for t in due if t.wake and t.wake.kind is WakeKind.WATCH])
    done.sent += _release(ports, [p.done for p in put if p.advanced], now)
    done.more |= any(p.done.more for p in put)
    again = {p.id for p in put if p.done.needs_another_pass}
    return [schedule for schedule in done.advanced if schedule.id in again]


def _release(ports: Ports, passes: Sequence[LookaheadPass], now: Millis) -> int:
    """Enqueues the late runs whose turn it is, and cancels those that the misfire policy skips. If
    the process dies here, the watches of the tasks do both."""
    drops = [task for p in passes for task in p.drops]
    if drops:
        ports.store.apply([cancel_unstarted(task, now=now, reason=MISFIRE) for task in drops])
    releases = [release for p in passes for release in p.releases]
    return enqueue(ports, [t for t, _ in releases], {task.id: at for task, at in releases})


def _put(ports: Ports, passes: Sequence[LookaheadPass], now: Millis) -> list[_Put]:
    """Puts the tasks and writes the ledger. A schedule must not advance past an occurrence if it is
    unknown whether that was put: its pass ends here and is repeated."""
    notes: list[Entry] = [entry for p in passes for entry in p.ledger_entries]
    built = [_build(ports, p, ahead, now) for p in passes for ahead in p.occurrences]
    notes += [one.row for one in built if one.task is None]
    tasks = [one for one in built if one.task is not None]
    put = {p.schedule.id: _Put(done=p) for p in passes}
    answers = _put_tasks(ports, [one.task for one in tasks if one.task])
    for one, answer in zip(tasks, answers, strict=True):
        of = put[one.row.schedule_id]
        if isinstance(answer, Unknown) and not isinstance(answer, Unreadable):  # it exists
            of.sure = False
            continue
        if isinstance(answer, Refused) and not _is_run_of(one.row, answer.stored):
            notes.append(_record_taken(of.done, one))
            continue
        notes.append(one.row)
        if isinstance(answer, Applied) and one.task:
            of.tasks.append(one.task)
        elif isinstance(answer, Refused) and one.awaited and _is_unstarted(answer.stored):
            of.found.append(answer.stored)
    if notes:
        ports.schedules.write_ledger(notes, now)
    return list(put.values())


def _put_tasks(ports: Ports, tasks: Sequence[Task]) -> list[Answer]:
    if all(task.spec.ordering_key is None for task in tasks):
        return ports.store.put(tasks)
    from duetime.engine.ordered import put_in_order

    return put_in_order(ports, tasks, lambda: ports.store.put(tasks))


def _is_run_of(row: LedgerRow, stored: Task | None) -> bool:
    """Whether a stored task is a run of this schedule. A client that computes the id of a coming
    fire time can submit a task with it; that fire time then has no run."""
    occurrence = stored.spec.occurrence if stored else None
    return stored is None or (occurrence is not None and occurrence.schedule_id == row.schedule_id)


def _record_taken(done: LookaheadPass, one: _Built) -> LedgerRow:
    """Returns the ledger row of a fire time whose id another task has."""
    log.error("occurrence not put: id taken", extra={"step": "scan", "task_id": one.row.task_id})
    if one.task:
        done.record_missing_run(one.task.id, ID_TAKEN)
    return replace(one.row, outcome=LedgerOutcome.BROKEN, task_id=None, error=ID_TAKEN)


def _is_unstarted(task: Task | None) -> TypeGuard[Task]:
    return task is not None and task.attempt == 0 and not task.status.finished


def _build(ports: Ports, done: LookaheadPass, ahead: PlannedOccurrence, now: Millis) -> _Built:
    """Builds the task of an occurrence. If that fails, the ledger has the error, and the schedule
    continues with the next occurrence, which may succeed."""
    schedule = done.schedule
    own = ahead.span == OWN_RULE
    error = task = None
    try:
        spec = occurrence_spec(
            schedule,
            ahead.fire_time,
            run_at=ahead.run_at,
            overlap=ahead.overlap,
            version=schedule.version if own else None,
            jitter=schedule.plan.jitter,
            awaited=ahead.awaited,
        )
        if (spans := tracing.spans()) is not None:
            spec = replace(spec, trace=spans.materialised(spec, ahead.id))
        task = submit(ports.wake_policy, ahead.id, spec, now=now, draw=ports.chance.draw())
    except Exception as raised:
        log.exception("occurrence not built", extra={"step": "scan", "schedule_id": schedule.id})
        error = f"{type(raised).__name__}: {raised}"
        done.record_missing_run(ahead.id, error)
    row = LedgerRow(
        schedule_id=schedule.id,
        fire_time=ahead.fire_time,
        version=schedule.version,
        outcome=LedgerOutcome.FIRED if task else LedgerOutcome.BROKEN,
        task_id=task.id if task else None,
        backfill=ahead.span,
        error=error,
    )
    return _Built(task, row, ahead.awaited)


def _advance(ports: Ports, put: Sequence[_Put], done: Materialised) -> set[str]:
    """Advances the schedules. Returns the ids of those that were changed meanwhile. A schedule that
    does not advance for another reason is found unchanged by the next tick."""
    lost: set[str] = set()
    left = [(p, p.done.schedule) for p in put if p.sure]
    for _ in range(MAX_WRITE_ATTEMPTS):
        if not left:
            break
        wanted = [p.done.applied_to(ports.wake_policy, stored) for p, stored in left]
        again = []
        for (p, _), answer in zip(left, ports.schedules.put(wanted), strict=True):
            match answer:
                case Applied(schedule):
                    p.advanced = True
                    done.advanced.append(schedule)
                case Refused(Schedule() as stored) if p.done.still_matches(stored):
                    again.append((p, stored))
                case Refused(stored):
                    lost |= _lost(p.done, stored)
        left = again
    return lost


def _lost(done: LookaheadPass, stored: Schedule | None) -> set[str]:
    """Returns the schedule's id if its tasks must be cancelled, since another writer won. A pass of
    another role over the same version is as good as this one, except for a delay: that pass may
    have skipped the run that was put here, if this one took long, and await another run."""
    found = done.schedule
    if stored is None or stored.version != found.version:
        return {found.id}
    awaits = stored.awaited in {ahead.id for ahead in done.occurrences}
    return set() if found.plan.delay is None or awaits else {found.id}
