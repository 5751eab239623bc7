"""The slot gate: a task under a limit with a concurrency starts only in a slot.

A task that finds no free slot joins the line and is held, or is skipped: see duetime.engine.lines.
The messages of a batch are decided together, in the order in which they are due.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from zlib import crc32

from duetime.core.change import Applied, Change, Refused
from duetime.core.delivery import Delivery
from duetime.core.errors import Unavailable
from duetime.core.lifecycle import TO_START, Status
from duetime.core.limits.definition import OnFull
from duetime.core.limits.slots import Line, LineState, Place, Slot, SlotWrite
from duetime.core.ports import Ports
from duetime.core.steps.cancel import cancel, request_cancel
from duetime.core.steps.hold import hold
from duetime.core.task import Task
from duetime.core.times import Millis
from duetime.core.value import value
from duetime.engine.lines import (
    DEEP_UP_TO,
    Look,
    ensure_watch,
    lines_of,
    look_at,
    slots_of,
    store_of,
)
from duetime.executor.message_acks import MessageAcks
from duetime.executor.runs import Admitted, after_gate

LIMIT = "limit"  # the reason of a task that is cancelled because its limit is full
TAKE_TRIES = 3  # each lost to another executor


@value(slots=True)
class _Arrival:
    """A message at the gate."""

    admitted: Admitted
    delivery: Delivery
    line: Line
    number: int  # of the limit, among those of the task
    on_full: OnFull
    slots: int
    passes: bool = False
    decided: bool = False  # that it does not start now: its message can be deleted
    refused: bool = False  # it may not wait, and so it may not start

    @property
    def place(self) -> Place:
        return Place(position=self.delivery.due_at, task_id=self.delivery.task_id)

    def slot(self, number: int, now: Millis) -> Slot:
        return Slot(
            number=number, task_id=self.delivery.task_id, token=self.delivery.token, since=now
        )


class SlotGate:
    def __init__(self, ports: Ports, acks: MessageAcks) -> None:
        self._ports = ports
        self._acks = acks

    def admit(self, due: Sequence[Admitted]) -> list[Admitted]:
        """Returns what may be leased. The messages of the others are acknowledged here."""
        arrivals: list[_Arrival] = []
        try:
            arrivals = self._arrivals(due)
            self._take(arrivals)
            self._turn_away([one for one in arrivals if not one.passes])
        except Unavailable:
            if not arrivals:  # the limits could not be read
                return self._hand_back(due, [a for a in due if _is_limited(a)], [])
        stays = [one for one in arrivals if not one.passes and not one.refused]
        gone = [one.admitted for one in stays if one.decided]
        self._acks.delete([admitted.message for admitted in gone])
        left = self._hand_back(due, [one.admitted for one in stays if not one.decided], gone)
        return after_gate(left, out=(), refused=[o.admitted for o in arrivals if o.refused])

    def _hand_back(
        self, due: Sequence[Admitted], back: Sequence[Admitted], gone: Sequence[Admitted]
    ) -> list[Admitted]:
        for admitted in back:
            self._acks.hand_back_with_backoff(admitted.message)
        return after_gate(due, out=[*back, *gone], refused=())

    def _arrivals(self, due: Sequence[Admitted]) -> list[_Arrival]:
        limited = [(a, a.message.delivery) for a in due if _is_limited(a)]
        slots = slots_of(self._ports, chain.from_iterable(lines_of(d) for _, d in limited))
        arrivals = []
        for admitted, delivery in limited:
            uses = delivery.limits.uses if delivery.limits else ()
            for number, (line, use) in enumerate(zip(lines_of(delivery), uses, strict=True)):
                if (count := slots.get(line)) is not None:
                    arrivals.append(_Arrival(admitted, delivery, line, number, use.on_full, count))
                    break  # a task has one slot, and never holds it while it waits for another
        return sorted(arrivals, key=lambda one: (one.delivery.due_at, one.delivery.task_id))

    def _take(self, arrivals: Sequence[_Arrival]) -> None:
        """Take free slots. One that another executor takes first is replaced by another one, or
        there is none left."""
        left = list(arrivals)
        for _ in range(TAKE_TRIES):
            if not left:
                return
            lines = list(dict.fromkeys(one.line for one in left))
            states = store_of(self._ports).read(lines)
            wanted = _choose(left, dict(zip(lines, states, strict=True)), self._ports.clock.now())
            writes = [SlotWrite(line=one.line, before=None, after=slot) for one, slot in wanted]
            made = store_of(self._ports).replace(writes) if writes else []
            for (one, _), applied in zip(wanted, made, strict=True):
                one.passes = applied
            left = [one for one, _ in wanted if not one.passes]

    def _turn_away(self, full: list[_Arrival]) -> None:
        if not full:
            return
        impatient = [one for one in full if one.on_full is not OnFull.QUEUE]
        if impatient:  # a slot whose attempt has ended must not count as full
            looks = {o.line: Look(line=o.line, slots=o.slots, deep=True) for o in impatient}
            look_at(self._ports, list(looks.values()))
            self._take(impatient)
        still = [one for one in full if not one.passes]
        self._skip([one for one in still if one.on_full is OnFull.SKIP])
        waits = [one for one in still if one.on_full is not OnFull.SKIP]
        self._make_room([one for one in waits if one.on_full is OnFull.CANCEL])
        self._wait(waits)

    def _skip(self, arrivals: Sequence[_Arrival]) -> None:
        """Cancel tasks that are not to wait. One that has changed meanwhile goes on to its lease,
        which is refused too."""
        tasks = self._tasks([one.delivery.task_id for one in arrivals])
        now = self._ports.clock.now()
        for one in arrivals:
            task = tasks.get(one.delivery.task_id)
            if task is None or task.token != one.delivery.token:
                one.refused = True
                continue
            (answer,) = self._ports.store.apply([_skip(task, now)])
            one.decided = isinstance(answer, Applied)
            one.refused = isinstance(answer, Refused)

    def _make_room(self, arrivals: Sequence[_Arrival]) -> None:
        """Ask the oldest holders to stop: one for each task that wants a slot, and none twice."""
        for one in arrivals:
            [state] = store_of(self._ports).read([one.line])
            if _waits(state, one) or len(state.places) >= len(state.slots):
                continue  # a holder has been asked for it before
            tasks = self._tasks([slot.task_id for slot in state.slots])
            now = self._ports.clock.now()
            for slot in sorted(state.slots, key=lambda slot: (slot.since, slot.token)):
                task = tasks.get(slot.task_id)
                if task and not task.cancel_requested and not task.status.finished:
                    self._ports.store.apply([_stop(task, now)])
                    break

    def _wait(self, arrivals: Sequence[_Arrival]) -> None:
        """Put the places, hold the tasks, then look at the lines: see duetime.engine.lines."""
        if not arrivals:
            return
        now = self._ports.clock.now()
        store_of(self._ports).join([(o.line, replace(o.place, since=now)) for o in arrivals])
        held = self._hold(arrivals, now)
        for line in dict.fromkeys(one.line for one in held):
            ensure_watch(self._ports, line)
        self._look(held)
        for one in held:
            one.decided = not one.refused

    def _look(self, held: Sequence[_Arrival]) -> None:
        looks: dict[Line, Look] = {}
        for one in held:
            known = looks.get(one.line)
            joined = (known.joined if known else frozenset()) | {one.delivery.task_id}
            looks[one.line] = Look(
                line=one.line, slots=one.slots, joined=joined, deep=one.slots <= DEEP_UP_TO
            )
        look_at(self._ports, list(looks.values()))

    def _hold(self, arrivals: Sequence[_Arrival], now: Millis) -> list[_Arrival]:
        """Returns those that are held. A refused one may not start either: it leaves the line and
        goes on to its lease, which is refused too, and its message is dealt with there. It does not
        take a place away that is the task's own: a newer delivery may be due at the same time."""
        changes = [hold(one.delivery, one.number, now=now) for one in arrivals]
        held, refused = [], []
        for one, answer in zip(arrivals, self._ports.store.apply(changes), strict=True):
            match answer:
                case Applied():
                    held.append(one)
                case Refused(stored) if _is_place_of(stored, one.place):
                    one.refused = True
                    held.append(one)
                case Refused():
                    one.refused = True
                    refused.append((one.line, one.place))
        if refused:
            store_of(self._ports).leave(refused)
        return held

    def _tasks(self, task_ids: Sequence[str]) -> dict[str, Task]:
        return dict(self._ports.store.get(list(dict.fromkeys(task_ids)))) if task_ids else {}


