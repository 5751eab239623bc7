"""Who gets a slot: the decision about one line, made from what was read of it.

Every process that ends an attempt, lets a task wait or watches a line decides this way, and several
may do so at the same time: each write is conditional on the slot that was read, so of two that give
away one slot the second is refused. Two that give different slots to one task both succeed; the
second slot is void when the attempt has ended.
"""

from collections.abc import Collection, Mapping
from dataclasses import field, replace

from duetime.core.lifecycle import Status
from duetime.core.limits.definition import OnDead
from duetime.core.limits.slots import HEADS, Line, LineState, Place, Slot
from duetime.core.task import ORDERING_KEY, Task
from duetime.core.times import CLOCK_SKEW, MINUTE, SECOND, Millis
from duetime.core.value import value

SEND_GRACE: Millis = 10 * SECOND  # between a slot that is handed over and its message
START_GRACE: Millis = 2 * MINUTE  # after which the message of an unstarted holder counts as lost
ABSENT_GRACE: Millis = MINUTE  # for a place that was put before its task

Tasks = Mapping[str, Task]


@value(frozen=True, kw_only=True, slots=True)
class Grant:
    """A slot for a task that waits."""

    task: Task
    before: Slot | None
    after: Slot
    place: Place | None  # which it leaves; None: it has left before


@value(kw_only=True, slots=True)
class HandOver:
    grants: list[Grant] = field(default_factory=list)
    frees: list[Slot] = field(default_factory=list)  # void, and no task waits for them
    sends: list[tuple[Task, Place]] = field(default_factory=list)  # the limit is gone
    leaves: list[Place] = field(default_factory=list)  # nothing waits there any more
    watched: bool = False  # whether the line still needs its watch

    @property
    def changes(self) -> bool:
        return bool(self.grants or self.frees or self.sends or self.leaves)


def is_void(slot: Slot, task: Task | None) -> bool:
    """Whether no attempt runs in a slot, and none can start in it. `task` is the task that the slot
    names, read after the slot."""
    if task is None:
        return True
    if slot.token:
        return task.status.finished or task.token != slot.token
    return has_passed(task)


def has_passed(task: Task) -> bool:
    """Whether a task with an ordering key lets the next one start."""
    if task.status is Status.DEAD:
        return task.spec.on_dead is OnDead.CONTINUE
    return task.status.finished


def order_position(*, order_at: Millis | None, due_at: Millis, attempt: int) -> Millis:
    """Returns the position of a task in the line of its ordering key. It is fixed when the task is
    submitted; a revived task has a new one, at its new due time."""
    return due_at if order_at is None or attempt > 0 else order_at


def position_of(line: Line, task: Task) -> Millis:
    """Returns the only position at which a task has a place in a line; another one is left over,
    from an older due time, or from a submission that was repeated."""
    if line.limit is not None:
        return task.due_at
    return order_position(order_at=task.spec.order_at, due_at=task.due_at, attempt=task.attempt)


def waits_elsewhere(line: Line, task: Task) -> bool:
    """Whether a task is held, and not in this line."""
    if task.held is None or not task.in_line:
        return False
    if task.held == ORDERING_KEY:
        return line.limit is not None
    return task.spec.limits[task.held].name != line.limit


def slot_for(line: Line, number: int, task: Task, now: Millis) -> Slot:
    """Returns the slot of a task. That of an ordering key is the task's through its retries."""
    token = "" if line.limit is None else task.token
    return Slot(number=number, task_id=task.id, token=token, since=now)


def hand_over(
    line: Line,
    state: LineState,
    tasks: Tasks,
    *,
    slots: int | None,
    now: Millis,
    ended: Collection[str] = (),
    joined: Collection[str] = (),
    deep: bool = False,
) -> HandOver:
    """Decides which void or free slots go to whom.

    Args:
        tasks: Those of the places; if `deep`, also those of the slots.
        slots: How many slots the line has; None: the limit is gone, and nothing holds a task back.
        ended: Tokens of attempts that the caller knows to have ended.
        joined: Ids of tasks that the caller has just put into the line. They are sent even if
            another process has given them a slot this moment.
        deep: Whether to look for void slots and lost messages among the slots."""
    done = HandOver()
    void = [slot for slot in state.slots if _is_void(slot, tasks, ended, deep=deep)]
    valid = [slot for slot in state.slots if slot not in void]
    if slots is None:
        _drain(done, state, tasks)
        done.frees = void
        return done
    free = _numbers(slots, void, valid)
    of_task = {slot.task_id: slot for slot in valid if _current(slot, tasks)}
    served = _serve(done, line, state, tasks, of_task, free, now=now, joined=joined)
    if deep:
        _send_again(done, line, valid, tasks, served, now)
    reused = {grant.before for grant in done.grants}
    done.frees = [slot for slot in void if slot not in reused]
    return done


