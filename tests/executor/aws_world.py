"""An executor whose targets call AWS: moto, or a server that answers as a test says."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import boto3
from moto import mock_aws

from duetime.aws.services import AwsServices
from duetime.core.task import Task
from duetime.executor.executor import Executor
from duetime.executor.targets.lazy import LazyTargets, aws_makers, rds_maker, ses_maker
from tests.sink import Answer, Sink
from tests.world import World

REGION = "eu-west-1"
ACCOUNT = "123456789012"
DATABASES = {
    "main": {
        "cluster": f"arn:aws:rds:{REGION}:{ACCOUNT}:cluster:app",
        "secret": f"arn:aws:secretsmanager:{REGION}:{ACCOUNT}:secret:app-AbCdEf",
        "database": "shop",
    }
}


@contextmanager
def simulated_aws() -> Iterator[None]:
    with mock_aws(config={"lambda": {"use_docker": False}}):
        yield


def client(service: str) -> Any:
    return boto3.client(service, region_name=REGION)


def use_aws_targets(world: World, endpoint_url: str | None = None) -> None:
    world.chance.luck = 0
    services = AwsServices(endpoint_url)
    makers = aws_makers(lambda: services) | {
        "email": ses_maker(lambda: services, world.clock),
        "sql": rds_maker(lambda: services, DATABASES),
    }
    world.executor = Executor(world.ports, LazyTargets({}, makers))


def run(world: World, target: dict[str, Any], payload: Any = None, **fields: Any) -> Task:
    """Returns the task after one attempt."""
    task_id = world.submit(target=target, payload=payload, **fields)
    world.deliver()
    return world.task(task_id)


def run_again(world: World, task: Task) -> Task:
    """Returns the task after its next attempt."""
    world.advance_to(task.due_at)
    world.deliver()
    return world.task(task.id)


def refuse(sink: Sink, status: int, code: str, message: str = "no") -> None:
    """Lets the sink answer as services with a JSON protocol do."""
    body = json.dumps({"__type": f"com.amazonaws#{code}", "message": message}).encode()
    sink.answer = Answer(status=status, body=body, headers={"x-amzn-errortype": code})
