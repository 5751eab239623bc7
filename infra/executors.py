"""The executors: one function for each lane, invoked by its queue with up to ten messages, which
run in parallel."""

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from duetime.core.lanes import Lane
from infra.function import FunctionInputs, RoleFunction
from infra.lanes import EXECUTOR_TIMEOUT
from infra.objects import Objects
from infra.policies import allow
from infra.stage import Handlers, Stage, Targets
from infra.target_permissions import acknowledge_patterns, target_statements


class Executors(Construct):
    """`objects` is where they read large payloads and store large results, if anywhere."""

    def __init__(
        self, scope: Construct, name: str, given: FunctionInputs, objects: Objects | None = None
    ) -> None:
        super().__init__(scope, name)
        stage, table, lanes = given.stage, given.table, given.lanes
        handlers, targets = stage.handlers, stage.targets or Targets()
        self.role_functions = {
            lane: RoleFunction(
                self,
                f"executor-{lane}",
                given,
                role="executor",
                memory=stage.executor_memory,
                timeout=EXECUTOR_TIMEOUT,
                statements=[
                    table.allow("GetItem", "BatchGetItem", "PutItem", "UpdateItem", "Query"),
                    table.allow("DeleteItem"),  # slots and places of limits
                    lanes.allow("SendMessage"),  # a handler may submit to any lane
                    lanes.allow(
                        "ReceiveMessage",
                        "DeleteMessage",
                        "ChangeMessageVisibility",
                        "GetQueueAttributes",
                        lanes=(lane,),
                    ),
                    *(objects.allow("GetObject", "PutObject") if objects else []),
                    *_secrets(self, stage),
                    *_granted(handlers),
                    *target_statements(self, targets),
                ],
                environment={**stage.otel, **(handlers.environment if handlers else {})},
                vpc=handlers.vpc if handlers else None,
                recursive_loop=lambda_.RecursiveLoop.ALLOW,  # a retry goes back to its own queue
            )
            for lane in Lane
        }
        for lane, executor in self.role_functions.items():
            acknowledge_patterns(executor.role, targets)
            if objects:
                objects.acknowledge_on(executor.role)
            lambda_.EventSourceMapping(
                executor,
                "Lane",
                target=executor.function,
                event_source_arn=lanes.queues[lane].queue_arn,
                batch_size=getattr(stage.batch_size, lane),
                # Not reserved concurrency: a throttled poller counts as a receive, so healthy
                # messages would become dead letters.
                max_concurrency=stage.at_once(lane),
                report_batch_item_failures=True,
            )


def _secrets(scope: Construct, stage: Stage) -> list[iam.PolicyStatement]:
    """The policy of the key `aws/ssm` lets every role decrypt what SSM lets it read, so no
    permission of KMS is needed."""
    arns = [
        Stack.of(scope).format_arn(
            service="ssm", resource="parameter", resource_name=f"duetime/{stage.name}/{name}"
        )
        for name in stage.secrets
    ]
    return [allow(["ssm:GetParameter"], *arns)] if arns else []


def _granted(handlers: Handlers | None) -> list[iam.PolicyStatement]:
    return (
        [iam.PolicyStatement.from_json(s.as_policy()) for s in handlers.statements]
        if handlers
        else []
    )
