"""Workers of a pool on Fargate: a service that runs `duetime worker` and scales from zero."""

import re
from collections.abc import Mapping
from typing import Any, cast

from aws_cdk import CfnElement, Duration, Stack
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_ecr_assets as assets
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.executor_permissions import acknowledge_executor
from infra.function import log_group
from infra.network import PublicNetwork, given_network
from infra.policies import acknowledge, allow
from infra.pool_scaling import PoolScaling
from infra.pool_settings import Fargate
from infra.workers import WorkerInputs

STOP_TIMEOUT = Duration.seconds(120)  # the most that Fargate waits after SIGTERM
GRACE = 100  # seconds of it for handlers; then the worker records what it interrupts
CONTROL_PORT = 8081  # of the worker, on its loopback interface
HEALTH = (
    "import urllib.request as u;"
    f"u.urlopen('http://127.0.0.1:{CONTROL_PORT}/health', timeout=4).read()"
)
ECR_IMAGE = re.compile(
    r"(?P<account>\d{12})\.dkr\.ecr\.(?P<region>[\w-]+)\.amazonaws\.com(\.cn)?/"
    r"(?P<repository>[^:@]+)[:@](?P<tag>.+)"
)
ARCHITECTURES: Mapping[str, tuple[ecs.CpuArchitecture, assets.Platform]] = {
    "x86_64": (ecs.CpuArchitecture.X86_64, assets.Platform.LINUX_AMD64),
    "arm64": (ecs.CpuArchitecture.ARM64, assets.Platform.LINUX_ARM64),
}


class FargatePool(Construct):
    """Runs workers of a pool.

    Args:
        given: What the stack of the pool gives to workers: `DuetimeStack.workers`.
        pool: The name of the pool, in `pools` of the stage.
        network: Where the workers run if the settings have no `vpc`. By default a new one.
        settings: The fields of `Fargate`, such as `image`, `min` and `max`."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        given: WorkerInputs,
        *,
        pool: str,
        network: PublicNetwork | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(scope, name)
        chosen = Fargate(**settings)
        self._given = given
        where = self._where(chosen, network)
        self.cluster = ecs.Cluster(
            self, "Cluster", vpc=where.pop("vpc"), enable_fargate_capacity_providers=True
        )
        acknowledge(self.cluster, "ECS4", "The table and the queues say what workers do, for less.")
        self.role = self._role(pool, chosen)
        self.service = ecs.FargateService(
            self,
            "Service",
            cluster=self.cluster,
            task_definition=self._task(pool, chosen),
            capacity_provider_strategies=[
                ecs.CapacityProviderStrategy(capacity_provider=chosen.capacity, weight=1)
            ],
            # No desired count: a deployment keeps the workers that scaling has started. The first
            # deployment starts one, and so fails if the image cannot start.
            circuit_breaker=ecs.DeploymentCircuitBreaker(rollback=True),
            min_healthy_percent=100,
            max_healthy_percent=200,
            assign_public_ip=chosen.public_ip or chosen.vpc is None,
            **where,
        )
        self.service.node.add_dependency(self.cluster)  # which has the capacity providers
        PoolScaling(
            self,
            "Scaling",
            service=self.service,
            queues=given.queues_of(pool),
            concurrency=chosen.concurrency,
            fewest=chosen.min,
            most=chosen.max,
        )

    def _where(self, chosen: Fargate, network: PublicNetwork | None) -> dict[str, Any]:
        if chosen.vpc:
            return given_network(self, chosen.vpc)
        return {"vpc": (network or PublicNetwork(self, "Network")).vpc}

    def _task(self, pool: str, chosen: Fargate) -> ecs.FargateTaskDefinition:
        architecture, platform = ARCHITECTURES[chosen.architecture]
        task = ecs.FargateTaskDefinition(
            self,
            "Task",
            cpu=chosen.cpu,
            memory_limit_mib=chosen.memory,
            task_role=self.role.without_policy_updates(),
            runtime_platform=ecs.RuntimePlatform(
                cpu_architecture=architecture,
                operating_system_family=ecs.OperatingSystemFamily.LINUX,
            ),
        )
        task.node.add_dependency(self.role)
        acknowledge(task, "ECS2", "The variables are settings. Secrets stay in SSM.")
        task.add_container(
            "Worker",
            image=_image(self, chosen, platform),
            command=worker_command(pool, chosen),
            environment={**chosen.environment, **self._given.variables(self)},
            logging=ecs.LogDriver.aws_logs(
                stream_prefix="worker", log_group=log_group(self, "Log", self._given.stage)
            ),
            stop_timeout=STOP_TIMEOUT,
            health_check=ecs.HealthCheck(
                command=["CMD", "python", "-c", HEALTH],
                interval=Duration.seconds(30),
                timeout=Duration.seconds(5),
                retries=3,
                start_period=Duration.minutes(1),
            ),
            linux_parameters=ecs.LinuxParameters(self, "Linux", init_process_enabled=True),
        )
        reason = "A login to ECR is for the whole registry."
        acknowledge(task.obtain_execution_role(), "IAM5[Resource::*]", reason)
        return task

    def _role(self, pool: str, chosen: Fargate) -> iam.Role:
        role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("ecs-tasks.amazonaws.com"))
        of_worker = self._given.statements(self, pool, chosen.statements)
        for statement in (*of_worker, self._protection()):
            role.add_to_policy(statement)
        acknowledge_executor(role, self._given.stage, self._given.objects)
        cluster = Stack.of(self).get_logical_id(cast(CfnElement, self.cluster.node.default_child))
        arn = f"arn:<AWS::Partition>:ecs:<AWS::Region>:<AWS::AccountId>:task/<{cluster}>/*"
        acknowledge(role, f"IAM5[Resource::{arn}]", "A task of ECS is named when it starts.")
        return role

    def _protection(self) -> iam.PolicyStatement:
        """A worker that runs a task protects itself from being scaled in."""
        tasks = Stack.of(self).format_arn(
            service="ecs", resource="task", resource_name=f"{self.cluster.cluster_name}/*"
        )
        return allow(["ecs:GetTaskProtection", "ecs:UpdateTaskProtection"], tasks)


def worker_command(pool: str, chosen: Fargate) -> list[str]:
    """Returns the arguments of `duetime worker`."""
    processes = ["--processes", str(chosen.processes)] if chosen.processes else []
    return [
        *("--pool", pool, "--handlers", chosen.handlers),
        *("--concurrency", str(chosen.concurrency), *processes),
        *("--grace", str(GRACE), "--control-port", str(CONTROL_PORT)),
    ]


def _image(scope: Construct, chosen: Fargate, platform: assets.Platform) -> ecs.ContainerImage:
    """A folder is only read here: `cdk deploy` builds it, with Docker or what CDK_DOCKER names."""
    if chosen.folder is not None:
        return ecs.ContainerImage.from_asset(
            str(chosen.folder), file=chosen.dockerfile, platform=platform
        )
    image = chosen.image or ""
    of_ecr = ECR_IMAGE.fullmatch(image)
    if of_ecr is None:
        return ecs.ContainerImage.from_registry(image)
    arn = Stack.of(scope).format_arn(
        service="ecr",
        region=of_ecr["region"],
        account=of_ecr["account"],
        resource="repository",
        resource_name=of_ecr["repository"],
    )
    repository = ecr.Repository.from_repository_attributes(
        scope, "Repository", repository_arn=arn, repository_name=of_ecr["repository"]
    )
    return ecs.ContainerImage.from_ecr_repository(repository, of_ecr["tag"])
