"""The synthesized stack, resource by resource."""

import json
from typing import Any

import pytest

from duetime.aws import schema
from duetime.aws.settings import Settings
from duetime.core.lanes import Lane
from duetime.core.times import SECOND
from duetime.executor.executor import RESERVE
from infra.bundle import HANDLERS, MANIFEST
from tests.infra.conftest import Synthesize, of_type, one, resolved
from tests.infra.test_permissions import as_list

Template = dict[str, Any]

FUNCTION = "AWS::Lambda::Function"
MAPPING = "AWS::Lambda::EventSourceMapping"
QUEUE = "AWS::SQS::Queue"
RULE = "AWS::Events::Rule"


def named(template: Template, name: str) -> dict[str, Any]:
    """A function by the name of its role."""
    [found] = [
        p for p in of_type(template, FUNCTION).values() if p["Description"].endswith(f": {name}")
    ]
    return found


def queues(template: Template) -> dict[str, dict[str, Any]]:
    return {p.get("QueueName", id_): p for id_, p in of_type(template, QUEUE).items()}


# The table


def test_the_table_is_the_one_that_the_roles_know(dev: Template):
    made, known = one(dev, "AWS::DynamoDB::Table"), schema.create_table("x")
    for part in ("KeySchema", "BillingMode", "GlobalSecondaryIndexes"):
        assert made[part] == known[part]
    by_name = {a["AttributeName"]: a for a in known["AttributeDefinitions"]}
    assert {a["AttributeName"]: a for a in made["AttributeDefinitions"]} == by_name
    assert made["StreamSpecification"]["StreamViewType"] == "NEW_AND_OLD_IMAGES"
    assert made["TimeToLiveSpecification"] == {
        "AttributeName": schema.REMOVE_AFTER,
        "Enabled": True,
    }
    assert made["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}


def test_a_table_takes_as_many_writes_as_it_is_warmed_for(dev: Template, synthesize: Synthesize):
    made = one(synthesize("dev", warm_writes=20_000), "AWS::DynamoDB::Table")
    warm = {"WriteUnitsPerSecond": 20_000}
    assert made["WarmThroughput"] == warm
    by_index = {i["IndexName"]: i.get("WarmThroughput") for i in made["GlobalSecondaryIndexes"]}
    assert by_index == {
        schema.WAKE_INDEX: warm,
        schema.LISTING_INDEX: None,
        schema.DEAD_INDEX: None,
    }
    assert "WarmThroughput" not in json.dumps(dev)


def test_a_table_that_is_there_already_is_used_and_left_as_it_is(synthesize: Synthesize):
    arn = "arn:aws:dynamodb:eu-central-1:123456789012:table/duetime-prod-x"
    stream = f"{arn}/stream/2026-11-16T08:00:00.000"
    template = synthesize("prod", table_stream_arn=stream)
    assert of_type(template, "AWS::DynamoDB::Table") == {}
    functions = of_type(template, FUNCTION).values()
    assert {f["Environment"]["Variables"]["DUETIME_TABLE"] for f in functions} == {"duetime-prod-x"}
    assert stream in [m["EventSourceArn"] for m in of_type(template, MAPPING).values()]
    on_the_table = {
        resource
        for policy in of_type(template, "AWS::IAM::Policy").values()
        for statement in policy["PolicyDocument"]["Statement"]
        for resource in as_list(statement["Resource"])
        if "dynamodb" in str(statement["Action"])
    }
    assert on_the_table == {
        arn,
        stream,
        f"{arn}/stream/*",
        *(f"{arn}/index/{i}" for i in ("wake", "listing", "dead")),
    }
    assert template["Outputs"]["Table"]["Value"] == "duetime-prod-x"


@pytest.mark.parametrize(("stage", "kept"), [("dev", False), ("prod", True)])
def test_data_outlives_a_stack_that_is_to_keep_it(
    stage: str, kept: bool, request: pytest.FixtureRequest
):
    template = request.getfixturevalue(stage)
    [table] = [r for r in template["Resources"].values() if r["Type"] == "AWS::DynamoDB::Table"]
    assert table["Properties"]["DeletionProtectionEnabled"] is kept
    assert table["DeletionPolicy"] == ("Retain" if kept else "Delete")


# The lanes


@pytest.mark.parametrize("lane", Lane)
def test_a_lane_has_its_dead_letters(dev: Template, lane: Lane):
    made = queues(dev)
    queue, letters = made[f"duetime-dev-{lane}"], made[f"duetime-dev-{lane}-dlq"]
    assert queue["RedrivePolicy"]["maxReceiveCount"] == 10
    assert queue["VisibilityTimeout"] == 6 * named(dev, f"executor-{lane}")["Timeout"] == 5_400
    assert "RedrivePolicy" not in letters
    [source] = letters["RedriveAllowPolicy"]["sourceQueueArns"]
    assert letters["RedriveAllowPolicy"]["redrivePermission"] == "byQueue"
    assert json.dumps(source).endswith(f':duetime-dev-{lane}"]]}}')


def test_every_queue_is_encrypted_and_speaks_tls_only(dev: Template):
    refused = {
        json.dumps(queue)
        for policy in of_type(dev, "AWS::SQS::QueuePolicy").values()
        for queue in policy["Queues"]
        if any(
            s["Effect"] == "Deny" and s["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
            for s in policy["PolicyDocument"]["Statement"]
        )
    }
    for name, queue in of_type(dev, QUEUE).items():
        assert queue["SqsManagedSseEnabled"], name
        assert json.dumps({"Ref": name}) in refused


def test_failed_ticks_and_records_are_kept_as_long_as_they_are_useful(dev: Template):
    """So the alarms on ticks and records clear by themselves, and can go off again."""
    hour, day = 3_600, 24 * 3_600
    kept = {
        name: queue["MessageRetentionPeriod"]
        for name, queue in queues(dev).items()
        if "Failed" in name
    }
    assert sorted(kept.values()) == [hour, day]
    assert next(seconds for name, seconds in kept.items() if "FailedTicks" in name) == hour
    others = [q for name, q in queues(dev).items() if name not in kept]
    assert {q["MessageRetentionPeriod"] for q in others} == {14 * day}


# The functions


def test_every_function_is_small_traced_and_on_arm(synthesize: Synthesize):
    functions = of_type(synthesize("dev", tracing=True), FUNCTION).values()
    assert len(functions) == 6
    for function in functions:
        assert function["Runtime"] == "python3.13"
        assert function["Architectures"] == ["arm64"]
        assert function["TracingConfig"] == {"Mode": "Active"}
        assert "LogGroup" in function["LoggingConfig"]
        assert "ReservedConcurrentExecutions" not in function


def test_functions_are_traced_on_request_alone(dev: Template, synthesize: Synthesize):
    assert not any("TracingConfig" in f for f in of_type(dev, FUNCTION).values())
    assert "xray" not in json.dumps(of_type(dev, "AWS::IAM::Policy"))
    assert "xray" in json.dumps(of_type(synthesize("dev", tracing=True), "AWS::IAM::Policy"))


def test_functions_send_spans_where_the_stage_says(dev: Template, synthesize: Synthesize):
    where = {"OTEL_EXPORTER_OTLP_ENDPOINT": "https://collector.example.com:4318"}
    sending = []
    for function in of_type(synthesize("dev", otel=where), FUNCTION).values():
        variables = function["Environment"]["Variables"]
        if where.items() <= variables.items():
            sending.append(function["Handler"])
    executors = ["lambdas.executor.handle"] * 3
    assert sorted(sending) == ["lambdas.api.handle", *executors, "lambdas.scanner.handle"]
    assert "OTEL_" not in json.dumps(dev)


def test_every_log_is_kept_for_as_long_as_the_stage_says(synthesize: Synthesize):
    logs = of_type(synthesize("dev", log_retention_days=90), "AWS::Logs::LogGroup")
    assert len(logs) == 7
    assert {log["RetentionInDays"] for log in logs.values()} == {90}


def test_executors_outlast_the_longest_task_that_the_api_takes(synthesize: Synthesize):
    functions = of_type(synthesize("prod"), FUNCTION).values()
    [taken] = {
        Settings.read(resolved(function["Environment"]["Variables"])).longest_timeout
        for function in functions
    }
    executors = [f for f in functions if "executor" in f["Description"]]
    assert len(executors) == 3
    assert all(f["Timeout"] >= taken + RESERVE // SECOND for f in executors)


def test_the_environment_of_a_function_is_its_settings(synthesize: Synthesize):
    environment = {"SHOP": "test"}
    overrides = {
        "shards": 32,
        "catch_up": 7,
        "age_after": 600,
        "retention_days": 3,
        "allow_hosts": ["10.0.0.0/8", "db"],
        "secrets": ["stripe", "hook"],
    }
    vpc = {"id": "vpc-0123456789abcdef0", "subnets": ["subnet-0123456789abcdef0"]}
    template = synthesize("dev", **overrides, handlers={"environment": environment, "vpc": vpc})
    for function in of_type(template, FUNCTION).values():
        texts = resolved(function["Environment"]["Variables"])
        name = function["Description"].rpartition(": ")[2]
        if name.startswith("executor"):
            assert texts.pop("SHOP") == "test"
        settings = Settings.read(texts)
        assert settings.environment() == texts  # nothing that Settings does not know
        assert (settings.stage, settings.shards) == ("dev", 32)
        assert (settings.catch_up, settings.retention_days) == (7, 3)
        assert settings.age_after == 600
        assert settings.at_once == {Lane.HIGH: 60, Lane.MEDIUM: 30, Lane.LOW: 10}
        assert settings.longest_timeout == 840
        no_calls = name in ("api", "relay")
        assert settings.hosts_allowed == ([] if no_calls else ["10.0.0.0/8", "db"])
        assert settings.secret_names == ["stripe", "hook"]
        expected = {"api": MANIFEST, "scanner": "", "relay": ""}
        assert settings.handlers == expected.get(name, HANDLERS)


def test_deployment_calls_the_api_function_to_sync_its_schedules(dev: dict[str, Any]):
    [(name, synced)] = of_type(dev, "Custom::DuetimeSchedules").items()
    [function] = [
        name for name, f in of_type(dev, FUNCTION).items() if f["Description"].endswith(": api")
    ]

    assert synced["ServiceToken"] == {"Fn::GetAtt": [function, "Arn"]}
    assert (synced["ServiceTimeout"], bool(synced["Bundle"])) == ("120", True)
    before = set(dev["Resources"][name]["DependsOn"])
    policies = {name for name in before if "DefaultPolicy" in name}
    assert function in before
    assert policies


def test_schedules_are_synced_after_every_function_is_deployed(dev: dict[str, Any]):
    [name] = of_type(dev, "Custom::DuetimeSchedules")

    assert set(of_type(dev, FUNCTION)) <= set(dev["Resources"][name]["DependsOn"])


def test_archive_is_private_encrypted_and_outlives_its_stack(synthesize: Synthesize):
    template = synthesize("dev", archive=True)
    [(name, bucket)] = of_type(template, "AWS::S3::Bucket").items()

    assert template["Resources"][name]["DeletionPolicy"] == "Retain"
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    [rule] = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule == {"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}
    assert template["Outputs"]["Archive"]["Value"] == {"Fn::Join": ["", ["s3://", {"Ref": name}]]}


@pytest.mark.parametrize(("stage", "policy"), [("dev", "Delete"), ("prod", "Retain")])
def test_bucket_of_objects_is_private_and_leaves_with_the_table(
    synthesize: Synthesize, stage: str, policy: str
):
    template = synthesize(stage, objects=True)
    [(name, bucket)] = [
        (name, made)
        for name, made in template["Resources"].items()
        if made["Type"] == "AWS::S3::Bucket"
    ]

    assert name.startswith("Objects")
    assert bucket["DeletionPolicy"] == policy
    made = bucket["Properties"]
    assert set(made["PublicAccessBlockConfiguration"].values()) == {True}
    assert "BucketEncryption" in made
    functions = of_type(template, FUNCTION).values()
    known = {
        f["Description"].rpartition(": ")[2]: variables["DUETIME_OBJECTS_BUCKET"]
        for f in functions
        if "DUETIME_OBJECTS_BUCKET" in (variables := f["Environment"]["Variables"])
    }
    assert set(map(str, known.values())) == {str({"Ref": name})}
    assert len(known) == 6, "every role: a follow-up of a workflow run may read a large result"


@pytest.mark.parametrize("archive", [False, "our-archive"])
def test_stage_creates_no_bucket_unless_asked(synthesize: Synthesize, archive: str | bool):
    assert of_type(synthesize("dev", archive=archive), "AWS::S3::Bucket") == {}


def test_only_the_relay_knows_the_archive(synthesize: Synthesize):
    functions = of_type(synthesize("dev", archive="our-archive"), FUNCTION).values()
    known = {
        f["Description"].rpartition(": ")[2]: variables["DUETIME_ARCHIVE_BUCKET"]
        for f in functions
        if "DUETIME_ARCHIVE_BUCKET" in (variables := f["Environment"]["Variables"])
    }

    assert known == {"relay": "our-archive"}


def test_functions_that_submit_or_count_tasks_know_the_quotas(synthesize: Synthesize):
    """A handler may submit tasks, so executors with handlers are among them."""
    quotas = {"shop": {"submissions_per_second": 50, "stored_tasks": 100}}
    functions = of_type(synthesize("dev", quotas=quotas), FUNCTION).values()
    known = {
        f["Description"].rpartition(": ")[2]: json.loads(variables["DUETIME_QUOTAS"])
        for f in functions
        if "DUETIME_QUOTAS" in (variables := f["Environment"]["Variables"])
    }

    executors = (f"executor-{lane}" for lane in Lane)
    assert known == dict.fromkeys(("api", "relay", *executors), quotas)


def test_functions_that_call_themselves_on_purpose_are_not_stopped(dev: Template):
    """A retry goes back to its own queue, and Lambda stops loops after sixteen rounds."""
    allowed = {
        f["Description"].rpartition(": ")[2]
        for f in of_type(dev, FUNCTION).values()
        if f.get("RecursiveLoop") == "Allow"
    }
    assert allowed == {"scanner", "relay", *(f"executor-{lane}" for lane in Lane)}


# The event sources


def test_the_shards_are_divided_over_the_targets_of_the_rules(synthesize: Synthesize):
    rules = of_type(synthesize("dev", shards=32, slices=7), RULE).values()
    assert {rule["ScheduleExpression"] for rule in rules} == {"rate(1 minute)"}
    assert sorted(len(rule["Targets"]) for rule in rules) == [2, 5]
    targets = [target for rule in rules for target in rule["Targets"]]
    inputs = [json.loads(target["Input"]) for target in targets]
    assert sorted(i["slice"] for i in inputs) == list(range(7))
    assert {i["slices"] for i in inputs} == {7}
    for target in targets:
        assert target["RetryPolicy"]["MaximumRetryAttempts"] == 2
        assert "Arn" in target["DeadLetterConfig"]


def test_a_tick_that_fails_is_not_repeated_but_kept(dev: Template):
    called = one(dev, "AWS::Lambda::EventInvokeConfig")
    assert (called["MaximumRetryAttempts"], called["MaximumEventAgeInSeconds"]) == (0, 120)
    kept = called["DestinationConfig"]["OnFailure"]["Destination"]["Fn::GetAtt"][0]
    assert "FailedTicks" in kept


def test_each_lane_calls_its_own_executor(synthesize: Synthesize):
    template = synthesize("dev", concurrency=50, batch_size={"low": 1})
    by_queue = {
        m["EventSourceArn"]["Fn::GetAtt"][0]: m
        for m in of_type(template, MAPPING).values()
        if m["EventSourceArn"]["Fn::GetAtt"][1] == "Arn"
    }
    for lane, most, batch in zip(Lane, (30, 15, 5), (10, 10, 1), strict=True):
        [queue] = [
            id_
            for id_, q in of_type(template, QUEUE).items()
            if q.get("QueueName") == f"duetime-dev-{lane}"
        ]
        mapping = by_queue[queue]
        assert mapping["BatchSize"] == batch
        assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
        assert mapping["ScalingConfig"] == {"MaximumConcurrency": most}
        function = template["Resources"][mapping["FunctionName"]["Ref"]]["Properties"]
        assert function["Description"].endswith(f": executor-{lane}")


def test_one_bad_record_does_not_stop_the_relay(dev: Template):
    [mapping] = [
        m
        for m in of_type(dev, MAPPING).values()
        if m["EventSourceArn"]["Fn::GetAtt"][1] == "StreamArn"
    ]
    assert mapping["BisectBatchOnFunctionError"] is True
    assert mapping["MaximumRetryAttempts"] == 5
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert "Destination" in mapping["DestinationConfig"]["OnFailure"]
    patterns = [json.loads(each["Pattern"]) for each in mapping["FilterCriteria"]["Filters"]]
    assert patterns == [
        {"dynamodb": {"Keys": {"sk": {"S": ["task"]}}}},
        {"eventName": ["REMOVE"], "dynamodb": {"Keys": {"sk": {"S": ["run"]}}}},
    ]


def test_relay_has_room_for_the_follow_ups_of_many_steps(dev: Template):
    [mapping] = [m for m in of_type(dev, MAPPING).values() if "ParallelizationFactor" in m]
    relay = dev["Resources"][mapping["FunctionName"]["Ref"]]["Properties"]
    assert relay["Description"].endswith(": relay")
    assert (mapping["ParallelizationFactor"], relay["MemorySize"]) == (4, 512)


# The API


def test_the_api_is_signed_throttled_logged_and_closed_to_other_sites(dev: Template):
    routes = of_type(dev, "AWS::ApiGatewayV2::Route").values()
    assert {r["RouteKey"] for r in routes} == {
        *(f"{method} /v1/{{proxy+}}" for method in ("GET", "POST", "PUT", "PATCH", "DELETE")),
        "GET /docs",
    }
    assert {r["AuthorizationType"] for r in routes} == {"AWS_IAM"}
    stage = one(dev, "AWS::ApiGatewayV2::Stage")
    limits = stage["DefaultRouteSettings"]
    assert (limits["ThrottlingRateLimit"], limits["ThrottlingBurstLimit"]) == (2_000, 2_000)
    assert "$context.requestId" in stage["AccessLogSettings"]["Format"]
    [log] = stage["AccessLogSettings"]["DestinationArn"]["Fn::GetAtt"][:1]
    assert of_type(dev, "AWS::Logs::LogGroup")[log]["LogGroupName"].startswith("/aws/vendedlogs/")
    assert "CorsConfiguration" not in one(dev, "AWS::ApiGatewayV2::Api")


def test_callbacks_of_a_stage_are_one_public_route_whose_address_executors_know(
    dev: Template, synthesize: Synthesize
):
    template = synthesize("dev", callbacks=True)
    routes = of_type(template, "AWS::ApiGatewayV2::Route").values()
    public = {r["RouteKey"] for r in routes if r["AuthorizationType"] == "NONE"}
    assert public == {"POST /v1/callbacks/{token}"}

    def with_an_address(template: Template) -> int:
        functions = of_type(template, "AWS::Lambda::Function").values()
        variables = [f.get("Environment", {}).get("Variables", {}) for f in functions]
        return sum(1 for v in variables if v.get("DUETIME_CALLBACK_URL"))

    assert with_an_address(template) == 3
    assert with_an_address(dev) == 0


def test_functions_count_in_the_table_only_if_the_stage_says_so(
    dev: dict[str, Any], synthesize: Synthesize
):
    def counting(template: dict[str, Any]) -> set[str]:
        functions = of_type(template, "AWS::Lambda::Function").values()
        return {
            f["Handler"]
            for f in functions
            if f["Environment"]["Variables"].get("DUETIME_STATS") == "table"
        }

    assert counting(dev) == set()
    wanted = {"lambdas.api.handle", "lambdas.relay.handle", "lambdas.scanner.handle"}
    assert counting(synthesize("dev", stats="table")) == wanted


def test_tokens_of_callbacks_are_not_in_the_access_log(synthesize: Synthesize):
    [stage] = of_type(synthesize("dev", callbacks=True), "AWS::ApiGatewayV2::Stage").values()

    assert "$context.path" not in stage["AccessLogSettings"]["Format"]
    assert "$context.routeKey" in stage["AccessLogSettings"]["Format"]


def test_tokens_of_an_issuer_instead_of_signatures(synthesize: Synthesize):
    jwt = {"issuer": "https://login.example.com/", "audience": ["duetime"]}
    template = synthesize("dev", jwt=jwt, cors_origins=["https://app.example.com"])
    routes = of_type(template, "AWS::ApiGatewayV2::Route").values()
    assert {r["AuthorizationType"] for r in routes} == {"JWT"}
    assert one(template, "AWS::ApiGatewayV2::Authorizer")["JwtConfiguration"] == {
        "Audience": ["duetime"],
        "Issuer": "https://login.example.com/",
    }
    cors = one(template, "AWS::ApiGatewayV2::Api")["CorsConfiguration"]
    assert cors["AllowOrigins"] == ["https://app.example.com"]
    assert "authorization" in cors["AllowHeaders"]
    assert "--token" in json.dumps(template["Outputs"]["TryIt"])


def test_a_token_needs_the_scope_of_its_route(synthesize: Synthesize):
    jwt = {"issuer": "https://login.example.com/", "audience": ["duetime"]}

    def needed(**scopes: Any) -> dict[str, list[str] | None]:
        template = synthesize("dev", jwt=jwt | scopes)
        return {
            route["RouteKey"]: route.get("AuthorizationScopes")
            for route in of_type(template, "AWS::ApiGatewayV2::Route").values()
        }

    reads = ("GET /v1/{proxy+}", "GET /docs")
    changes = [f"{method} /v1/{{proxy+}}" for method in ("POST", "PUT", "PATCH", "DELETE")]
    assert needed() == dict.fromkeys((*reads, *changes))
    scoped = needed(scopes={"read": "duetime/read", "operate": "duetime/operate"})
    read, operate = ["duetime/read", "duetime/operate"], ["duetime/operate"]
    only_read = ("POST /v1/schedules/preview", "POST /v1/live/tickets")
    assert scoped == {
        **dict.fromkeys((*reads, *only_read), read),
        **dict.fromkeys(changes, operate),
    }


def test_function_knows_the_scopes_of_its_stage(synthesize: Synthesize):
    jwt = {"issuer": "https://login.example.com/", "audience": ["duetime"]}
    scopes = {"read": "duetime/read", "operate": "duetime/operate"}
    template = synthesize("dev", jwt={**jwt, "scopes": scopes})

    functions = of_type(template, "AWS::Lambda::Function").values()
    known = {
        function["Handler"]: function["Environment"]["Variables"].get("DUETIME_SCOPES")
        for function in functions
        if "Environment" in function
    }
    assert known["lambdas.api.handle"] == "duetime/read duetime/operate"
    assert known["lambdas.scanner.handle"] is None


def test_a_domain_of_your_own(synthesize: Synthesize):
    certificate = "arn:aws:acm:eu-central-1:123456789012:certificate/abc"
    domain = {"name": "tasks.example.com", "certificate": certificate}
    template = synthesize("dev", domain=domain)
    assert one(template, "AWS::ApiGatewayV2::DomainName")["DomainName"] == "tasks.example.com"
    assert one(template, "AWS::ApiGatewayV2::Api")["DisableExecuteApiEndpoint"] is True
    assert template["Outputs"]["ApiUrl"]["Value"] == "https://tasks.example.com"
    assert "DomainTarget" in template["Outputs"]


# Handlers


def test_executors_reach_a_vpc_and_what_their_statements_allow(synthesize: Synthesize):
    handlers = {
        "statements": [
            {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::x/*"}
        ],
        "vpc": {"id": "vpc-0a1b2c3d", "subnets": ["subnet-0a1b2c3d", "subnet-0a1b2c3e"]},
    }
    template = synthesize("dev", handlers=handlers)
    for name in ("executor-high", "executor-low"):
        network = named(template, name)["VpcConfig"]
        assert network["SubnetIds"] == ["subnet-0a1b2c3d", "subnet-0a1b2c3e"]
        assert len(network["SecurityGroupIds"]) == 1
    assert "VpcConfig" not in named(template, "api")
    granted = json.dumps(of_type(template, "AWS::IAM::Policy"))
    assert granted.count("s3:GetObject") == len(Lane)


# The dashboard and the outputs


def test_the_dashboard_answers_four_questions(dev: Template):
    body = json.dumps(one(dev, "AWS::CloudWatch::Dashboard"))
    for words in ("Is it on time?", "Is anything stuck?", "What fails?", "What is done?"):
        assert words in body


def test_the_outputs_say_where_to_go_next(dev: Template):
    outputs = {name: json.dumps(o["Value"]) for name, o in dev["Outputs"].items()}
    assert set(outputs) == {
        *("ApiUrl", "TryIt", "TryItWithCurl", "Table", "Dashboard"),
        *(f"{what}{lane.title()}" for what in ("Lane", "DeadLetters") for lane in Lane),
    }
    assert "duetime health --url" in outputs["TryIt"]
    assert "awscurl --service execute-api" in outputs["TryItWithCurl"]
