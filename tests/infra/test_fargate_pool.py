"""The workers that a stack runs on Fargate."""

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest

from duetime.aws.settings import Settings
from duetime.core.lanes import Lane
from infra.bundle import Bundles
from infra.fargate_pool import GRACE, FargatePool, worker_command
from infra.pool_scaling import BACKLOG_FACTOR
from infra.pool_settings import Fargate
from infra.stack import DuetimeStack
from tests.infra.conftest import CONTEXT, Synthesize, a_stage, of_type, one, resolved
from tests.infra.test_stage import refused

Template = dict[str, Any]

IMAGE = "123456789012.dkr.ecr.eu-central-1.amazonaws.com/shop-worker:1.4"
POOLS: dict[str, Any] = {
    "batch": {"max_timeout": 86_400, "fargate": {"image": IMAGE}},
    "gpu": {"max_timeout": 3_600},
}
NETWORK = {
    "id": "vpc-0a1b2c3d",
    "subnets": ["subnet-0a1b2c3d", "subnet-0a1b2c3e"],
    "security_groups": ["sg-0a1b2c3d"],
}


def with_workers(synthesize: Synthesize, **fargate: Any) -> Template:
    pool = {"max_timeout": 86_400, "fargate": {"image": IMAGE} | fargate}
    return synthesize("dev", pools={"batch": pool, "gpu": {"max_timeout": 3_600}})


@pytest.fixture(scope="module")
def served(synthesize: Synthesize) -> Template:
    return with_workers(synthesize)


def container(template: Template) -> dict[str, Any]:
    [made] = one(template, "AWS::ECS::TaskDefinition")["ContainerDefinitions"]
    return made


# The service


def test_workers_run_on_spot_capacity_and_may_be_none(served: Template):
    service = one(served, "AWS::ECS::Service")
    [strategy] = service["CapacityProviderStrategy"]
    assert strategy == {"CapacityProvider": "FARGATE_SPOT", "Weight": 1}
    target = one(served, "AWS::ApplicationAutoScaling::ScalableTarget")
    assert (target["MinCapacity"], target["MaxCapacity"]) == (0, 50)
    assert target["ScalableDimension"] == "ecs:service:DesiredCount"
    assert "DesiredCount" not in service, "a deployment would stop or start workers"


def test_service_waits_for_the_capacity_providers_of_its_cluster(served: Template):
    kind = "AWS::ECS::ClusterCapacityProviderAssociations"
    [providers] = of_type(served, kind)
    [service] = [r for r in served["Resources"].values() if r["Type"] == "AWS::ECS::Service"]
    assert providers in service["DependsOn"]
    assert "FARGATE_SPOT" in served["Resources"][providers]["Properties"]["CapacityProviders"]


def test_image_that_cannot_start_fails_the_deployment(served: Template):
    deployment = one(served, "AWS::ECS::Service")["DeploymentConfiguration"]
    assert deployment["DeploymentCircuitBreaker"] == {"Enable": True, "Rollback": True}


def test_fargate_waits_longer_for_a_worker_than_the_worker_for_its_handlers(served: Template):
    """120 s are the most that Fargate waits, and what Spot gives notice."""
    made = container(served)
    assert made["StopTimeout"] == 120
    assert made["Command"][made["Command"].index("--grace") + 1] == str(GRACE)
    assert made["StopTimeout"] >= GRACE + 15, "it kills handlers, and then records"


def test_worker_gets_the_settings_of_its_stage(served: Template):
    given = {v["Name"]: v["Value"] for v in container(served)["Environment"]}
    settings = Settings.read(resolved(given))
    assert settings.pool_timeouts == {"batch": 86_400, "gpu": 3_600}
    assert settings.stage == "dev"
    assert settings.handlers == "", "they are an argument"
    assert given["AWS_REGION"] == {"Ref": "AWS::Region"}


