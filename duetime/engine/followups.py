"""Follow-ups: what must happen after a task has ended: its schedule or its workflow run goes on.

The follow-up of a step of a workflow is described in duetime.engine.workflows.progress; the
executor runs it at once. That of a run of a schedule:

1. The executor records the outcome. If the run has a follow-up, the same write leaves a watch on
   the finished task (core.steps.follow_up).
2. The relay sees the status change and calls `run_follow_ups_after`.
3. The schedule is changed: it no longer names the run, counts it if it is dead, and sets the next
   fire time of a delay (core.schedules.run_ended decides).
4. The next run starts: a waiting run is enqueued, or the next occurrence is materialised.
5. The watch is removed from the finished task.

The scanner is the fallback: if the relay fails anywhere on this path, the watch comes due, and the
scanner calls `run_follow_ups`. Running a follow-up twice changes nothing, because step 3 changes
only a schedule that still names the task.

A run without a follow-up can still have another run waiting for it that was put later. Only the
relay checks for that; if it misses the end, the waiting run checks again by itself.
"""

from collections.abc import Sequence

from duetime.core.change import Applied, Refused
from duetime.core.events import StatusChange
from duetime.core.lifecycle import Status
from duetime.core.ports import Ports
from duetime.core.schedules.run_ended import schedule_after_run, waits_for
from duetime.core.schedules.schedule import Schedule
from duetime.core.steps.follow_up import follow_up_done
from duetime.core.steps.long_run import (
    SEND_TAKES,
    dead_letter_of,
    lacks_dead_letter,
    write_dead_letter,
)
from duetime.core.task import WORKFLOW, Task
from duetime.core.times import Millis
from duetime.engine.enqueue import enqueue
from duetime.engine.materialise import MAX_WRITE_ATTEMPTS, materialise
from duetime.engine.superseded import record_superseded


def run_follow_ups_after(ports: Ports, changes: Sequence[StatusChange]) -> None:
    """Runs the follow-ups of the runs that have ended with these changes. For the relay. A task
    that has lost its watch since is left out: the executor has run the follow-up of its step."""
    asked = {c.schedule_id for c in changes if c.schedule_id and not c.has_follow_up}
    schedules = ports.schedules.get(list(asked)) if asked else {}
    waited_for = {
        change.task_id
        for change in changes
        if (named := schedules.get(change.schedule_id or "")) and waits_for(named, change.task_id)
    }
    ids = [c.task_id for c in changes if c.has_follow_up or c.task_id in waited_for]
    tasks = ports.store.get(list(dict.fromkeys(ids))) if ids else {}
    left = [task for i, task in tasks.items() if task.has_follow_up or i in waited_for]
    if left:
        run_follow_ups(ports, left)


def run_follow_ups(ports: Ports, tasks: Sequence[Task]) -> int:
    """Runs the follow-ups of finished tasks and removes their watches. Returns how many are done;
    a task whose follow-up cannot run now keeps its watch."""
    ended = [task for task in tasks if task.status.finished]
    if any(lacks_dead_letter(task) for task in ended):
        ended = _send_dead_letters(ports, ended)
    if any(_belongs_to_run(task) for task in ended):
        from duetime.engine.workflows.followups import run_follow_ups_of_steps

        ended = run_follow_ups_of_steps(ports, ended)
    done = [task for task in ended if _run_follow_up(ports, task)]
    watched = [follow_up_done(task) for task in done if task.has_follow_up]
    if watched:
        ports.store.apply(watched)
    return len(done)


def _send_dead_letters(ports: Ports, ended: Sequence[Task]) -> list[Task]:
    """Sends the dead letters of long runs. Returns the tasks whose follow-ups may go on, as they
    are stored now: all but those whose message may not have been sent, or too late. Their watch
    sends another, and an executor deletes the late one."""
    now, began = ports.clock.now(), ports.clock.monotonic()
    dead = [task for task in ended if lacks_dead_letter(task)]
    answers = ports.store.apply([write_dead_letter(task, now=now) for task in dead])
    written = [answer.stored for answer in answers if isinstance(answer, Applied)]
    sent = ports.lanes.send([dead_letter_of(task) for task in written], now)
    in_time = ports.clock.monotonic() - began <= SEND_TAKES
    accepted = [task for task, was_sent in zip(written, sent, strict=True) if was_sent and in_time]
    return [task for task in ended if not lacks_dead_letter(task)] + accepted


def _belongs_to_run(task: Task) -> bool:
    return task.spec.step is not None or task.spec.target.get("type") == WORKFLOW


def _run_follow_up(ports: Ports, task: Task) -> bool:
    """Changes the schedule and starts its next runs. Another writer of the schedule may win the
    race: then the change is decided again on the schedule as that writer left it."""
    occurrence = task.spec.occurrence
    if occurrence is None:
        return True
    schedule = ports.schedules.get([occurrence.schedule_id]).get(occurrence.schedule_id)
    if schedule is None:  # deleted: nothing to do; unreadable: the watch stays until it is readable
        return not ports.schedules.exist([occurrence.schedule_id])
    for _ in range(MAX_WRITE_ATTEMPTS):
        now = ports.clock.now()
        changed = schedule_after_run(ports.wake_policy, schedule, task, now)
        if changed is None:
            start_next_runs(ports, schedule, now)
            return True
        (answer,) = ports.schedules.put([record_superseded(ports, schedule, changed, now)])
        match answer:
            case Applied(after):
                start_next_runs(ports, after, now)
                return True
            case Refused(None):
                return True
            case Refused(Schedule() as stored):
                schedule = stored
            case _:
                break
    return False


def start_next_runs(ports: Ports, schedule: Schedule, now: Millis) -> None:
    """Enqueues the waiting run whose turn it is, and materialises the next occurrence if near."""
    if schedule.waiting:
        _enqueue_waiting(ports, schedule)
    if schedule.wake is not None and schedule.wake.at <= now:
        materialise(ports, [schedule], now=now)


def _enqueue_waiting(ports: Ports, schedule: Schedule) -> None:
    """Enqueues the first waiting run if the active run has ended. The executor decides again when
    the run is about to start, so a message too many is harmless."""
    named = [task_id for task_id in (schedule.active, *schedule.waiting) if task_id]
    tasks = ports.store.get(named)
    active = tasks.get(schedule.active or "")
    if active is not None and not active.status.finished:
        return
    waiting = [task for i in schedule.waiting if (task := tasks.get(i)) and _is_waiting(task)]
    if waiting:
        enqueue(ports, waiting[:1])


def _is_waiting(task: Task) -> bool:
    return task.status in (Status.ENQUEUED, Status.PENDING) and task.attempt == 0
