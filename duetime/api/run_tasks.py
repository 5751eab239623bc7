"""The tasks of a run, which no list of a store has: their ids follow from the run and its steps."""

from collections.abc import Sequence

from duetime.core.list_positions import NOT_A_CURSOR
from duetime.core.listings import Listing, Page
from duetime.core.ports import Ports
from duetime.core.workflows.run import STARTED, Run, step_task_id
from duetime.engine.workflows.definitions import definitions_of, run_store

MAX_TASKS_READ = 500  # for one page


def page_of_run(ports: Ports, listing: Listing) -> Page:
    """Lists the tasks of a run by step, or of a map by item. The cursor is the number of steps that
    have been read. Raises ValueError for a cursor that is none."""
    run_id = str(listing.filter.run_id)
    start = _position(listing.cursor)
    run = run_store(ports).get([run_id]).get(run_id)
    if run is None:
        return Page(tasks=[], cursor=None)
    end = min(start + MAX_TASKS_READ, len(run.states))
    ids = dict(zip(range(start, end), _task_ids(ports, run, start, end), strict=True))
    tasks = ports.store.get([task_id for task_id in ids.values() if task_id])
    found = [
        (position, task)
        for position, task_id in ids.items()
        if task_id and (task := tasks.get(task_id)) and listing.filter.wants(task)
    ]
    if len(found) > listing.limit:
        end = found[listing.limit][0]
    page = [task for position, task in found if position < end]
    return Page(tasks=page, cursor=str(end) if end < len(run.states) else None)


def _task_ids(ports: Ports, run: Run, start: int, end: int) -> Sequence[str | None]:
    """Returns the ids of the tasks from `start` to `end`; None where there is no task yet."""
    if run.spec.map is not None:
        step = run.spec.map.step
        return [step_task_id(run, step, index, index) for index in range(start, end)]
    definition = definitions_of(ports, [run]).get(run.spec.digest)
    steps = definition.steps if definition else ()
    if len(steps) < end:  # its definition is gone
        return [None] * (end - start)
    return [
        step_task_id(run, steps[position].name, position)
        if run.states[position] in STARTED
        else None
        for position in range(start, end)
    ]


def _position(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) <= 9):
        raise ValueError(NOT_A_CURSOR)
    return int(cursor)
