"""The targets of an executor in a deployment on AWS: a Lambda function, or a worker of a pool."""

from collections.abc import Iterable, Mapping

from duetime.core.ports import Clock
from duetime.core.secrets import SecretStore
from duetime.executor.targets import Target
from duetime.executor.targets.address_policy import AddressPolicy, parse_allowed
from duetime.executor.targets.http import HttpTarget
from duetime.executor.targets.lazy import (
    LazyTargets,
    MakeServices,
    aws_makers,
    rds_maker,
    ses_maker,
)


def deployed_targets(
    python: Target,
    clock: Clock,
    *,
    secrets: SecretStore,
    services: MakeServices,
    hosts_allowed: Iterable[str],
    databases: Mapping[str, Mapping[str, str]],
) -> LazyTargets:
    """
    Args:
        python: Runs handlers.
        hosts_allowed: Private hosts that http targets may call.
        databases: What sql targets may use, by name."""
    policy = AddressPolicy(allowed=[parse_allowed(host) for host in hosts_allowed])
    makers = aws_makers(services) | {
        "email": ses_maker(services, clock),
        "sql": rds_maker(services, databases),
    }
    return LazyTargets({"python": python, "http": HttpTarget(clock, policy, secrets)}, makers)