def _is_void(slot: Slot, tasks: Tasks, ended: Collection[str], *, deep: bool) -> bool:
    if slot.token and slot.token in ended:
        return True
    return deep and is_void(slot, tasks.get(slot.task_id))


def _current(slot: Slot, tasks: Tasks) -> bool:
    """Whether the slot is of the task as it is now; a slot of an older token is not."""
    task = tasks.get(slot.task_id)
    return task is not None and slot.token in ("", task.token)


def _numbers(slots: int, void: list[Slot], valid: list[Slot]) -> list[Slot | int]:
    """Returns what may be given away: void slots first, since replacing one is a single write. If
    the limit was lowered, slots above it still count until their attempts end."""
    taken = {slot.number for slot in valid}
    reusable: list[Slot | int] = [slot for slot in void if slot.number < slots]
    known = taken | {slot.number for slot in void}
    reusable += [number for number in range(slots) if number not in known]
    return reusable[: max(slots - len(valid), 0)]


def _drain(done: HandOver, state: LineState, tasks: Tasks) -> None:
    for place in state.places:
        task = tasks.get(place.task_id)
        if task is None or task.status.finished or task.status is Status.RUNNING:
            done.leaves.append(place)
        else:
            done.sends.append((task, place))


def _serve(
    done: HandOver,
    line: Line,
    state: LineState,
    tasks: Tasks,
    of_task: Mapping[str, Slot],
    free: list[Slot | int],
    *,
    now: Millis,
    joined: Collection[str],
) -> set[str]:
    """Gives slots to the first in line. Returns the ids of the tasks that have one."""
    ordered = line.limit is None
    held = any(task.held == ORDERING_KEY for p in state.places if (task := tasks.get(p.task_id)))
    done.watched = len(state.places) >= HEADS
    served: set[str] = set()
    for place in state.places:
        task = tasks.get(place.task_id)
        if task is None and ordered and now < place.since + ABSENT_GRACE:
            done.watched = held
            break
        if task is None or task.status.finished or task.status is Status.RUNNING:
            done.leaves.append(place)
            continue
        if place.position != position_of(line, task):
            done.leaves.append(place)
            continue
        if waits_elsewhere(line, task):  # or joins this moment, and looks then
            done.watched = True
            if task.id in of_task:
                done.leaves.append(place)
            continue
        if slot := of_task.get(task.id):
            served.add(task.id)
            if task.id in joined or now >= slot.since + SEND_GRACE:
                again = replace(slot, since=now)
                done.grants.append(Grant(task=task, before=slot, after=again, place=place))
            done.watched = True
            continue
        if task.due_at > now + CLOCK_SKEW:
            if ordered:  # its place is fixed: those behind wait for it
                done.watched = held
                break
            done.watched = True
            continue
        if not free:
            done.watched = True
            break
        found = free.pop(0)
        before = found if isinstance(found, Slot) else None
        number = found.number if isinstance(found, Slot) else found
        after = slot_for(line, number, task, now)
        done.grants.append(Grant(task=task, before=before, after=after, place=place))
        done.watched = True
        served.add(task.id)
    return served


def _send_again(
    done: HandOver, line: Line, valid: list[Slot], tasks: Tasks, served: set[str], now: Millis
) -> None:
    """A holder that does not start may have lost its message. It keeps its slot: it is the next to
    start in any case, and a slot that is never taken from a task that may start needs no fence."""
    for slot in valid:
        task = tasks.get(slot.task_id)
        if task is None or task.id in served or task.status.finished:
            continue
        if task.status is Status.RUNNING or task.due_at > now + CLOCK_SKEW:
            continue
        if waits_elsewhere(line, task):
            continue  # it has its turn, and waits in the line of a limit
        done.watched = True
        if now >= max(slot.since, task.due_at) + START_GRACE:
            again = replace(slot, since=now)
            done.grants.append(Grant(task=task, before=slot, after=again, place=None))
