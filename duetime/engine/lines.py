"""Lines: gives free slots to waiting tasks, and watches that none is forgotten.

The path of a task that finds its limit full (`duetime.executor.slot_gate`):

1. Its place is put into the line.
2. The task is held: it shows what it waits for, and its message is deleted.
3. The line gets a watch, if it has none.
4. The executor looks at the line. A slot that became free meanwhile goes to the first in line.

The path of a slot:

1. The outcome of the attempt is recorded.
2. The process that has recorded it looks at the line (`free_slots`): the slot is handed to the
   first in line, or is freed; then the line is read once more.
3. Only then the message of the attempt is deleted. If the process dies before that, the message is
   delivered again, and the executor that finds its attempt ended frees the slot.

A joining task is put before the slots are read, and a slot is freed before the line is read: of two
that do so at the same time, one sees the other. The line's watch is the fallback for a process that
dies in between. It moves its wake, looks, and removes the wake only if nothing waits; after that it
reads the line again, since a task that joined meanwhile has still seen the wake.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace

from duetime.core.delivery import Delivery
from duetime.core.lanes import Lane, Queue
from duetime.core.limits.hand_over import Grant, HandOver, hand_over, has_passed, position_of
from duetime.core.limits.slots import Line, LineState, Place, SlotStore, SlotWrite, line_of
from duetime.core.ports import Ports
from duetime.core.steps.watch import watch_dead_holder
from duetime.core.task import ORDERING_KEY, Task
from duetime.core.times import SECOND, Millis
from duetime.core.value import value
from duetime.core.wakes import Wake, WakeKind
from duetime.engine.enqueue import enqueue

log = logging.getLogger(__name__)

WATCH_EVERY: Millis = 30 * SECOND  # so that every tick of a minute finds it due
MAX_ROUNDS = 100  # of one look: each hands over or drains some places
DEEP_UP_TO = 10  # slots; a joining task reads the holders of no more than that
ORDERED = 1  # slots of an ordering key

BackedUp = Callable[[Queue], bool]


def _never(queue: Queue) -> bool:  # noqa: ARG001
    return False


@value(frozen=True, kw_only=True, slots=True)
class Look:
    """One line to look at. See `hand_over` for the other fields."""

    line: Line
    slots: int | None
    ended: frozenset[str] = frozenset()
    joined: frozenset[str] = frozenset()
    deep: bool = False


@value(kw_only=True, slots=True)
class Looked:
    """What the last round of a look has found. `sent` counts all rounds."""

    watched: bool = False
    sent: int = 0


@value(kw_only=True, slots=True)
class _Round:
    look: Look
    done: HandOver = field(default_factory=HandOver)


def store_of(ports: Ports) -> SlotStore:
    if ports.slots is None:
        raise ValueError("this backend has no slots")
    return ports.slots


def slots_of(ports: Ports, lines: Iterable[Line]) -> dict[Line, int | None]:
    """Returns how many slots each line has; None if its limit does not exist any more. A limit that
    exists and has no concurrency has no lines, and is left out."""
    lines = list(lines)
    named: dict[str, set[str]] = {}
    for line in lines:
        if line.limit is not None:
            named.setdefault(line.namespace, set()).add(line.limit)
    defined = {
        (namespace, name): limit.concurrency
        for namespace, names in named.items()
        for name, limit in ports.limits.recent(namespace, sorted(names)).items()
    }
    found: dict[Line, int | None] = {}
    for line in lines:
        key = (line.namespace, line.limit or "")
        if line.limit is None:
            found[line] = ORDERED
        elif key not in defined or defined[key] is not None:
            found[line] = defined.get(key)
    return found


def lines_of(delivery: Delivery) -> list[Line]:
    """Returns the line of each limit of a delivery."""
    limits = delivery.limits
    if limits is None:
        return []
    return [Line(namespace=limits.namespace, limit=u.name, key=u.key) for u in limits.uses]


def held_line(task: Task) -> tuple[Line, Place] | None:
    """Returns the line in which a task waits, and its place; None if it does not wait."""
    spec = task.spec
    if task.held is None or not task.in_line:
        return None
    if task.held == ORDERING_KEY:
        line = order_line(spec.namespace, spec.ordering_key or "")
    else:
        use = spec.limits[task.held]
        line = Line(namespace=spec.namespace, limit=use.name, key=use.key)
    return line, place_of(line, task)


def order_line(namespace: str, key: str) -> Line:
    return Line(namespace=namespace, limit=None, key=key)


def place_of(line: Line, task: Task) -> Place:
    return Place(position=position_of(line, task), task_id=task.id)


def free_slots(ports: Ports, ends: Sequence[tuple[Delivery, Task | None]]) -> None:
    """Frees the slots of deliveries whose attempts have ended, or can no longer start. Each comes
    with its task as it is stored; the slot of an ordering key stays until the task has ended.
    Repeating it changes nothing. Raises Unavailable: then it must be repeated."""
    tokens: dict[Line, set[str]] = {}
    for delivery, _ in ends:
        for line in lines_of(delivery):
            tokens.setdefault(line, set()).add(delivery.token)
    slots = slots_of(ports, tokens)
    looks = [
        Look(line=line, slots=slots[line], ended=frozenset(ended))
        for line, ended in tokens.items()
        if line in slots
    ]
    passed = {
        order_line(delivery.limits.namespace, delivery.limits.ordering_key)
        for delivery, task in ends
        if delivery.limits and delivery.limits.ordering_key is not None
        if task is None or has_passed(task)
    }
    looks += [Look(line=line, slots=ORDERED, deep=True) for line in passed]
    look_at(ports, looks)


def look_at(
    ports: Ports, looks: Sequence[Look], backed_up: BackedUp = _never
) -> dict[Line, Looked]:
    """Looks at lines until nothing is left to hand over: each round reads what the one before has
    written, so a slot is freed before the line is read for the last time. A lane that is backed up
    gets no second message for a holder that has not started."""
    found = {look.line: Looked() for look in looks}
    left = list(looks)
    for _ in range(MAX_ROUNDS):
        rounds = _decide(ports, left, backed_up)
        sent = _carry_out(ports, rounds)
        for one in rounds:
            looked = found[one.look.line]
            looked.watched = one.done.watched
            looked.sent += sent.get(one.look.line, 0)
        left = [replace(one.look, joined=frozenset()) for one in rounds if one.done.changes]
        if not left:
            break
    return found


def _decide(ports: Ports, looks: Sequence[Look], backed_up: BackedUp) -> list[_Round]:
    states = store_of(ports).read([look.line for look in looks])
    ids = [i for look, state in zip(looks, states, strict=True) for i in _task_ids(look, state)]
    tasks = ports.store.get(list(dict.fromkeys(ids))) if ids else {}
    now = ports.clock.now()
    _watch_dead_holders(ports, looks, states, tasks, now)
    rounds = []
    for look, state in zip(looks, states, strict=True):
        done = hand_over(
            look.line,
            state,
            tasks,
            slots=look.slots,
            now=now,
            ended=look.ended,
            joined=look.joined,
            deep=look.deep,
        )
        done.grants = [g for g in done.grants if g.place or not backed_up(g.task.queue)]
        rounds.append(_Round(look=look, done=done))
    return rounds


def _watch_dead_holders(
    ports: Ports,
    looks: Sequence[Look],
    states: Sequence[LineState],
    tasks: Mapping[str, Task],
    now: Millis,
) -> None:
    """The scanner ends the attempts of executors that have died, at the watch of each task. If
    others wait for the slot, that watch comes now. Nothing is lost if this write is."""
    deep = [state for look, state in zip(looks, states, strict=True) if look.deep and state.places]
    holders = [tasks[s.task_id] for state in deep for s in state.slots if s.task_id in tasks]
    found = (watch_dead_holder(ports.wake_policy, task, now=now) for task in holders)
    if changes := [change for change in found if change]:
        ports.store.apply(changes)


def _task_ids(look: Look, state: LineState) -> list[str]:
    slots = [slot.task_id for slot in state.slots] if look.deep else []
    return slots + [place.task_id for place in state.places]


def _carry_out(ports: Ports, rounds: Sequence[_Round]) -> dict[Line, int]:
    """Writes the slots, then sends, then deletes the places. If the process dies in between, the
    slot names the task and its place is still there, so the line's watch sends."""
    store = store_of(ports)
    grants = [(one.look.line, grant) for one in rounds for grant in one.done.grants]
    frees = [(one.look.line, slot) for one in rounds for slot in one.done.frees]
    writes = [SlotWrite(line=line, before=g.before, after=g.after) for line, g in grants]
    writes += [SlotWrite(line=line, before=slot, after=None) for line, slot in frees]
    made = store.replace(writes) if writes else []
    given = [pair for pair, applied in zip(grants, made, strict=False) if applied]
    drained = [(one.look.line, *pair) for one in rounds for pair in one.done.sends]
    to_send = [grant.task for _, grant in given] + [task for _, task, _ in drained]
    if to_send:
        enqueue(ports, to_send)
    left = _left_places(given) + [(line, place) for line, _, place in drained]
    left += [(one.look.line, place) for one in rounds for place in one.done.leaves]
    if left:
        store.leave(left)
    sent: dict[Line, int] = {}
    for line in [line for line, _ in given] + [line for line, _, _ in drained]:
        sent[line] = sent.get(line, 0) + 1
    return sent