def test_settings_of_workers_reach_their_command_and_task(synthesize: Synthesize):
    fargate = {
        "capacity": "FARGATE",
        "min": 1,
        "max": 3,
        "cpu": 4_096,
        "memory": 8_192,
        "architecture": "arm64",
        "concurrency": 4,
        "processes": 2,
        "handlers": "shop.handlers",
        "environment": {"SHOP": "test"},
    }
    template = with_workers(synthesize, **fargate)
    task = one(template, "AWS::ECS::TaskDefinition")
    assert (task["Cpu"], task["Memory"]) == ("4096", "8192")
    assert task["RuntimePlatform"]["CpuArchitecture"] == "ARM64"
    made = container(template)
    assert {"Name": "SHOP", "Value": "test"} in made["Environment"]
    command = " ".join(made["Command"])
    assert "--pool batch --handlers shop.handlers --concurrency 4 --processes 2" in command
    [strategy] = one(template, "AWS::ECS::Service")["CapacityProviderStrategy"]
    assert strategy["CapacityProvider"] == "FARGATE"
    target = one(template, "AWS::ApplicationAutoScaling::ScalableTarget")
    assert (target["MinCapacity"], target["MaxCapacity"]) == (1, 3)


def test_unhealthy_worker_is_replaced(served: Template):
    check = container(served)["HealthCheck"]
    assert check["Command"][:3] == ["CMD", "python", "-c"]
    port = container(served)["Command"][-1]
    assert f"http://127.0.0.1:{port}/health" in check["Command"][3]
    compile(check["Command"][3], "health", "exec")


def test_logs_of_workers_are_kept_as_long_as_those_of_functions(served: Template):
    log = container(served)["LogConfiguration"]["Options"]["awslogs-group"]["Ref"]
    assert served["Resources"][log]["Properties"]["RetentionInDays"] == 14


# Permissions


def statements(template: Template, role: str) -> list[tuple[Any, str]]:
    [policy] = [p for n, p in of_type(template, "AWS::IAM::Policy").items() if n.startswith(role)]
    return [(s["Action"], json.dumps(s["Resource"])) for s in policy["PolicyDocument"]["Statement"]]


def test_worker_may_use_its_queues_the_table_and_nothing_else(synthesize: Synthesize):
    template = synthesize("dev", pools=POOLS, secrets=["stripe"])
    by_action = {
        action: resource
        for actions, resource in statements(template, "PoolbatchRoleDefault")
        for action in (actions if isinstance(actions, list) else [actions])
    }
    rows = ("BatchGetItem", "DeleteItem", "GetItem", "PutItem", "Query", "UpdateItem")
    on_own = ("ChangeMessageVisibility", "DeleteMessage", "GetQueueAttributes", "ReceiveMessage")
    assert set(by_action) == {
        *(f"dynamodb:{action}" for action in rows),
        *(f"sqs:{action}" for action in (*on_own, "SendMessage")),
        "ssm:GetParameter",
        "ecs:GetTaskProtection",
        "ecs:UpdateTaskProtection",
    }
    for action in on_own:
        resource = by_action[f"sqs:{action}"]
        assert resource.count("Poolsbatch") == 3
        assert resource.count("GetAtt") == 3
    assert by_action["sqs:SendMessage"].count("GetAtt") == 9, "three lanes, and those of two pools"
    assert ":parameter/duetime/dev/stripe" in by_action["ssm:GetParameter"]
    [cluster] = of_type(template, "AWS::ECS::Cluster")
    assert f'":task/", {{"Ref": "{cluster}"}}, "/*"' in by_action["ecs:UpdateTaskProtection"]


def test_handlers_get_the_permissions_that_the_stage_grants_them(synthesize: Synthesize):
    allowed = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::films/x"}
    template = with_workers(synthesize, statements=[allowed])
    granted = statements(template, "PoolbatchRoleDefault")
    assert ("s3:GetObject", '"arn:aws:s3:::films/x"') in granted
    assert json.dumps(of_type(template, "AWS::IAM::Policy")).count("s3:GetObject") == 1


