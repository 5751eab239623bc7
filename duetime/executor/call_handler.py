"""Calling a handler, whether it is a plain function or `async`."""

import inspect
from typing import Any

from lambdas.executor.context import Context
from lambdas.forks import EndForkedChild
from lambdas.registry import Handler


def call(handler: Handler, payload: Any, ctx: Context) -> Any:
    with EndForkedChild():
        result = handler(payload, ctx)
    if not inspect.iscoroutine(result):
        return result
    from lambdas.executor.awaiting import run_coroutine  # a child need not wait for asyncio

    return run_coroutine(result, ctx)
