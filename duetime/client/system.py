"""The methods of the clients about Duetime itself: its state, its lanes, its figures."""

from typing import Literal

from duetime.client import forecast as forecasts
from duetime.client import quotas, task_calls
from duetime.client import stats as statistics
from duetime.client import system_calls as calls
from duetime.client.async_transport import AsyncTransport
from duetime.client.documentation import documented_by
from duetime.client.forecast import Forecast
from duetime.client.quotas import Quota
from duetime.client.stats import Slo, Stats
from duetime.client.system_calls import HandlerDescription, Me, Stuck, Worker
from duetime.client.transport import Transport
from duetime.client.types import Json, LaneState


class System:
    _transport: Transport

    def me(self) -> Me:
        """Returns who you are for the API, what you may do, and what the API can do."""
        return self._transport.run(calls.me())

    def stuck(self, *, namespace: str | None = None, limit: int | None = None) -> Stuck:
        """Returns the tasks that should have started over a minute ago, or whose executor has died,
        and why."""
        return self._transport.run(calls.stuck(namespace, limit))

    def handlers(self) -> list[HandlerDescription]:
        """Returns the Python handlers that tasks may name, by name."""
        return self._transport.run(calls.handlers())

    def workers(self) -> list[Worker]:
        """Returns the workers that were seen within a minute, by name, and what they run. The
        executors of Duetime itself are not among them."""
        return self._transport.run(calls.workers())

    def lanes(self) -> list[LaneState]:
        """Returns how many messages each lane has, the most urgent lane first."""
        return self._transport.run(task_calls.lanes())

    def forecast(
        self,
        *,
        hours: int | None = None,
        by: Literal["lane"] | None = None,
        namespace: str | None = None,
    ) -> Forecast:
        """Returns how many tasks come due in each minute of the next hours (default: 1).

        With `by="lane"` the counts have their lanes. `namespace="*"` means all."""
        return self._transport.run(forecasts.forecast(hours, by, namespace))

    def stats(
        self,
        *,
        window: str | float | None = None,
        step: int | None = None,
        lane: str | None = None,
    ) -> Stats:
        """Returns what happened: attempts, ends, drift and durations, in steps of time and by lane.

        Args:
            window: How far to look back: seconds, or a text such as `1h` (the default).
            step: Seconds, a multiple of 60 (the default).
            lane: Only this lane."""
        return self._transport.run(statistics.stats(window, step, lane))

    def slo(self) -> Slo:
        """Returns how well each lane meets its objective: the share of tasks that start on time,
        and what is left of the budget."""
        return self._transport.run(statistics.slo())

    def quota(self, namespace: str | None = None) -> Quota:
        """Returns what a namespace (default: `default`) may submit and store, and how many tasks it
        has stored."""
        return self._transport.run(quotas.quota(namespace))

    def health(self) -> Json:
        """Returns the health: `status` is `ok`, or `unhealthy` with the reasons in `detail`."""
        return self._transport.run(task_calls.health())


@documented_by(System)
class AsyncSystem:
    _transport: AsyncTransport

    async def me(self) -> Me:
        return await self._transport.run(calls.me())

    async def stuck(self, *, namespace: str | None = None, limit: int | None = None) -> Stuck:
        return await self._transport.run(calls.stuck(namespace, limit))

    async def handlers(self) -> list[HandlerDescription]:
        return await self._transport.run(calls.handlers())

    async def workers(self) -> list[Worker]:
        return await self._transport.run(calls.workers())

    async def lanes(self) -> list[LaneState]:
        return await self._transport.run(task_calls.lanes())

    async def forecast(
        self,
        *,
        hours: int | None = None,
        by: Literal["lane"] | None = None,
        namespace: str | None = None,
    ) -> Forecast:
        return await self._transport.run(forecasts.forecast(hours, by, namespace))

    async def stats(
        self,
        *,
        window: str | float | None = None,
        step: int | None = None,
        lane: str | None = None,
    ) -> Stats:
        return await self._transport.run(statistics.stats(window, step, lane))

    async def slo(self) -> Slo:
        return await self._transport.run(statistics.slo())

    async def quota(self, namespace: str | None = None) -> Quota:
        return await self._transport.run(quotas.quota(namespace))

    async def health(self) -> Json:
        return await self._transport.run(task_calls.health())
