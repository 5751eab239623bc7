"""The executors: one function for each lane, invoked by its queue with up to ten messages, which
run in parallel."""

from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from duetime.core.lanes import Lane
from infra.executor_permissions import OF_CONSUMERS, acknowledge_executor, executor_statements
from infra.function import FunctionInputs, RoleFunction
from infra.lanes import EXECUTOR_TIMEOUT
from infra.objects import Objects


class Executors(Construct):
    """`objects` is where they read large payloads and store large results, if anywhere."""

    def __init__(
        self, scope: Construct, name: str, given: FunctionInputs, objects: Objects | None = None
    ) -> None:
        super().__init__(scope, name)
        stage, lanes = given.stage, given.queues.lanes
        handlers = stage.handlers
        self.role_functions = {
            lane: RoleFunction(
                self,
                f"executor-{lane}",
                given,
                role="executor",
                memory=stage.executor_memory,
                timeout=EXECUTOR_TIMEOUT,
                statements=executor_statements(
                    self,
                    stage=stage,
                    table=given.table,
                    on_queues=[
                        given.queues.allow("SendMessage"),  # a handler may submit to any queue
                        lanes.allow(*OF_CONSUMERS, lanes=(lane,)),
                    ],
                    of_handlers=handlers.statements if handlers else [],
                    objects=objects,
                ),
                environment={**stage.otel, **(handlers.environment if handlers else {})},
                vpc=handlers.vpc if handlers else None,
                recursive_loop=lambda_.RecursiveLoop.ALLOW,  # a retry goes back to its own queue
            )
            for lane in Lane
        }
        for lane, executor in self.role_functions.items():
            acknowledge_executor(executor.role, stage, objects)
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
