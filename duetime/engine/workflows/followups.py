"""The follow-ups of tasks that belong to workflow runs."""

from collections.abc import Sequence

from duetime.core.lifecycle import Status
from duetime.core.ports import Ports
from duetime.core.task import WORKFLOW, Task
from duetime.engine.workflows.progress import record_ends
from duetime.engine.workflows.waits import cancel_waited_run

STOPS_ITS_RUN = (Status.CANCELLED, Status.EXPIRED)


def run_follow_ups_of_steps(ports: Ports, tasks: Sequence[Task]) -> list[Task]:
    """Records the ends of steps in their runs, and cancels the runs of tasks that were cancelled
    while they waited. Returns the tasks for which this is done, and those that need none of it."""
    tasks = [task for task in tasks if leaves_no_run(ports, task)]
    steps = [task for task in tasks if task.spec.step is not None]
    others = [task for task in tasks if task.spec.step is None]
    return others + (record_ends(ports, steps) if steps else [])


def leaves_no_run(ports: Ports, task: Task) -> bool:
    """Cancels the run that a finished task waited for, if it was cancelled. Returns whether that
    is done."""
    return not _may_have_run(task) or cancel_waited_run(ports, task)


def _may_have_run(task: Task) -> bool:
    """Whether a run may go on that only this task waited for. A step does not say whether it has
    started one, so each that was cancelled after an attempt is asked."""
    starts_one = task.spec.step is not None or task.spec.target.get("type") == WORKFLOW
    return starts_one and task.status in STOPS_ITS_RUN and task.attempt > 0
