"""settle: what must follow from the end of a task has been done.

A finished task that owes something keeps a watch. The relay pays at once and takes the watch away;
if it does not, the scanner comes upon the watch and pays.
"""

from lambdas.core.change import Change, Expect
from lambdas.core.lifecycle import Step, sources
from lambdas.core.task import Task
from lambdas.core.times import MINUTE, Millis
from lambdas.core.wakes import Wake, WakeKind

PATIENCE: Millis = 5 * MINUTE  # for the relay


def debt(task: Task, now: Millis) -> Wake | None:
    """The wake of a task that ends now."""
    occurrence = task.spec.occurrence
    if occurrence is None or not occurrence.owes or task.wake is None:
        return None
    return task.wake.moved(WakeKind.WATCH, now + PATIENCE)


def settle(task: Task) -> Change:
    """Whoever has revived it, or paid, has moved the wake."""
    return _rewake(task, None)


def hasten(task: Task, now: Millis) -> Change:
    """After a restart nobody but the scanner knows of the debt: it is to look now."""
    return _rewake(task, task.wake.moved(WakeKind.WATCH, now) if task.wake else None)


def _rewake(task: Task, wake: Wake | None) -> Change:
    return Change(
        step=Step.SETTLE,
        task_id=task.id,
        expect=Expect(statuses=sources(Step.SETTLE), wake=task.wake),
        sets={"wake": wake},
    )