def _left_places(given: Sequence[tuple[Line, Grant]]) -> list[tuple[Line, Place]]:
    return [(line, grant.place) for line, grant in given if grant.place]


# the watch of a line


def ensure_watch(ports: Ports, line: Line) -> None:
    """Gives a line a watch, if it has none. Called after a place was put."""
    store = store_of(ports)
    if store.watch_of(line) is None:
        now = ports.clock.now()
        store.move_watch(line, None, _wake(ports, line, now + WATCH_EVERY, now))


def watch_lines(ports: Ports, wakes: Sequence[Wake], backed_up: BackedUp = _never) -> int:
    """Looks at lines whose watch has come due. Returns how many deliveries were sent."""
    store, now = store_of(ports), ports.clock.now()
    moved: dict[Line, Wake] = {}
    for found in wakes:
        line = line_of(found.task_id)
        later = _wake(ports, line, now + WATCH_EVERY, now)
        if store.move_watch(line, found, later):
            moved[line] = later
    looked = look_lines(ports, list(moved), backed_up)
    for line, result in looked.items():
        _after_look(ports, line, moved[line], result)
    return sum(result.sent for result in looked.values())


def look_lines(
    ports: Ports, lines: Sequence[Line], backed_up: BackedUp = _never
) -> dict[Line, Looked]:
    """Looks at lines and at the holders of their slots."""
    slots = slots_of(ports, lines)
    looks = [Look(line=line, slots=slots.get(line), deep=True) for line in lines]
    return look_at(ports, looks, backed_up) if looks else {}


def _after_look(ports: Ports, line: Line, watch: Wake, looked: Looked) -> None:
    """Removes the watch of a line that needs none."""
    store = store_of(ports)
    if not looked.watched and store.move_watch(line, watch, None):
        [state] = store.read([line])
        if state.places:
            ensure_watch(ports, line)


def _wake(ports: Ports, line: Line, at: Millis, now: Millis) -> Wake:
    return ports.wake_policy.wake(WakeKind.LINE, line.id, Lane.HIGH, at, now=now)
