"""`python`: a registered handler."""

import asyncio
import inspect
from typing import Any

from lambdas import registry
from lambdas.core.task import Task
from lambdas.executor.context import Context
from lambdas.executor.targets import TargetFailed


def run_handler(task: Task, ctx: Context) -> Any:
    name = task.spec.target["handler"]
    handler = registry.find(name)
    if handler is None:
        # Not permanent: during a rolling deployment the next executor may know it.
        raise TargetFailed("UnknownHandler", f"no handler is registered as {name!r} here")
    result = handler(task.spec.payload, ctx)
    if inspect.iscoroutine(result):
        return asyncio.run(result)
    return result
