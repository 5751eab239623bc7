"""All queues of a stage: those of its lanes, and those of its pools."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from aws_cdk import aws_iam as iam
from aws_cdk import aws_sqs as sqs

from duetime.core.lanes import Lane, Queue
from infra.lanes import LaneQueues, allow_on_queues
from infra.pools import Pools

FIRST = Queue(Lane.HIGH)


@dataclass(frozen=True, kw_only=True, slots=True)
class StageQueues:
    lanes: LaneQueues
    pools: Pools

    def all(self) -> dict[Queue, sqs.Queue]:
        return {
            Queue(lane, pool): made
            for pool, queues in self._by_pool()
            for lane, made in queues.queues.items()
        }

    def of_pools(self) -> dict[Queue, sqs.Queue]:
        return {queue: made for queue, made in self.all().items() if queue.pool}

    def dead_letters(self) -> dict[Queue, sqs.Queue]:
        return {
            Queue(lane, pool): made
            for pool, queues in self._by_pool()
            for lane, made in queues.dead_letters.items()
        }

    def allow(self, *actions: str) -> iam.PolicyStatement:
        """On every queue that has tasks, in a lane or in a pool."""
        return allow_on_queues([*self.all().values()], *actions)

    def setting(self) -> str:
        """Returns the value of Settings.queues. Only one queue has its whole URL. The others are
        beside it and have their names alone: a function's environment has no room for 33 URLs."""
        urls = {
            str(Queue(lane, pool)): name
            for pool, queues in self._by_pool()
            for lane, name in queues.names.items()
        }
        urls[str(FIRST)] = self.lanes.queues[FIRST.lane].queue_url
        return json.dumps(urls, separators=(",", ":"))

    def _by_pool(self) -> Iterator[tuple[str | None, LaneQueues]]:
        yield None, self.lanes
        yield from self.pools.queues.items()
