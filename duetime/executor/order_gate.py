"""The order gate: a task with an ordering key starts when it is the first in its line.

It passes if the slot of its key names it, or if the slot is free and no task is in front of it.
Otherwise it is held, and gets a message when its turn has come: see duetime.engine.lines.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from duetime.core.change import Applied, Refused
from duetime.core.delivery import Delivery
from duetime.core.errors import Unavailable
from duetime.core.limits.hand_over import order_position
from duetime.core.limits.slots import Line, LineState, Place, Slot, SlotWrite
from duetime.core.ports import Ports
from duetime.core.steps.hold import hold
from duetime.core.task import ORDERING_KEY
from duetime.core.times import Millis
from duetime.core.value import value
from duetime.engine.lines import (
    ORDERED,
    Look,
    ensure_watch,
    look_at,
    order_line,
    store_of,
)
from duetime.executor.message_acks import MessageAcks
from duetime.executor.runs import Admitted, after_gate


@value(slots=True)
class _Arrival:
    """A message at the gate."""

    admitted: Admitted
    delivery: Delivery
    line: Line
    place: Place
    passes: bool = False
    decided: bool = False  # that it waits: its message can be deleted
    refused: bool = False  # it may not wait, and so it may not start

    def slot(self, now: Millis) -> Slot:
        return Slot(number=0, task_id=self.delivery.task_id, token="", since=now)


class OrderGate:
    def __init__(self, ports: Ports, acks: MessageAcks) -> None:
        self._ports = ports
        self._acks = acks

    def admit(self, due: Sequence[Admitted]) -> list[Admitted]:
        """Returns what may be leased. The messages of the others are acknowledged here."""
        arrivals = [one for admitted in due if (one := _arrival(admitted))]
        with suppress(Unavailable):  # what is not decided is handed back
            self._pass(arrivals)
            self._wait([one for one in arrivals if not one.passes and not one.refused])
        stays = [one for one in arrivals if not one.passes and not one.refused]
        self._acks.delete([one.admitted.message for one in stays if one.decided])
        for one in stays:
            if not one.decided:
                self._acks.hand_back_with_backoff(one.admitted.message)
        return after_gate(
            due,
            out=[one.admitted for one in stays],
            refused=[one.admitted for one in arrivals if one.refused],
        )

    def _pass(self, arrivals: Sequence[_Arrival]) -> None:
        """Let those pass that have the slot of their key, or can take it. A task that is not in its
        line was revived, or its place was passed before it was stored: it joins now."""
        if not arrivals:
            return
        store, now = store_of(self._ports), self._ports.clock.now()
        states = self._read(arrivals)
        absent = [one for one in arrivals if not _has_place(states[one.line], one)]
        if absent:
            store.join([(one.line, replace(one.place, since=now)) for one in absent])
            states |= self._read(absent)
        wanted = self._current([one for one in arrivals if _is_first(states[one.line], one)])
        writes = [SlotWrite(line=o.line, before=None, after=o.slot(now)) for o in wanted]
        made = store.replace(writes) if writes else []
        for one, applied in zip(wanted, made, strict=True):
            one.passes = applied
        for one in arrivals:
            one.passes = one.passes or _has_slot(states[one.line], one)
        if left := [(one.line, one.place) for one in wanted if one.passes]:
            store.leave(left)

    def _current(self, arrivals: Sequence[_Arrival]) -> list[_Arrival]:
        """Returns those whose message may start its task. An older message must not take the slot:
        it would be the task's until the task has ended, which may be due much later by now."""
        if not arrivals:
            return []
        tasks = self._ports.store.get([one.delivery.task_id for one in arrivals])
        for one in arrivals:
            task = tasks.get(one.delivery.task_id)
            one.refused = task is None or task.token != one.delivery.token
        return [one for one in arrivals if not one.refused]

    def _wait(self, arrivals: Sequence[_Arrival]) -> None:
        if not arrivals:
            return
        now = self._ports.clock.now()
        changes = [hold(one.delivery, ORDERING_KEY, now=now) for one in arrivals]
        held: dict[Line, set[str]] = {}
        waiting = []
        for one, answer in zip(arrivals, self._ports.store.apply(changes), strict=True):
            match answer:
                case Applied():
                    waiting.append(one)
                    held.setdefault(one.line, set()).add(one.delivery.task_id)
                case Refused():
                    one.refused = True
        for line in held:
            ensure_watch(self._ports, line)
        looks = [
            Look(line=line, slots=ORDERED, joined=frozenset(ids), deep=True)
            for line, ids in held.items()
        ]
        look_at(self._ports, looks)
        for one in waiting:
            one.decided = True

    def _read(self, arrivals: Sequence[_Arrival]) -> dict[Line, LineState]:
        lines = list(dict.fromkeys(one.line for one in arrivals))
        return dict(zip(lines, store_of(self._ports).read(lines), strict=True))


def _arrival(admitted: Admitted) -> _Arrival | None:
    delivery = admitted.message.delivery
    limits = delivery.limits
    if not admitted.gated or limits is None or limits.ordering_key is None:
        return None
    position = order_position(
        order_at=limits.order_at, due_at=delivery.due_at, attempt=delivery.attempt - 1
    )
    place = Place(position=position, task_id=delivery.task_id)
    return _Arrival(admitted, delivery, order_line(limits.namespace, limits.ordering_key), place)


def _has_slot(state: LineState, one: _Arrival) -> bool:
    return any(slot.task_id == one.delivery.task_id for slot in state.slots)


def _has_place(state: LineState, one: _Arrival) -> bool:
    """Whether the task is in its line. Of a long line only the first places are known, and a task
    behind them is not the first in any case: it joins again, which changes nothing."""
    if _has_slot(state, one):
        return True
    return any(_is_own(place, one) for place in state.places)


def _is_first(state: LineState, one: _Arrival) -> bool:
    """Whether the slot is free, and the task is the first in line."""
    if state.slots or not state.places:
        return False
    return _is_own(state.places[0], one)


def _is_own(place: Place, one: _Arrival) -> bool:
    return (place.position, place.task_id) == (one.place.position, one.place.task_id)