def test_ecs_may_pull_the_image_and_write_the_log(served: Template):
    [pull, login, log] = statements(served, "PoolbatchTaskExecutionRole")
    assert ":ecr:eu-central-1:123456789012:repository/shop-worker" in pull[1]
    assert login == ("ecr:GetAuthorizationToken", '"*"')
    assert log[0] == ["logs:CreateLogStream", "logs:PutLogEvents"]


# The network


def test_created_network_has_no_nat_gateway_and_lets_nothing_in(served: Template):
    assert of_type(served, "AWS::EC2::NatGateway") == {}
    assert of_type(served, "AWS::EC2::EIP") == {}
    group = one(served, "AWS::EC2::SecurityGroup")
    assert "SecurityGroupIngress" not in group
    assert of_type(served, "AWS::EC2::SecurityGroupIngress") == {}
    network = one(served, "AWS::ECS::Service")["NetworkConfiguration"]["AwsvpcConfiguration"]
    assert network["AssignPublicIp"] == "ENABLED", "or nothing could be reached"
    assert len(network["Subnets"]) == 2
    assert "PortMappings" not in container(served)


def test_pools_without_a_network_share_one(synthesize: Synthesize):
    pool = {"max_timeout": 60, "fargate": {"image": IMAGE}}
    template = synthesize("dev", pools={"a": pool, "b": pool})
    assert len(of_type(template, "AWS::EC2::VPC")) == 1
    assert len(of_type(template, "AWS::ECS::Service")) == 2


@pytest.mark.parametrize(("public_ip", "assigned"), [(False, "DISABLED"), (True, "ENABLED")])
def test_workers_run_in_subnets_of_yours(synthesize: Synthesize, public_ip: bool, assigned: str):
    template = with_workers(synthesize, vpc=NETWORK, public_ip=public_ip)
    assert of_type(template, "AWS::EC2::VPC") == {}
    assert of_type(template, "AWS::EC2::SecurityGroup") == {}
    network = one(template, "AWS::ECS::Service")["NetworkConfiguration"]["AwsvpcConfiguration"]
    assert network == {
        "AssignPublicIp": assigned,
        "SecurityGroups": NETWORK["security_groups"],
        "Subnets": NETWORK["subnets"],
    }


# Scaling


def scaling(template: Template) -> dict[str, dict[str, Any]]:
    """Returns each alarm with its action, by the name of the action."""
    alarms = {
        action["Ref"]: alarm
        for alarm in of_type(template, "AWS::CloudWatch::Alarm").values()
        for action in alarm["AlarmActions"]
    }
    return {
        name.partition("Scaling")[2][:-8]: alarms[name] | policy["StepScalingPolicyConfiguration"]
        for name, policy in of_type(template, "AWS::ApplicationAutoScaling::ScalingPolicy").items()
    }


def expression(alarm: dict[str, Any]) -> str:
    [found] = [m["Expression"] for m in alarm["Metrics"] if "Expression" in m]
    return found


