"""The permissions and settings that the targets of a stage bring."""

import json
from typing import Any

import pytest

from duetime.aws.settings import Settings
from duetime.core.lanes import Lane
from infra.stage import MAX_TARGETS
from tests.infra.conftest import Synthesize, a_stage, of_type, resolved
from tests.infra.test_permissions import ALWAYS, GRANTED, as_list, granted

PLACE = "eu-west-1:123456789012"
SQS = f"arn:aws:sqs:{PLACE}:orders-*"
SNS = f"arn:aws:sns:{PLACE}:alerts"
BUS = f"arn:aws:events:{PLACE}:event-bus/default"
FUNCTION = f"arn:aws:lambda:{PLACE}:function:resize"
MACHINE = f"arn:aws:states:{PLACE}:stateMachine:checkout"
TABLE = f"arn:aws:dynamodb:{PLACE}:table/orders"
CLUSTER = f"arn:aws:rds:{PLACE}:cluster:app"
SECRET = f"arn:aws:secretsmanager:{PLACE}:secret:app-AbCdEf"
MAIN = {"cluster": CLUSTER, "secret": SECRET, "database": "shop"}
TARGETS: dict[str, Any] = {
    "dynamodb": [TABLE],
    "email": ["billing@example.com", "*@news.example.com"],
    "eventbridge": [BUS],
    "lambda": [FUNCTION],
    "sns": [SNS],
    "sql": {"main": MAIN, "replica": MAIN},
    "sqs": [SQS],
    "stepfunctions": [MACHINE],
}
BY_TARGET: dict[str, set[tuple[str, str]]] = {
    "dynamodb": {(f"dynamodb:{verb}Item", TABLE) for verb in ("Put", "Update", "Delete")},
    "eventbridge": {("events:PutEvents", BUS)},
    "lambda": {("lambda:InvokeFunction", FUNCTION)},
    "sns": {("sns:Publish", SNS)},
    "sql": {("rds-data:ExecuteStatement", CLUSTER), ("secretsmanager:GetSecretValue", SECRET)},
    "sqs": {("sqs:SendMessage", SQS)},
    "stepfunctions": {("states:StartExecution", MACHINE)},
}


@pytest.mark.parametrize("kind", BY_TARGET)
def test_executors_may_do_what_a_target_needs_and_nothing_else(kind: str, synthesize: Synthesize):
    allowed = granted(synthesize("dev", targets={kind: TARGETS[kind]}))

    expected = {name: actions | ALWAYS for name, actions in GRANTED.items()}
    for lane in Lane:
        expected[f"executor-{lane}"] |= BY_TARGET[kind]
    assert allowed == expected


def test_executors_send_email_from_the_named_addresses_alone(synthesize: Synthesize):
    template = synthesize("dev", targets={"email": TARGETS["email"]})
    statements = [
        statement
        for policy in of_type(template, "AWS::IAM::Policy").values()
        for statement in policy["PolicyDocument"]["Statement"]
        if "ses:SendEmail" in as_list(statement["Action"])
    ]

    assert len(statements) == len(Lane)
    for statement in statements:
        assert statement["Action"] == ["ses:SendEmail", "ses:SendRawEmail"]
        assert statement["Condition"] == {"StringLike": {"ses:FromAddress": TARGETS["email"]}}
        names = [json.dumps(arn).rpartition("identity/")[2] for arn in statement["Resource"]]
        identities = [name.rstrip('"]}') for name in names]
        assert identities == ["billing@example.com", "example.com", "news.example.com"]


def test_functions_know_the_targets_of_their_stage(synthesize: Synthesize):
    template = synthesize("dev", targets=TARGETS)
    for function in of_type(template, "AWS::Lambda::Function").values():
        settings = Settings.read(resolved(function["Environment"]["Variables"]))
        patterns = settings.targets_allowed.patterns
        assert patterns["sqs"] == [SQS]
        assert patterns["lambda"] == [FUNCTION]
        assert patterns["sql"] == ["main", "replica"]
        assert settings.databases["main"] == MAIN


def test_stage_without_targets_allows_http_and_python_alone(dev: dict[str, Any]):
    for function in of_type(dev, "AWS::Lambda::Function").values():
        assert "DUETIME_TARGETS" not in function["Environment"]["Variables"]
    allowed = Settings(table="t", queues='{"high":"h","medium":"m","low":"l"}').targets_allowed
    assert allowed.refusal({"type": "http", "url": "https://example.com"}) is None
    assert allowed.refusal({"type": "sqs", "queue": SQS}) is not None


def test_the_largest_targets_fit_the_environment_of_a_function():
    """Lambda has room for 4 KB; the other settings of a stage need less than half of it."""
    names = [f"{SQS}{n:02}" for n in range(30)]
    targets = a_stage(targets={"sqs": names}).targets

    assert targets is not None
    assert 1_000 < len(targets.as_setting()) <= MAX_TARGETS
