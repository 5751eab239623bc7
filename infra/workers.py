"""What every worker of a pool gets from its stage, wherever it runs: variables and permissions."""

from collections.abc import Sequence
from dataclasses import dataclass

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from duetime.aws.settings import Settings
from infra.executor_permissions import OF_CONSUMERS, acknowledge_executor, executor_statements
from infra.lanes import LaneQueues
from infra.objects import Objects
from infra.queues import StageQueues
from infra.setting_models import Statement
from infra.stage import Stage
from infra.table import TaskTable


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkerInputs:
    stage: Stage
    table: TaskTable
    queues: StageQueues
    settings: Settings
    objects: Objects | None

    def queues_of(self, pool: str) -> LaneQueues:
        return self.queues.pools.queues[pool]

    def variables(self, scope: Construct) -> dict[str, str]:
        region = {"AWS_REGION": Stack.of(scope).region}
        return {**self.stage.otel, **self.settings.environment(), **region}

    def statements(
        self, scope: Construct, pool: str, of_handlers: Sequence[Statement] = ()
    ) -> list[iam.PolicyStatement]:
        """A worker sends to every queue, for retries, follow-ups and children."""
        return executor_statements(
            scope,
            stage=self.stage,
            table=self.table,
            on_queues=[
                self.queues.allow("SendMessage"),
                self.queues_of(pool).allow(*OF_CONSUMERS),
            ],
            of_handlers=of_handlers,
            objects=self.objects,
        )


class WorkerPolicy(Construct):
    """A policy to attach to the role of workers that run elsewhere."""

    def __init__(self, scope: Construct, name: str, given: WorkerInputs, pool: str) -> None:
        super().__init__(scope, name)
        self.policy = iam.ManagedPolicy(
            self,
            "Policy",
            description=f"Duetime {given.stage.name}: workers of the pool {pool}",
            statements=given.statements(self, pool),
        )
        acknowledge_executor(self.policy, given.stage, given.objects)
