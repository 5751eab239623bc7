import json
from pathlib import Path
from typing import Any

import pytest

from duetime.core.lanes import Lane
from infra.context import read_stage
from infra.shard_guard import keep_shards
from infra.stage import BadStage
from tests.infra.conftest import CONTEXT, ROOT, a_stage

QUEUE = "arn:aws:sqs:eu-west-1:123456789012:orders"
ALLOWED = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::shop/*"}
JWT = {"issuer": "https://login.example.com/", "audience": ["duetime"]}
STREAM = (
    "arn:aws:dynamodb:eu-central-1:123456789012:table/duetime-prod-x/stream/2026-11-16T08:00:00.000"
)


def refusal(context: dict[str, Any]) -> str:
    with pytest.raises(BadStage) as refused:
        read_stage((CONTEXT | context).get)
    return str(refused.value)


def refused(**overrides: Any) -> str:
    return refusal({"stage": "x", "stages": {"x": overrides}})


def test_the_stages_that_come_with_the_project():
    dev, prod = a_stage("dev"), a_stage("prod")
    assert (dev.keep_data, dev.shards, dev.slices, dev.jwt) == (False, 16, 1, None)
    assert (prod.keep_data, prod.alarms, prod.cors_origins) == (True, "all", [])
    assert dev.alarms == "essential"
    assert [stage.tracing for stage in (dev, prod)] == [False, False]
    assert dev.handlers is not None
    assert dev.handlers.folder == Path("examples/handlers")


def test_concurrency_is_shared_out_by_weight():
    stage = a_stage(concurrency=200, weights={"high": 50, "medium": 30, "low": 20})
    assert [stage.at_once(lane) for lane in Lane] == [100, 60, 40]


def test_the_api_takes_a_thousand_single_submissions_a_second():
    """A thousand tasks a second, each in a request of its own, and as many that ask for one."""
    stage = a_stage("prod")
    assert stage.requests_per_second >= 2 * 1_000
    assert stage.burst >= 1_000


def test_no_lane_gets_less_or_more_than_an_event_source_takes():
    few = a_stage(concurrency=20, weights={"high": 98, "medium": 1, "low": 1})
    many = a_stage(concurrency=3_000, weights={"high": 98, "medium": 1, "low": 1})
    assert [few.at_once(lane) for lane in Lane] == [19, 2, 2]
    assert [many.at_once(lane) for lane in Lane] == [1_000, 30, 30]


@pytest.mark.parametrize(
    ("context", "sentence"),
    [
        ({"stages": {"dev": None}}, "In cdk.json stages.dev must be an object, not None."),
        ({"stages": {"dev": []}}, "In cdk.json stages.dev must be an object, not []."),
        (
            {"stages": {"dev": {"name": "y"}}},
            'In cdk.json stages.dev must not have a field "name": its key is its name.',
        ),
        ({"stages": ["dev"]}, 'cdk.json has no object "stages" in its context.'),
        ({"stage": ["dev"]}, "There is no stage ['dev'] in cdk.json; there are dev, prod."),
        ({"handlers": 5}, "In cdk.json handlers must be an object, not 5."),
        ({"handlers": ["x"]}, "In cdk.json handlers must be an object, not ['x']."),
        (
            {"stage": "prod_eu", "stages": {"prod_eu": {}}},
            "A stage needs a name of letters, digits and dashes, not 'prod_eu'.",
        ),
    ],
)
def test_a_context_of_the_wrong_type_is_refused(context: dict[str, Any], sentence: str):
    assert refusal(context) == sentence


def test_a_stage_that_does_not_exist_is_refused():
    assert refusal({"stage": "prd"}) == "There is no stage 'prd' in cdk.json; there are dev, prod."
    assert refusal({"stages": {}}) == 'cdk.json has no object "stages" in its context.'


@pytest.mark.parametrize(
    ("overrides", "what"),
    [
        ({"shards": 0}, "shards: must be greater than or equal to 1, not 0"),
        ({"shards": "16"}, "shards: must be a valid integer, not '16'"),
        ({"slices": 17}, "slices: 17 slices cannot share 16 shards"),
        (
            {"weights": {"high": 60, "medium": 30, "low": 20}},
            "weights: high, medium and low must add up to 100, not 60 + 30 + 20 = 110",
        ),
        ({"concurrency": 5}, "concurrency: must be greater than or equal to 6, not 5"),
        ({"batch_size": {"low": 11}}, "batch_size.low: must be less than or equal to 10, not 11"),
        ({"batch_size": {"slow": 1}}, "batch_size.slow: is not a setting; there are high, medium,"),
        ({"alarms": False}, "alarms: must be 'all', 'essential' or 'none', not False"),
        ({"warm_writes": 3_999}, "warm_writes: must be greater than or equal to 4000, not 3999"),
        ({"warm_writes": 50_000}, "warm_writes: must be less than or equal to 40000, not 50000"),
        (
            {"warm_writes": 8_000, "table_stream_arn": STREAM},
            "warm_writes: the stack does not change the table of table_stream_arn",
        ),
        ({"table_stream_arn": STREAM.partition("/stream")[0]}, "table_stream_arn: 'arn:aws:dyn"),
        ({"jwt": JWT | {"scopes": {"read": "r"}}}, "jwt.scopes.operate: Field required"),
        (
            {"jwt": JWT | {"scopes": {"read": "r", "operate": "a b"}}},
            "jwt.scopes.operate: 'a b' is not an OAuth scope",
        ),
        (
            {"jwt": JWT | {"scopes": {"write": "w"}}},
            "jwt.scopes.write: is not a setting; there are read, operate",
        ),
        ({"alarm_email": "ops"}, "alarm_email: 'ops' is not an e-mail address"),
        ({"jwt": {"issuer": "http://x", "audience": ["a"]}}, "jwt.issuer: 'http://x' is not"),
        ({"jwt": {"issuer": "https://x.example"}}, "jwt.audience: Field required"),
        ({"cors_origins": ["example.com"]}, "cors_origins.0: 'example.com' is not an origin"),
        ({"domain": {"name": "x.example", "certificate": "y"}}, "domain.certificate: 'y' is not"),
        ({"archive": "A_B"}, "archive: 'A_B' is not true, false or the name of a bucket"),
        ({"objects": 3}, "objects: 3 is not true, false or the name of a bucket"),
        ({"archive": 3}, "archive: 3 is not true, false or the name of a bucket"),
        ({"log_retention_days": 8}, "log_retention_days: CloudWatch keeps logs for one of 1, 3,"),
        ({"shard": 8}, "shard: is not a setting; there are shards, slices,"),
        (
            {"age_after": 299},
            "age_after: must be 0, which is off, or at least 300 seconds",
        ),
        ({"weights": {"top": 1}}, "weights.top: is not a setting; there are high, medium, low"),
        ({"handlers": "nowhere"}, "handlers: there is no folder 'nowhere'"),
        (
            {"handlers": {"requirements": "nowhere.txt"}},
            "handlers: there is no file 'nowhere.txt'",
        ),
        ({"handlers": {"environment": {"AWS_X": "1"}}}, "handlers.environment: AWS_X is reserved"),
        ({"handlers": {"environment": {"MY-X": "1"}}}, "handlers.environment: 'MY-X' is not a"),
        (
            {"handlers": {"statements": [{"Effect": "Allow", "Action": "s3:GetObject"}]}},
            "handlers.statements.0.Resource: Field required",
        ),
        (
            {"handlers": {"statements": [{"effect": "Deny", "Action": "s3:*", "Resource": "*"}]}},
            "handlers.statements.0.effect: is not a setting; there are Effect, Action, Resource,",
        ),
        (
            {"handlers": {"statements": [ALLOWED | {"Conditions": {}}]}},
            "handlers.statements.0.Conditions: is not a setting; there are Effect,",
        ),
        (
            {"handlers": {"statements": [ALLOWED | {"Effect": "Allowed"}]}},
            "handlers.statements.0.Effect: must be 'Allow' or 'Deny', not 'Allowed'",
        ),
        (
            {"handlers": {"statements": [ALLOWED | {"Action": "GetObject"}]}},
            "handlers.statements.0.Action",
        ),
        (
            {"allow_hosts": ["10.0.0.0/8"]},
            "allow_hosts: needs handlers.vpc; without it no private host can be reached",
        ),
        ({"allow_hosts": ["10.0.0.1/8"]}, "allow_hosts.0: 10.0.0.1/8 has host bits set"),
        ({"allow_hosts": ["a", "http://b"]}, "allow_hosts.1: 'http://b' does not appear to be"),
        ({"allow_hosts": ["b c"]}, "allow_hosts.0: 'b c' is not a host, an address or a range"),
        ({"allow_hosts": ["a" * 250] * 4}, "allow_hosts: is over 1,000 characters"),
        ({"secrets": ["a/b"]}, "secrets.0: 'a/b' is not a name of 1 to 64 letters, digits and ._-"),
        ({"secrets": ["a" * 65]}, "secrets.0: "),
        ({"secrets": ["a"] * 31}, "secrets: "),
        ({"secrets": ["a" * 60] * 20}, "secrets: is over 1,000 characters"),
        ({"quotas": {"shop": 5}}, "quotas.shop: must be a valid dictionary"),
        ({"quotas": {"a b": {"burst": 1}}}, "quotas: 'a b': a namespace is 1 to 128 letters"),
        ({"quotas": {"shop": {"burst": 1}}}, "quotas: shop.burst: needs submissions_per_second"),
        (
            {"quotas": {f"namespace-{n}": {"stored_tasks": 1_000} for n in range(30)}},
            "quotas: is over 900 characters; use * for namespaces alike",
        ),
        (
            {"targets": {"sqs": ["orders"]}},
            "targets.sqs.0: 'orders' is not an ARN such as arn:aws:",
        ),
        ({"targets": {"sqs": [f"{QUEUE} "]}}, "targets.sqs.0: 'arn:aws:sqs"),
        ({"targets": {"sqs": ["arn:aws:sqs:*:*:*"]}}, "targets.sqs.0: 'arn:aws:sqs:*:*:*' is not"),
        ({"targets": {"sns": [QUEUE]}}, "targets.sns.0: 'arn:aws:sqs"),
        ({"targets": {"email": ["*"]}}, "targets.email.0: '*' is not a@example.com or"),
        ({"targets": {"fax": []}}, "targets.fax: is not a setting; there are dynamodb, email, eve"),
        ({"targets": {"sqs": [QUEUE] * 40}}, "targets: is over 1,500 characters; use * in the"),
        (
            {"targets": {"sql": {"main": {"cluster": QUEUE}}}},
            "targets.sql.main.cluster: 'arn:aws:sqs",
        ),
        ({"handlers": {"vpc": {"id": "vpc-1", "subnets": []}}}, "handlers.vpc.id: must match"),
    ],
)
def test_an_invalid_setting_is_named_in_one_sentence(overrides: dict[str, Any], what: str):
    sentence = refused(**overrides)
    assert sentence.startswith(f"Stage 'x' in cdk.json: {what}")
    assert sentence.endswith(".")
    assert "\n" not in sentence


def test_a_folder_of_handlers_can_be_named_alone(tmp_path: Path):
    stage = read_stage((CONTEXT | {"handlers": str(tmp_path)}).get)
    assert stage.handlers is not None
    assert (stage.handlers.folder, stage.handlers.needs) == (tmp_path, None)


def test_requirements_beside_the_handlers_are_found(tmp_path: Path):
    (tmp_path / "requirements.txt").write_text("requests\n")
    stage = read_stage((CONTEXT | {"handlers": str(tmp_path)}).get)
    assert stage.handlers is not None
    assert stage.handlers.needs == tmp_path / "requirements.txt"


def test_a_stage_adds_to_the_handlers_of_all():
    stage = a_stage(handlers={"environment": {"SHOP": "test"}})
    assert stage.handlers is not None
    assert stage.handlers.folder == Path("examples/handlers")
    assert stage.handlers.environment == {"SHOP": "test"}


def test_a_shard_count_only_grows(tmp_path: Path):
    file = tmp_path / "cdk.context.json"
    file.write_text('{"vpc-provider": 1}')
    keep_shards(a_stage(shards=16), file)
    keep_shards(a_stage("prod", shards=8), file)
    keep_shards(a_stage(shards=32), file)
    known = {"duetime:shards:dev": 32, "duetime:shards:prod": 8, "vpc-provider": 1}
    assert json.loads(file.read_text()) == known

    with pytest.raises(BadStage) as shrunk:
        keep_shards(a_stage(shards=16), file)
    assert str(shrunk.value) == (
        "Stage 'dev' in cdk.json: shards: 16 is less than the 32 in cdk.context.json,"
        " and a shard count only grows (if 32 was never deployed,"
        " `npx aws-cdk@2.1147.0 context --reset duetime:shards:dev` resets it)."
    )
    assert json.loads(file.read_text()) == known


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "cdk.context.json is not JSON: "),
        ("[]", "cdk.context.json must hold an object."),
        ('{"duetime:shards:dev": "16"}', "In cdk.context.json duetime:shards:dev must be a whole"),
    ],
)
def test_an_invalid_context_file_is_refused(tmp_path: Path, text: str, said: str):
    file = tmp_path / "cdk.context.json"
    file.write_text(text)
    with pytest.raises(BadStage) as refused:
        keep_shards(a_stage(), file)
    assert str(refused.value).startswith(said)
    assert file.read_text() == text


def test_every_setting_is_documented():
    page = (ROOT / "docs" / "how-to" / "deploy.md").read_text()
    overrides = [name for name in type(a_stage()).model_fields if name != "name"]
    assert [name for name in overrides if f"`{name}`" not in page] == []
