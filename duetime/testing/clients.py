"""The clients of a world: the real ones, whose requests the API answers in this process."""

import builtins
from collections.abc import Iterable, Sequence
from typing import Any, Unpack

from duetime.api.app import Api
from duetime.client.async_client import AsyncClient
from duetime.client.client import Client
from duetime.client.errors import WaitTimeout
from duetime.client.types import BatchResult, Submitted, Task, TaskFields
from duetime.core.lifecycle import FINISHED
from duetime.testing.driver import Driver
from duetime.testing.in_process import in_process

URL = "https://duetime.test"  # no request leaves the process
TOKEN = "testing"  # so that DUETIME_SIGN and DUETIME_TOKEN have no effect


class WorldClient(Client):
    """A client whose waits move the clock of its world."""

    def __init__(self, driver: Driver, api: Api) -> None:
        self._driver = driver
        super().__init__(
            URL,
            token=TOKEN,
            transport=in_process(api),
            sleep=driver.sleep,
            clock=driver.monotonic,
            chance=lambda: 0.5,
        )

    def submit_once(self, /, **fields: Unpack[TaskFields]) -> Submitted:
        submitted = super().submit_once(**_with_id(fields, self._driver))
        if not self._driver.run_inline():
            return submitted
        return Submitted(self.get(submitted.task["id"]), replayed=submitted.replayed)

    def submit_batch(self, tasks: Sequence[TaskFields]) -> "builtins.list[BatchResult]":
        results = super().submit_batch([_with_id(task, self._driver) for task in tasks])
        self._driver.run_inline()
        return results

    def submit_many(self, tasks: Iterable[TaskFields]) -> "builtins.list[BatchResult]":
        results = super().submit_many(_with_id(task, self._driver) for task in tasks)
        self._driver.run_inline()
        return results

    def wait(
        self,
        task_id: str,
        *,
        timeout: float | None = None,
        poll: float | None = None,  # noqa: ARG002 - nothing is polled
    ) -> Task:
        self.get(task_id)  # raises NotFound
        waited = self._driver.run_until_ended(task_id, timeout)
        return _ended(self.get(task_id), waited)


class AsyncWorldClient(AsyncClient):
    """The same for `async` code. A wait blocks the event loop while the world runs."""

    def __init__(self, driver: Driver, api: Api) -> None:
        self._driver = driver

        async def sleep(seconds: float) -> None:
            driver.sleep(seconds)

        super().__init__(
            URL,
            token=TOKEN,
            transport=in_process(api),
            sleep=sleep,
            clock=driver.monotonic,
            chance=lambda: 0.5,
        )

    async def submit_once(self, /, **fields: Unpack[TaskFields]) -> Submitted:
        submitted = await super().submit_once(**_with_id(fields, self._driver))
        if not self._driver.run_inline():
            return submitted
        return Submitted(await self.get(submitted.task["id"]), replayed=submitted.replayed)

    async def submit_batch(self, tasks: Sequence[TaskFields]) -> "builtins.list[BatchResult]":
        results = await super().submit_batch([_with_id(task, self._driver) for task in tasks])
        self._driver.run_inline()
        return results

    async def submit_many(
        self, tasks: Iterable[TaskFields], *, concurrency: int = 4
    ) -> "builtins.list[BatchResult]":
        with_ids = (_with_id(task, self._driver) for task in tasks)
        results = await super().submit_many(with_ids, concurrency=concurrency)
        self._driver.run_inline()
        return results

    async def wait(
        self,
        task_id: str,
        *,
        timeout: float | None = None,
        poll: float | None = None,  # noqa: ARG002 - nothing is polled
    ) -> Task:
        await self.get(task_id)
        waited = self._driver.run_until_ended(task_id, timeout)
        return _ended(await self.get(task_id), waited)


def _with_id(task: Any, driver: Driver) -> Any:
    """The client makes ids from the real time, which the API of a world would refuse."""
    return {"id": driver.new_id(), **task}


def _ended(task: Task, waited: float) -> Task:
    if task["status"] not in FINISHED:
        raise WaitTimeout(task, waited)
    return task
