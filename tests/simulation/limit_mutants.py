"""Mutants of limits: slots, lines and their watch."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from random import Random
from unittest.mock import patch
from zlib import crc32

from duetime.core.errors import Unavailable
from duetime.core.lifecycle import Status
from duetime.core.limits import hand_over
from duetime.core.limits.slots import LineState
from duetime.core.times import MINUTE, SECOND
from duetime.engine import lines, ordered
from duetime.executor import order_gate, slot_gate
from duetime.executor.executor import Executor
from duetime.executor.stale_messages import StaleMessages
from duetime.local import event_pump
from duetime.scanner.dispatch import Dispatcher
from tests.simulation import faults, limit_workload, schedule_workload
from tests.simulation.mutant import Mutant, aimed, mutant

CARRY_OUT, IS_VOID = lines._carry_out, hand_over.is_void
OUTCOMES, WAIT = Executor._outcomes, slot_gate.SlotGate._wait
FREE = StaleMessages.free_slots
PUT_IN_ORDER, HAS_PASSED, SERVE = ordered.put_in_order, hand_over.has_passed, hand_over._serve


def limit_mutant(make: Mutant) -> Mutant:
    """Registers a mutant in whose worlds every task is under a limit that does not change."""

    @contextmanager
    def made() -> Iterator[None]:
        given = {"SHARES": [1.0], "CHANGES": [0], "ORDERED_SHARES": [0.0]}
        given |= {"ON_ONE_MACHINE": [False]}
        with patch.multiple(limit_workload, **given), make():
            yield

    made.__name__ = make.__name__
    return mutant(made)


def only_slow(make: Mutant) -> Mutant:
    """Makes worlds in which processes are slow and nothing else fails: they race, and none dies."""

    def draw(random: Random, scanner_random: Random) -> faults.Faults:
        return faults.Faults(lasts=random.randint(8, 18) * MINUTE, slow=0.5, tick_doubled=0.3)

    @contextmanager
    def made() -> Iterator[None]:
        quiet = {"SCHEDULES": [0]}
        with (
            patch.object(faults, "draw_faults", draw),
            patch.multiple(schedule_workload, **quiet),
            make(),
        ):
            yield

    made.__name__ = make.__name__
    return made


@limit_mutant
@only_slow
def slots_counted():
    """The gate counts the slots that are taken, and takes any number."""

    def broken(one, state):
        numbers = [crc32(one.delivery.token.encode()) % 1_000]
        return numbers if len(state.slots) < one.slots and not state.places else []

    return patch.object(slot_gate, "_free_numbers", broken)


@limit_mutant
def freed_before_recorded():
    def broken(self, ended, now):
        limited = [(end.run.message.delivery, None) for end in ended]
        with suppress(Unavailable):
            lines.free_slots(self._ports, limited)
        return OUTCOMES(self, ended, now)

    return patch.object(Executor, "_outcomes", broken)


@limit_mutant
def cleaned_without_a_new_token():
    """A slot is taken from a task that has not started, and may start."""

    def broken(slot, task):
        return IS_VOID(slot, task) or (task is not None and task.status is not Status.RUNNING)

    return patch.object(hand_over, "is_void", broken)


@limit_mutant
@only_slow
def wake_removed_after_looking():
    def broken(ports, line, watch, looked):
        if not looked.watched:
            lines.store_of(ports).move_watch(line, watch, None)

    return patch.object(lines, "_after_look", broken)


@limit_mutant
@only_slow
def joined_after_looking():
    def broken(self, arrivals):
        self._look(arrivals)
        self._look = lambda held: None
        WAIT(self, arrivals)

    return patch.object(slot_gate.SlotGate, "_wait", broken)


@limit_mutant
def line_row_deleted_before_the_hand_over():
    def broken(ports, rounds):
        for one in rounds:
            places = [(one.look.line, grant.place) for grant in one.done.grants if grant.place]
            if places:
                lines.store_of(ports).leave(places)
        return CARRY_OUT(ports, rounds)

    return patch.object(lines, "_carry_out", broken)


@limit_mutant
def held_task_sent_by_its_watch():
    return patch.object(Dispatcher, "_waiting", lambda self, tasks: set())


@limit_mutant
def line_without_a_watch():
    nothing = lambda ports, line: None  # noqa: E731
    return patch.multiple(slot_gate, ensure_watch=nothing)


@limit_mutant
@aimed(often=("unanswered", "answer_lost"), SCHEDULES=[0])
def message_deleted_before_its_slot_is_free():
    def broken(self, ended):
        FREE(self, ended)
        return True

    return patch.object(StaleMessages, "free_slots", broken)


@limit_mutant
def slot_freed_by_another_copy_of_the_message():
    return patch.object(StaleMessages, "_may_start", lambda self, message, task: False)


def freed_without_a_look():
    """The attempt's end frees its slot and does not look at the line."""

    def broken(ports, ends):
        for delivery, _ in ends:
            for line in lines.lines_of(delivery):
                [state] = lines.store_of(ports).read([line])
                mine = [slot for slot in state.slots if slot.token == delivery.token]
                writes = [lines.SlotWrite(line=line, before=slot, after=None) for slot in mine]
                lines.store_of(ports).replace(writes)

    return patch.object(lines, "free_slots", broken)


