"""The permissions of each role, in full: a new permission must be added to this list."""

import json
from typing import Any

import pytest

from duetime.core.lanes import Lane
from tests.infra.conftest import Synthesize, of_type

Template = dict[str, Any]

# Beside these, every role writes to its own log.
ROWS = ("dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem")
LINES = ("dynamodb:Query", "dynamodb:DeleteItem")
GRANTED: dict[str, set[tuple[str, str]]] = {
    "api": {
        *((action, "table") for action in (*ROWS, "dynamodb:Query", "dynamodb:BatchWriteItem")),
        ("dynamodb:Scan", "table"),
        ("dynamodb:DeleteItem", "table"),
        ("dynamodb:ConditionCheckItem", "table"),
        ("dynamodb:Query", "table/index/listing"),
        ("dynamodb:Query", "table/index/wake"),
        ("dynamodb:Scan", "table/index/wake"),
        ("dynamodb:Query", "table/index/dead"),
        *(("sqs:SendMessage", lane) for lane in Lane),
        *(("sqs:GetQueueAttributes", lane) for lane in Lane),
    },
    "scanner": {
        *((action, "table") for action in (*ROWS, *LINES)),
        ("dynamodb:Query", "table/index/wake"),
        ("dynamodb:Scan", "table/index/wake"),
        *(("sqs:SendMessage", lane) for lane in Lane),
        *(("sqs:GetQueueAttributes", lane) for lane in Lane),
        ("lambda:InvokeFunction", "scanner"),
        ("sqs:SendMessage", "failed ticks"),
    },
    "relay": {
        ("dynamodb:DescribeStream", "table stream"),
        ("dynamodb:GetRecords", "table stream"),
        ("dynamodb:GetShardIterator", "table stream"),
        ("dynamodb:ListStreams", "table/stream/*"),
        *((action, "table") for action in (*ROWS, "dynamodb:Query", "dynamodb:BatchWriteItem")),
        ("dynamodb:DeleteItem", "table"),
        *(("sqs:SendMessage", lane) for lane in Lane),
        ("sqs:SendMessage", "failed records"),
    },
    **{
        f"executor-{lane}": {
            *((action, "table") for action in (*ROWS, *LINES)),
            *(("sqs:SendMessage", each) for each in Lane),  # a handler may submit to any lane
            ("sqs:ReceiveMessage", lane),
            ("sqs:DeleteMessage", lane),
            ("sqs:ChangeMessageVisibility", lane),
            ("sqs:GetQueueAttributes", lane),
        }
        for lane in Lane
    },
}
ALWAYS = {
    ("logs:CreateLogStream", "its log"),
    ("logs:PutLogEvents", "its log"),
}


def granted(template: Template) -> dict[str, set[tuple[str, str]]]:
    """Returns every allowed action and resource of a role, by the name of its function."""
    found: dict[str, set[tuple[str, str]]] = {}
    for policy in of_type(template, "AWS::IAM::Policy").values():
        [role] = policy["Roles"]
        allowed = found.setdefault(_role(template, role["Ref"]), set())
        for statement in policy["PolicyDocument"]["Statement"]:
            assert statement["Effect"] == "Allow"
            for action in as_list(statement["Action"]):
                for resource in as_list(statement["Resource"]):
                    allowed.add((action, _resource(template, resource)))
    return found


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _role(template: Template, role: str) -> str:
    [name] = [
        f["Description"].rpartition(": ")[2]
        for f in of_type(template, "AWS::Lambda::Function").values()
        if f["Role"]["Fn::GetAtt"][0] == role
    ]
    return name


def queue_of(name: str) -> str:
    """Returns `low` for `duetime-dev-low`, and `batch-low` for that of a pool."""
    return name.split("-", 2)[2]


