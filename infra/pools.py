"""The pools: three queues each, with their dead-letter queues and without an event source. Workers
receive from them (`duetime worker`), anywhere or on Fargate: infra/fargate_pool.py."""

from aws_cdk import Duration
from constructs import Construct

from infra.lanes import LaneQueues
from infra.pool_settings import queue_names
from infra.stage import Stage

POOL_VISIBILITY = Duration.minutes(2)  # a worker extends it for as long as it runs a task


class Pools(Construct):
    """Attributes:
    queues: The queues of each pool, by its name."""

    def __init__(self, scope: Construct, name: str, stage: Stage) -> None:
        super().__init__(scope, name)
        self.queues = {
            pool: LaneQueues(
                self, pool, names=queue_names(stage.name, pool), visibility=POOL_VISIBILITY
            )
            for pool in stage.pools
        }