@limit_mutant
def freed_slot_not_handed_over():
    return freed_without_a_look()


def no_faults(make: Mutant) -> Mutant:
    def draw(random: Random, scanner_random: Random) -> faults.Faults:
        return faults.Faults(lasts=random.randint(8, 18) * MINUTE)

    @contextmanager
    def made() -> Iterator[None]:
        with patch.object(faults, "draw_faults", draw), make():
            yield

    made.__name__ = make.__name__
    return made


@limit_mutant
@no_faults
def line_watched_every_ten_minutes():
    """An end does not hand over, and the watch comes seldom."""
    return _seldom(patch.object(lines, "WATCH_EVERY", 10 * MINUTE), on_one_machine=False)


@limit_mutant
@no_faults
def lines_looked_at_every_ten_seconds():
    """An end does not hand over, and the machine looks at its lines seldom."""
    return _seldom(patch.object(event_pump, "LINES_PAUSE", 10 * SECOND), on_one_machine=True)


@contextmanager
def _seldom(made, *, on_one_machine):
    where = patch.object(limit_workload, "ON_ONE_MACHINE", [on_one_machine])
    with where, freed_without_a_look(), made:
        yield


@limit_mutant
@contextmanager
def last_in_line_first():
    """A free slot goes to the task that has come last. The line is long: all tasks come within two
    minutes, and take half a minute."""

    def broken(done, line, state, tasks, of_task, free, *, now, joined):
        turned = replace(state, places=state.places[::-1])
        return SERVE(done, line, turned, tasks, of_task, free, now=now, joined=joined)

    def draw(random: Random, scanner_random: Random) -> faults.Faults:
        return faults.Faults(lasts=2 * MINUTE)

    def long(plan):
        return [{**step, "takes": MINUTE // 2} for step in plan]

    with (
        patch.object(hand_over, "_serve", broken),
        patch.object(faults, "draw_faults", draw),
        patch.multiple(limit_workload, KEYS=1, _shortened=long),
        patch.object(schedule_workload, "SCHEDULES", [0]),
    ):
        yield


@limit_mutant
@aimed(often=("killed", "message_lost"), SCHEDULES=[0])
def dead_holders_end_with_their_own_watch():
    """A holder that has waited itself may have its watch in an hour."""
    return patch.object(lines, "_watch_dead_holders", lambda *arguments: None)


# ordered keys


def order_mutant(make: Mutant) -> Mutant:
    """Registers a mutant in whose worlds every task has an ordering key."""

    @contextmanager
    def made() -> Iterator[None]:
        given = {"SHARES": [0.0], "ORDERED_SHARES": [1.0]}
        with patch.multiple(limit_workload, **given), make():
            yield

    made.__name__ = make.__name__
    return mutant(made, changed=0.4)


@order_mutant
@aimed(often=("killed",), SCHEDULES=[0])
def order_row_after_the_task():
    def broken(ports, tasks, put):
        answers = put()
        return PUT_IN_ORDER(ports, tasks, lambda: answers)

    return patch.object(ordered, "put_in_order", broken)


@order_mutant
def head_not_asked():
    return patch.object(order_gate, "_is_first", lambda state, one: not state.slots)


@order_mutant
def released_on_retry():
    def broken(task):
        return HAS_PASSED(task) or task.status is Status.RETRYING

    return patch.multiple(hand_over, has_passed=broken)


@order_mutant
def position_taken_anew():
    """A task that is not due is passed, and joins again at its new time."""

    def broken(done, line, state, tasks, of_task, free, *, now, joined):
        due = [p for p in state.places if not _is_later(tasks.get(p.task_id), now)]
        due_state = LineState(slots=state.slots, places=due)
        return SERVE(done, line, due_state, tasks, of_task, free, now=now, joined=joined)

    return patch.object(hand_over, "_serve", broken)


def _is_later(task, now):
    return task is not None and task.due_at > now


@order_mutant
@contextmanager
def dead_task_does_not_block():
    def broken(task):
        return task.status.finished

    with patch.object(hand_over, "has_passed", broken), patch.object(lines, "has_passed", broken):
        yield