def metrics(alarm: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {
        m["Id"]: (m["MetricStat"]["Metric"]["MetricName"], m["MetricStat"]["Stat"])
        for m in alarm["Metrics"]
        if "MetricStat" in m
    }


def workers_after(alarm: dict[str, Any], lanes: list[int], workers: int) -> int:
    """Returns how many workers there are after an alarm's action, as AWS computes it."""
    names = {f"lane{n}": visible for n, visible in enumerate(lanes)} | {"workers": workers}
    functions = {"FILL": lambda metric, _: metric, "IF": lambda test, a, b: a if test else b}
    text = expression(alarm).replace(" / FILL(workers, 0)", " / max(FILL(workers, 0), 1)")
    value = eval(text, {"max": max, **functions, **names})
    above = value - alarm["Threshold"]
    if alarm["ComparisonOperator"] == "GreaterThanThreshold" and above <= 0:
        return workers
    if alarm["ComparisonOperator"] == "LessThanOrEqualToThreshold" and above > 0:
        return workers
    [step] = [
        s["ScalingAdjustment"]
        for s in alarm["StepAdjustments"]
        if s.get("MetricIntervalLowerBound", -float("inf")) <= above
        and (above < s.get("MetricIntervalUpperBound", float("inf")) or above == 0)
    ]
    match alarm["AdjustmentType"]:
        case "ChangeInCapacity":
            return workers + step
        case "PercentChangeInCapacity":
            return workers + max(workers * step // 100, alarm["MinAdjustmentMagnitude"])
    return step


@pytest.mark.parametrize(
    ("visible", "workers"), [(0, 0), (1, 1), (63, 1), (64, 4), (255, 4), (256, 16), (9_000, 16)]
)
def test_first_workers_start_with_the_first_message(served: Template, visible: int, workers: int):
    alarm = scaling(served)["FromZero"]
    assert (alarm["EvaluationPeriods"], alarm["TreatMissingData"]) == (1, "notBreaching")
    assert workers_after(alarm, [0, 0, visible], 0) == workers
    assert workers_after(alarm, [visible, 0, 0], 2) == 2, "Out does it from then on"


@pytest.mark.parametrize(
    ("lanes", "workers", "then"),
    [
        ([0, 0, 0], 4, 4),
        ([64, 0, 0], 4, 4),  # 2 × 8 for each of four
        ([40, 20, 5], 4, 6),
        ([0, 0, 200], 4, 8),
        ([100, 100, 100], 4, 16),
        ([1_000, 0, 0], 4, 32),
        ([17, 0, 0], 1, 2),
        ([500, 0, 0], 0, 0),  # FromZero does it
    ],
)
def test_workers_grow_with_the_backlog_of_each(
    served: Template, lanes: list[int], workers: int, then: int
):
    alarm = scaling(served)["Out"]
    assert alarm["Threshold"] == BACKLOG_FACTOR * 8
    assert workers_after(alarm, lanes, workers) == then


def test_backlog_that_a_worker_takes_grows_with_its_concurrency(synthesize: Synthesize):
    template = with_workers(synthesize, concurrency=20)
    assert scaling(template)["Out"]["Threshold"] == 40


def test_workers_stop_after_ten_minutes_without_messages(served: Template):
    """A minute without data is not one without messages: SQS reports late."""
    alarm = scaling(served)["In"]
    assert (alarm["EvaluationPeriods"], alarm["DatapointsToAlarm"]) == (10, 10)
    assert alarm["TreatMissingData"] == "notBreaching"
    assert "FILL" not in expression(alarm)
    assert alarm["AdjustmentType"] == "ExactCapacity"
    assert workers_after(alarm, [0, 0, 0], 7) == 0
    assert workers_after(alarm, [0, 1, 0], 7) == 7


def test_minimum_of_workers_is_kept(synthesize: Synthesize):
    actions = scaling(with_workers(synthesize, min=2))
    assert set(actions) == {"In", "Out"}
    assert workers_after(actions["In"], [0, 0, 0], 7) == 2


def test_alarms_count_messages_of_every_lane_and_running_workers(served: Template):
    lanes = {f"lane{n}": ("ApproximateNumberOfMessagesVisible", "Maximum") for n in range(3)}
    running = {"workers": ("CPUUtilization", "SampleCount")}
    found = {name: metrics(alarm) for name, alarm in scaling(served).items()}
    assert found == {"FromZero": lanes | running, "Out": lanes | running, "In": lanes}
    names = json.dumps(scaling(served)["In"]["Metrics"])
    assert all(f"Poolsbatch{lane.title()}" in names for lane in Lane)


# Images


def test_image_is_built_from_a_folder_by_the_deployment(synthesize: Synthesize, tmp_path: Path):
    """The synthesis reads the folder and starts no builder."""
    (tmp_path / "docker").mkdir()
    (tmp_path / "docker" / "Dockerfile").write_text("FROM python:3.13-slim\n")
    fargate = {"folder": str(tmp_path), "dockerfile": "docker/Dockerfile"}
    template = synthesize("dev", pools={"batch": {"max_timeout": 60, "fargate": fargate}})
    assert "cdk-hnb659fds-container-assets-" in json.dumps(container(template)["Image"])


def test_image_of_another_registry_is_taken_by_its_name(synthesize: Synthesize):
    template = with_workers(synthesize, image="ghcr.io/acme/shop-worker:1.4")
    assert container(template)["Image"] == "ghcr.io/acme/shop-worker:1.4"
    assert "ecr:" not in json.dumps(statements(template, "PoolbatchTaskExecutionRole"))


# In an app of yours


def test_pool_can_be_served_by_a_construct_of_ones_own_app(no_bundles: Bundles):
    app = cdk.App(context=CONTEXT)
    stage = a_stage("dev", pools={"batch": {"max_timeout": 60}})
    duetime = DuetimeStack(app, stage=stage, bundles=no_bundles)
    FargatePool(duetime, "Batch", duetime.workers, pool="batch", image=IMAGE, min=1, max=5)
    template = app.synth().get_stack_by_name(duetime.stack_name).template
    assert len(of_type(template, "AWS::ECS::Service")) == 1
    assert len(of_type(template, "AWS::EC2::VPC")) == 1


# Settings


@pytest.mark.parametrize(
    ("fargate", "what"),
    [
        ({}, "must have either image or folder"),
        ({"image": IMAGE, "folder": "."}, "must have either image or folder"),
        ({"image": "shop-worker"}, ".image: 'shop-worker' is not the name of an image with its"),
        ({"image": "a b:1"}, ".image: 'a b:1' is not the name of an image with its tag"),
        ({"folder": "nowhere"}, "folder: there is no file 'nowhere/Dockerfile'"),
        ({"image": IMAGE, "min": -1}, ".min: must be greater than or equal to 0, not -1"),
        ({"image": IMAGE, "max": 0}, ".max: must be greater than or equal to 1, not 0"),
        ({"image": IMAGE, "min": 6, "max": 5}, "min: 6 is more than max, 5"),
        ({"image": IMAGE, "capacity": "SPOT"}, ".capacity: must be 'FARGATE_SPOT' or 'FARGATE'"),
        ({"image": IMAGE, "cpu": 300}, "cpu: Fargate takes one of 256, 512, 1024, 2048, 4096,"),
        (
            {"image": IMAGE, "cpu": 512, "memory": 512},
            "memory: with cpu 512 Fargate takes 1024 to 4096 in steps of 1024, not 512",
        ),
        (
            {"image": IMAGE, "cpu": 256, "memory": 4_096},
            "memory: with cpu 256 Fargate takes 512 to 2048, not 4096",
        ),
        ({"image": IMAGE, "public_ip": True}, "public_ip: belongs to vpc"),
        ({"image": IMAGE, "environment": {"AWS_X": "1"}}, ".environment: AWS_X is reserved"),
        ({"image": IMAGE, "spot": True}, ".spot: is not a setting; there are image, folder,"),
    ],
)
def test_invalid_workers_are_named_in_one_sentence(fargate: dict[str, Any], what: str):
    sentence = refused(pools={"batch": {"max_timeout": 60, "fargate": fargate}})
    colon = "" if what.startswith(".") else ": "
    assert sentence.startswith(f"Stage 'x' in cdk.json: pools.batch.fargate{colon}{what}")
    assert sentence.endswith(".")


def test_command_of_a_worker_has_its_processes_only_if_they_are_set():
    assert "--processes" not in worker_command("batch", Fargate(image=IMAGE))
