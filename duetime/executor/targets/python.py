"""The `python` target: calls a registered handler."""

from typing import TYPE_CHECKING, Any

from duetime.core.task import Task
from duetime.executor.call_handler import call_handler
from duetime.executor.run_control import RunControl
from duetime.executor.targets import Target, TargetFailed
from duetime.handlers import registry
from duetime.handlers.handler import Handler

if TYPE_CHECKING:
    from duetime.executor.handler_processes.pool import HandlerProcesses


def run_handler(task: Task, control: RunControl) -> Any:
    handler = find_handler(task)
    if handler.isolated:
        # Imported here: its imports take long, and most handlers are not isolated.
        from duetime.executor.isolation.process import run_in_child

        return run_in_child(handler, task, control)
    return call_in_thread(handler, task, control)


def handlers_in(processes: "HandlerProcesses") -> Target:
    """Returns the target that calls plain handlers in these processes, and waits there for the
    end."""

    def run(task: Task, control: RunControl) -> Any:
        handler = find_handler(task)
        if handler.isolated:
            return run_handler(task, control)
        return processes.run(task, handler.__module__, control).value()

    return run


def find_handler(task: Task) -> Handler[..., Any]:
    name = task.spec.target["handler"]
    handler = registry.find(name)
    if handler is None:
        # Not permanent: during a rolling deployment the next executor may have it.
        raise TargetFailed("UnknownHandler", f"no handler is registered as {name!r} here")
    return handler


def call_in_thread(handler: Handler[..., Any], task: Task, control: RunControl) -> Any:
    """Calls a handler in this thread, which an interrupt can stop."""
    return control.interrupt.run(lambda: call_handler(handler, task.spec.payload, control))