def _is_limited(admitted: Admitted) -> bool:
    limits = admitted.message.delivery.limits
    return admitted.gated and limits is not None and bool(limits.uses)


def _choose(
    arrivals: Sequence[_Arrival], states: dict[Line, LineState], now: Millis
) -> list[tuple[_Arrival, Slot]]:
    """Lets pass what has its slot already, and returns the slots to take. No arrival takes a slot
    while others wait in the line, so that waiting tasks are not overtaken."""
    free: dict[Line, list[int]] = {}
    wanted = []
    for one in arrivals:
        state = states[one.line]
        if any(slot.names(one.slot(0, now)) for slot in state.slots):
            one.passes = True
            continue
        if one.line not in free:
            free[one.line] = _free_numbers(one, state)
        if numbers := free[one.line]:
            wanted.append((one, one.slot(numbers.pop(), now)))
    return wanted


def _free_numbers(one: _Arrival, state: LineState) -> list[int]:
    """Returns the free numbers, from another one on for each delivery: executors that take slots
    at the same time seldom choose the same. Slots above a lowered limit count too."""
    if state.places:
        return []
    taken = {slot.number for slot in state.slots}
    first = crc32(one.delivery.token.encode()) % one.slots
    numbers = [(first + n) % one.slots for n in range(one.slots)]
    room = max(one.slots - len(taken), 0)
    return [number for number in numbers if number not in taken][:room]


def _is_place_of(task: Task | None, place: Place) -> bool:
    if task is None or task.status not in TO_START:
        return False
    return task.due_at == place.position


def _waits(state: LineState, one: _Arrival) -> bool:
    return any(place.task_id == one.delivery.task_id for place in state.places)


def _skip(task: Task, now: Millis) -> Change:
    change = cancel(task, now=now, reason=LIMIT)
    return replace(change, expect=replace(change.expect, token=task.token))


def _stop(task: Task, now: Millis) -> Change:
    if task.status is Status.RUNNING:
        return request_cancel(task.id, now=now, reason=LIMIT)
    return cancel(task, now=now, reason=LIMIT)
