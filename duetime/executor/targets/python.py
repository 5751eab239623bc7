"""`python`: a registered handler."""

from typing import Any

from lambdas import registry
from lambdas.core.task import Task
from lambdas.executor.calling import call
from lambdas.executor.context import Context
from lambdas.executor.targets import TargetFailed


def run_handler(task: Task, ctx: Context) -> Any:
    name = task.spec.target["handler"]
    handler = registry.find(name)
    if handler is None:
        # Not permanent: during a rolling deployment the next executor may know it.
        raise TargetFailed("UnknownHandler", f"no handler is registered as {name!r} here")
    if handler.isolated:
        from lambdas.executor.child import run_in_child  # what it needs takes long to import

        return run_in_child(handler, task, ctx)
    return ctx.brake.guard(lambda: call(handler.run, task.spec.payload, ctx))