def _resource(template: Template, resource: Any) -> str:
    """Returns the name of the resource that an ARN names."""
    if isinstance(resource, str):
        return resource
    if "Fn::Join" in resource:
        head, *rest = resource["Fn::Join"][1]
        if len(rest) > 1:  # made of the account and the region
            return json.dumps(resource)
        [tail] = rest
        return _resource(template, head) + tail
    name, attribute = resource["Fn::GetAtt"]
    made = template["Resources"][name]
    match made["Type"]:
        case "AWS::DynamoDB::Table":
            return "table" if attribute == "Arn" else "table stream"
        case "AWS::SQS::Queue" if "QueueName" in made["Properties"]:
            return queue_of(made["Properties"]["QueueName"])
        case "AWS::SQS::Queue":
            return "failed records" if "FailedRecords" in name else "failed ticks"
        case "AWS::Lambda::Function":
            return made["Properties"]["Description"].rpartition(": ")[2]
        case "AWS::S3::Bucket":
            return "objects" if name.startswith("Objects") else "archive"
        case "AWS::Logs::LogGroup":
            return "its log"
    return json.dumps(resource)


def test_every_role_may_do_what_it_does_and_nothing_else(dev: Template):
    assert granted(dev) == {name: allowed | ALWAYS for name, allowed in GRANTED.items()}


def test_relay_may_write_to_the_archive_and_not_read_it(synthesize: Synthesize):
    allowed = granted(synthesize("dev", archive=True))
    to_archive = {name: {a for a, r in of if "archive" in r} for name, of in allowed.items()}

    assert to_archive.pop("relay") == {"s3:PutObject"}
    assert set().union(*to_archive.values()) == set()


def test_roles_may_use_the_objects_as_they_do(synthesize: Synthesize):
    allowed = granted(synthesize("dev", objects=True))
    to_objects = {name: {g for g in of if "objects" in g[1]} for name, of in allowed.items()}
    both = {("s3:GetObject", "objects/*"), ("s3:ListBucket", "objects")}
    keeps, deletes = ("s3:PutObject", "objects/*"), ("s3:DeleteObject", "objects/*")

    assert to_objects.pop("relay") == {*both, keeps, deletes}
    assert all(of == {*both, keeps} for of in to_objects.values())
    assert len(to_objects) == 5, "the scanner, too: the result of a run may be large"


def test_no_action_is_a_wildcard(prod: Template):
    actions = {action for allowed in granted(prod).values() for action, _ in allowed}
    assert [action for action in actions if "*" in action] == []


def test_roles_have_no_managed_policies(prod: Template):
    roles = of_type(prod, "AWS::IAM::Role").values()
    assert len(roles) == 6
    assert not any("ManagedPolicyArns" in role for role in roles)


@pytest.mark.parametrize("lane", Lane)
def test_an_executor_takes_messages_of_no_other_lane(dev: Template, lane: Lane):
    """It may send to all of them, for a handler that submits."""
    allowed = granted(dev)[f"executor-{lane}"]
    reached = {resource for action, resource in allowed if action != "sqs:SendMessage"}
    assert reached & {str(other) for other in Lane} == {str(lane)}


def test_only_executors_read_the_secrets_that_the_stage_lists(synthesize: Synthesize):
    template = synthesize("dev", secrets=["stripe", "hook"])
    readers = {
        name: {
            json.loads(r)["Fn::Join"][1][-1] for action, r in allowed if action.startswith("ssm")
        }
        for name, allowed in granted(template).items()
    }
    paths = {":parameter/duetime/dev/stripe", ":parameter/duetime/dev/hook"}

    assert readers == {name: paths if name.startswith("executor") else set() for name in readers}
    actions = {a for allowed in granted(template).values() for a, _ in allowed}
    assert {a for a in actions if a.startswith(("ssm", "kms"))} == {"ssm:GetParameter"}


@pytest.mark.parametrize(
    ("quota", "more"),
    [
        ({"submissions_per_second": 5}, set()),
        ({"stored_tasks": 5}, {("dynamodb:Query", "table/index/listing")}),
    ],
)
def test_relay_that_counts_stored_tasks_reads_the_listing_index(
    synthesize: Synthesize, quota: dict[str, int], more: set[tuple[str, str]]
):
    template = synthesize("dev", quotas={"shop": quota})

    assert granted(template)["relay"] == GRANTED["relay"] | more | ALWAYS
    assert granted(template)["api"] == GRANTED["api"] | ALWAYS
