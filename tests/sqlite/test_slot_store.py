"""The slots after a restart of the runner."""

from dataclasses import replace

from duetime.core.lifecycle import Status
from duetime.core.limits.hand_over import slot_for
from duetime.core.limits.slots import Line, Place, SlotWrite
from duetime.core.times import HOUR
from duetime.sqlite.task_store import SqliteTaskStore
from tests.factories import NOW, WAKE_POLICY, a_running_task, a_sent_task, an_id

LINE = Line(namespace="default", limit="one", key="")


def test_restart_frees_the_slots_of_ended_attempts_and_looks_at_every_line_at_once():
    store = SqliteTaskStore(None)
    slots = store.slots()
    running, waiting = a_running_task(), a_sent_task()
    ended, retried = replace(a_running_task(), status=Status.SUCCEEDED), a_sent_task()
    store.put([running, waiting, ended, retried])
    taken = [slot_for(LINE, n, task, NOW) for n, task in enumerate((running, waiting, ended))]
    taken.append(replace(slot_for(LINE, 3, retried, NOW), token="an older one"))
    slots.replace([SlotWrite(line=LINE, before=None, after=slot) for slot in taken])
    slots.join([(LINE, Place(position=NOW, task_id=an_id(), since=NOW))])

    later = NOW + HOUR
    store.recover(WAKE_POLICY, later)

    [state] = slots.read([LINE])
    assert list(state.slots) == taken[:2]
    watch = slots.watch_of(LINE)
    assert watch is not None
    assert watch.at == later
    store.close()
