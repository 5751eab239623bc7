"""materialise: the occurrences of schedules that are near become tasks. Shared by every role that
meets a schedule whose time has come: the scanner, the API after a change, the relay.

Put the tasks, note them in the ledger, advance the schedules, send: it may be cut off anywhere.
What was put is found again by its id, and what was not sent has a watch behind it. The write that
advances a schedule has lost if somebody has changed or paused the schedule: then the tasks that
were put are of an old version, and are cancelled, here or when they come to start.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import NamedTuple, TypeGuard

from lambdas.core.change import Applied, Refused, Unknown, Unreadable
from lambdas.core.ports import Ports
from lambdas.core.schedules.decisions import CHANGED, MISFIRE
from lambdas.core.schedules.ledger import Entry, Expected, LedgerRow
from lambdas.core.schedules.occurrences import occurrence_spec
from lambdas.core.schedules.passes import Ahead, Pass
from lambdas.core.schedules.ports import Differs, Stands
from lambdas.core.schedules.schedule import MISSED, Schedule
from lambdas.core.steps.cancel import cancel_unstarted
from lambdas.core.steps.submit import submit
from lambdas.core.task import Task
from lambdas.core.times import Millis
from lambdas.core.values import value
from lambdas.core.wakes import WakeKind
from lambdas.enqueue import enqueue
from lambdas.looking import Looking

log = logging.getLogger(__name__)

TRIES = 5  # to advance a schedule while runs of it begin and end
AT_ONCE: Mapping[str, Millis] = {}


@value(kw_only=True, slots=True)
class Materialised:
    occurrences: int = 0  # that became tasks
    sent: int = 0
    advanced: list[Schedule] = field(default_factory=list)
    broken: int = 0
    more: bool = False  # there is more to put at once than one pass takes


class _Built(NamedTuple):
    task: Task | None
    row: LedgerRow
    awaited: bool  # the next run waits for its end, so it must not wait for its watch


@value(kw_only=True, slots=True)
class _Put:
    """A pass whose occurrences have been put."""

    done: Pass
    tasks: list[Task] = field(default_factory=list)  # that came into being
    found: list[Task] = field(default_factory=list)  # that a cut-off pass had put: to be sent now
    sure: bool = True
    advanced: bool = False

    @property
    def id(self) -> str:
        return self.done.schedule.id


def materialise(
    ports: Ports,
    schedules: Sequence[Schedule],
    slots: Mapping[str, Millis] = AT_ONCE,
    *,
    now: Millis,
) -> Materialised:
    """`slots` tells, by schedule id, when a run that makes up for missed ones may begin. `now` is
    when the schedules stood so, or earlier: whoever is held up after he has read them must not
    take for missed what others have put since."""
    done = Materialised()
    settled = _round(ports, schedules, slots, now, done)
    if settled:  # what was missed is decided, and stands: now it can be put
        _round(ports, settled, slots, now, done)
    return done


def _round(
    ports: Ports,
    schedules: Sequence[Schedule],
    slots: Mapping[str, Millis],
    now: Millis,
    done: Materialised,
) -> list[Schedule]:
    """Returns the schedules that are to be looked at again."""
    looking = Looking(ports, now)
    passes = [p for s in looking.at(schedules) if (p := looking.ahead(s, slots.get(s.id, 0)))]
    done.broken += looking.broken
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
    again = {p.id for p in put if p.done.settles}
    return [schedule for schedule in done.advanced if schedule.id in again]


def _release(ports: Ports, passes: Sequence[Pass], now: Millis) -> int:
    """Send the late runs whose turn it is, and end those that the misfire policy skips. Whoever is
    cut off here leaves both to the watches of the tasks."""
    drops = [task for p in passes for task in p.drops]
    if drops:
        ports.store.apply([cancel_unstarted(task, now=now, reason=MISFIRE) for task in drops])
    releases = [release for p in passes for release in p.releases]
    return enqueue(ports, [t for t, _ in releases], {task.id: at for task, at in releases})


def _put(ports: Ports, passes: Sequence[Pass], now: Millis) -> list[_Put]:
    """Make the tasks, and say so in the ledger. A schedule may not go past an occurrence of which
    nobody knows whether it was put: its pass ends here, and is repeated."""
    notes: list[Entry] = [entry for p in passes for entry in p.notes]
    built = [_build(ports, p, ahead, now) for p in passes for ahead in p.occurrences]
    notes += [one.row for one in built if one.task is None]
    tasks = [one for one in built if one.task is not None]
    put = {p.schedule.id: _Put(done=p) for p in passes}
    answers = ports.store.put([one.task for one in tasks if one.task])
    for one, answer in zip(tasks, answers, strict=True):
        of = put[one.row.schedule_id]
        if isinstance(answer, Unknown) and not isinstance(answer, Unreadable):  # that is there
            of.sure = False
            continue
        notes.append(one.row)
        if isinstance(answer, Applied) and one.task:
            of.tasks.append(one.task)
        elif isinstance(answer, Refused) and one.awaited and _is_unstarted(answer.task):
            of.found.append(answer.task)
    if notes:
        ports.schedules.note(notes, now)
    return list(put.values())


def _is_unstarted(task: Task | None) -> TypeGuard[Task]:
    return task is not None and task.attempt == 0 and not task.status.finished


def _build(ports: Ports, done: Pass, ahead: Ahead, now: Millis) -> _Built:
    """If one cannot be built, the ledger tells; the next one may be."""
    schedule = done.schedule
    own = ahead.span == MISSED
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
        task = submit(ports.rules, ahead.id, spec, now=now, draw=ports.chance.draw())
    except Exception as raised:
        log.exception("not built", extra={"step": "scan", "schedule_id": schedule.id})
        error = f"{type(raised).__name__}: {raised}"
        done.not_built(ahead, error)
    row = LedgerRow(
        schedule_id=schedule.id,
        fire_time=ahead.fire_time,
        version=schedule.version,
        outcome=Expected.FIRED if task else Expected.BROKEN,
        task_id=task.id if task else None,
        backfill=ahead.span,
        error=error,
    )
    return _Built(task, row, ahead.awaited)


def _advance(ports: Ports, put: Sequence[_Put], done: Materialised) -> set[str]:
    """The ids of the schedules that somebody has changed meanwhile. One that would not advance,
    for any other reason, is found by the next tick where it was."""
    lost: set[str] = set()
    left = [(p, p.done.schedule) for p in put if p.sure]
    for _ in range(TRIES):
        if not left:
            break
        wanted = [p.done.applied_to(ports.rules, standing) for p, standing in left]
        again = []
        for (p, _), answer in zip(left, ports.schedules.put(wanted), strict=True):
            match answer:
                case Stands(schedule):
                    p.advanced = True
                    done.advanced.append(schedule)
                case Differs(Schedule() as standing) if p.done.stands_for(standing):
                    again.append((p, standing))
                case Differs(standing):
                    lost |= _lost(p.done, standing)
        left = again
    return lost


def _lost(done: Pass, standing: Schedule | None) -> set[str]:
    """Another pass over the same version is as good as this one. But of a delay it may have skipped
    what was put here, if that took long, and awaits another run."""
    found = done.schedule
    if standing is None or standing.version != found.version:
        return {found.id}
    awaits = standing.awaited in {ahead.id for ahead in done.occurrences}
    return set() if found.plan.delay is None or awaits else {found.id}
