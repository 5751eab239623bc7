"""The targets of a world: handlers run here, HTTP requests meet declared routes."""

import asyncio
import contextvars
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from threading import Thread
from typing import Any, TypeVar

from duetime.core.secrets import SecretStore
from duetime.core.task import Task
from duetime.executor.run_control import RunControl
from duetime.executor.targets import Target, TargetFailed
from duetime.extras import NotInstalled
from duetime.testing.clock import VirtualClock
from duetime.testing.errors import UndeclaredTarget
from duetime.testing.http_routes import HttpRoutes
from duetime.testing.problems import Problems

T = TypeVar("T")

# Gets the target and the payload of a task, and returns its result.
TargetFunction = Callable[[Mapping[str, Any], Any], Any]


class WorldTargets(Mapping[str, Target]):
    """`declared` has the functions that the test declares for other types of targets."""

    def __init__(
        self, clock: VirtualClock, routes: HttpRoutes, secrets: SecretStore, problems: Problems
    ) -> None:
        self.declared: dict[str, TargetFunction] = {}
        self._clock = clock
        self._routes = routes
        self._secrets = secrets
        self._problems = problems

    def __getitem__(self, kind: str) -> Target:
        return self._problems.watch(self._target(kind))

    def _target(self, kind: str) -> Target:
        if kind in self.declared:
            function = self.declared[kind]
            return lambda task, _: function(task.spec.target, task.spec.payload)
        if kind == "python":
            return run_handler_here
        if kind == "http":
            return self._http
        example = f'w.targets["{kind}"] = lambda target, payload: …'
        message = f"a task has a target of type {kind!r}; declare what it does: {example}"
        self._problems.add(UndeclaredTarget(message))
        raise TargetFailed("UndeclaredTarget", message, permanent=True)

    @cached_property
    def _http(self) -> Target:
        try:
            from duetime.executor.targets.http import HttpTarget
            from duetime.testing.http_pool import RoutedPool
        except ModuleNotFoundError as error:
            missing = NotInstalled("What runs http tasks in tests", "testing")
            self._problems.add(missing)
            raise missing from error

        pool = RoutedPool(self._routes, self._problems)
        return HttpTarget(self._clock, secrets=self._secrets, pool=pool)

    def __iter__(self) -> Iterator[str]:
        return iter({"python", "http", *self.declared})

    def __len__(self) -> int:
        return len({"python", "http", *self.declared})


def run_handler_here(task: Task, control: RunControl) -> Any:
    """Calls a handler as the `python` target does, but in this process also if it is isolated."""
    from duetime.executor.targets.python import call_in_thread, find_handler

    handler = find_handler(task)
    return outside_loop(lambda: call_in_thread(handler, task, control))


def outside_loop(act: Callable[[], T]) -> T:
    """Runs what a thread of the executor runs. Inside of a running event loop, as in an `async`
    test, that takes another thread: a handler may run a loop of its own."""
    if not _in_loop():
        return act()
    results: list[T] = []
    errors: list[BaseException] = []

    def call() -> None:
        try:
            results.append(act())
        except BaseException as error:  # noqa: BLE001 - raised in the thread that waits
            errors.append(error)

    thread = Thread(target=contextvars.copy_context().run, args=(call,), daemon=True)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


def _in_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
