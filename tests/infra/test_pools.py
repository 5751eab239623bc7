"""The queues of pools, and who may use them."""

import json
from typing import Any

import pytest

from duetime.aws.settings import Settings
from duetime.core.lanes import Lane, Queue
from infra.stage import BadStage
from tests.infra.conftest import Synthesize, a_stage, of_type, resolved
from tests.infra.test_alarms import alarmed, looked_at
from tests.infra.test_fargate_pool import POOLS
from tests.infra.test_permissions import GRANTED, granted
from tests.infra.test_stage import refusal, refused
from tests.infra.test_template import queues

Template = dict[str, Any]

BATCH = {"batch": {"max_timeout": 86_400}}
OF_BATCH = [f"batch-{lane}" for lane in Lane]


@pytest.fixture(scope="module")
def pooled(synthesize: Synthesize) -> Template:
    return synthesize("dev", pools=BATCH)


@pytest.mark.parametrize("lane", Lane)
def test_queue_of_a_pool_has_dead_letters_and_a_short_visibility(pooled: Template, lane: Lane):
    made = queues(pooled)
    queue, letters = made[f"duetime-dev-batch-{lane}"], made[f"duetime-dev-batch-{lane}-dlq"]
    assert (queue["VisibilityTimeout"], queue["RedrivePolicy"]["maxReceiveCount"]) == (120, 10)
    assert letters["RedriveAllowPolicy"]["redrivePermission"] == "byQueue"
    [source] = letters["RedriveAllowPolicy"]["sourceQueueArns"]
    assert json.dumps(source).endswith(f':duetime-dev-batch-{lane}"]]}}')


def test_queues_of_pools_are_encrypted_and_speak_tls_only(pooled: Template):
    refused = json.dumps(
        [
            policy["Queues"]
            for policy in of_type(pooled, "AWS::SQS::QueuePolicy").values()
            if "aws:SecureTransport" in json.dumps(policy["PolicyDocument"])
        ]
    )
    of_pool = {n: q for n, q in of_type(pooled, "AWS::SQS::Queue").items() if "Pools" in n}
    assert len(of_pool) == 6
    for name, queue in of_pool.items():
        assert queue["SqsManagedSseEnabled"]
        assert json.dumps({"Ref": name}) in refused


def test_nothing_is_invoked_by_the_queues_of_a_pool(dev: Template, pooled: Template):
    kind = "AWS::Lambda::EventSourceMapping"
    assert of_type(pooled, kind) == of_type(dev, kind)
    assert of_type(pooled, "AWS::Lambda::Permission") == of_type(dev, "AWS::Lambda::Permission")


def test_stage_without_pools_has_no_trace_of_them(dev: Template):
    assert "POOLS" not in json.dumps(dev)
    assert not any("Pool" in name or "Worker" in name for name in dev["Resources"])


def test_every_role_sends_to_the_pools_and_none_receives_from_them(pooled: Template):
    """Submissions, wakes, retries and follow-ups: each may be of a task of the pool."""
    added = {role: allowed - GRANTED[role] for role, allowed in by_role(pooled).items()}
    sends = {("sqs:SendMessage", queue) for queue in OF_BATCH}
    counts = {("sqs:GetQueueAttributes", queue) for queue in OF_BATCH}

    assert added == {
        "api": sends | counts,  # GET /v1/lanes
        "scanner": sends | counts,  # a backlog is not made longer
        "relay": sends,
        **{f"executor-{lane}": sends for lane in Lane},
    }


def by_role(template: Template) -> dict[str, set[tuple[str, str]]]:
    return {
        role: {grant for grant in allowed if not grant[0].startswith("logs:")}
        for role, allowed in granted(template).items()
    }


def test_policy_of_workers_elsewhere_is_that_of_an_executor_without_a_lane(pooled: Template):
    [policy] = of_type(pooled, "AWS::IAM::ManagedPolicy").values()
    allowed = granted({**pooled, "Resources": pooled["Resources"] | worker_role(policy)})["worker"]
    of_low = GRANTED["executor-low"]

    assert {g for g in allowed if g[1] == "table"} == {g for g in of_low if g[1] == "table"}
    everywhere = [*map(str, Lane), *OF_BATCH]
    received = {action for action, queue in of_low if queue == "low"} - {"sqs:SendMessage"}
    assert {g for g in allowed if g[1] != "table"} == {
        *(("sqs:SendMessage", queue) for queue in everywhere),
        *((action, queue) for action in received for queue in OF_BATCH),
    }


def worker_role(policy: dict[str, Any]) -> Template:
    """Has `granted` read a managed policy, as that of a function."""
    function = {"Description": "x: worker", "Role": {"Fn::GetAtt": ["R", "Arn"]}}
    inline = {"PolicyDocument": policy["PolicyDocument"], "Roles": [{"Ref": "R"}]}
    return {
        "F": {"Type": "AWS::Lambda::Function", "Properties": function},
        "P": {"Type": "AWS::IAM::Policy", "Properties": inline},
    }


def test_functions_know_the_queues_and_the_longest_timeouts(pooled: Template):
    for function in of_type(pooled, "AWS::Lambda::Function").values():
        settings = Settings.read(resolved(function["Environment"]["Variables"]))
        urls = settings.queue_urls
        assert {str(queue) for queue in urls} == {
            *map(str, Lane),
            *(f"batch/{lane}" for lane in Lane),
        }
        for queue, url in urls.items():
            name = "-".join(filter(None, ("duetime-dev", queue.pool, queue.lane)))
            assert url == f"https://sqs.example/123456789012/{name}"
        assert settings.pool_timeouts == {"batch": 86_400}


def test_ten_pools_with_long_names_fit_the_environment(synthesize: Synthesize):
    """With the settings of a stage that has not much else."""
    pools = {f"workers-of-the-shop-{n}": {"max_timeout": 604_800} for n in range(10)}
    synthesize("dev", pools=pools)


def test_pools_that_do_not_fit_the_environment_are_named_with_their_size(synthesize: Synthesize):
    pools = {f"workers-of-the-shop-{n:011}": {"max_timeout": 604_800} for n in range(10)}
    with pytest.raises(BadStage) as refused:
        synthesize("dev", pools=pools, handlers={"environment": {"TEXT": "x" * 2_000}})
    sentence = str(refused.value)
    assert "the environment of executor-high has" in sentence
    assert "; shorten pools (3,463) or handlers.environment (2,011)." in sentence


def test_alarms_watch_the_pools_as_the_lanes(prod: Template, synthesize: Synthesize):
    template = synthesize("prod", alarm_email="ops@example.com", pools=BATCH)
    added = set(alarmed(template)) - set(alarmed(prod))
    assert added == {
        f"{what}, batch/{lane}"
        for what in ("dead letters", "messages wait", "tasks died")
        for lane in Lane
    }
    assert len(looked_at(template)) == len(looked_at(prod)) + 12


def test_alarm_on_a_pool_goes_off_if_no_worker_receives(synthesize: Synthesize):
    """Not for the age of the oldest message, which stays in its queue while its task runs."""
    template = synthesize("prod", alarm_email="ops@example.com", pools=BATCH)
    alarm = alarmed(template)["messages wait, batch/low"]
    [expression] = [m["Expression"] for m in alarm["Metrics"] if "Expression" in m]
    assert expression == "IF(FILL(received, 0) > 0, 0, FILL(visible, 0))"
    assert (alarm["EvaluationPeriods"], alarm["DatapointsToAlarm"], alarm["Threshold"]) == (
        *(20, 20),
        0,
    )
    stats = {m["Id"]: m["MetricStat"] for m in alarm["Metrics"] if "MetricStat" in m}
    assert stats["received"]["Metric"]["MetricName"] == "NumberOfMessagesReceived"
    assert stats["visible"]["Metric"]["MetricName"] == "ApproximateNumberOfMessagesVisible"


def test_alarm_on_deaths_reads_the_metric_of_the_pools_lane(synthesize: Synthesize):
    template = synthesize("prod", alarm_email="ops@example.com", pools=BATCH)
    [died] = alarmed(template)["tasks died, batch/high"]["Metrics"]
    lane = {"Name": "lane", "Value": str(Queue(Lane.HIGH, "batch"))}
    assert lane in died["MetricStat"]["Metric"]["Dimensions"]


def test_dashboard_has_a_row_for_each_pool(dev: Template, pooled: Template):
    def titles(template: Template) -> str:
        return json.dumps(of_type(template, "AWS::CloudWatch::Dashboard"))

    assert "batch: messages that wait" in titles(pooled)
    assert "pools" not in titles(dev)


def test_outputs_have_what_workers_elsewhere_need(dev: Template, synthesize: Synthesize):
    template = synthesize("dev", pools=POOLS)
    added = set(template["Outputs"]) - set(dev["Outputs"])
    assert added == {
        "WorkerVariables",
        "WorkerPolicyGpu",  # the workers of `batch` run on Fargate
        *(f"DeadLetters{pool}{lane.title()}" for pool in ("Batch", "Gpu") for lane in Lane),
    }
    variables = json.loads(resolved({"": template["Outputs"]["WorkerVariables"]["Value"]})[""])
    assert Settings.read(variables).pool_timeouts == {"batch": 86_400, "gpu": 3_600}
    assert variables["AWS_REGION"] == "reference"


# Settings


@pytest.mark.parametrize(
    ("pools", "what"),
    [
        ({"Batch": {"max_timeout": 1}}, "pools: 'Batch' is not the name of a pool: a lower-case"),
        ({"a" * 33: {"max_timeout": 1}}, f"pools: '{'a' * 33}' is not the name of a pool"),
        (
            {f"p{n}": {"max_timeout": 1} for n in range(11)},
            "pools: a stage has at most 10 pools, not 11",
        ),
        ({"batch": {}}, "pools.batch.max_timeout: Field required"),
        (
            {"batch": {"max_timeout": 0}},
            "pools.batch.max_timeout: must be greater than or equal to 1, not 0",
        ),
        (
            {"batch": {"max_timeout": 604_801}},
            "pools.batch.max_timeout: must be less than or equal to 604800, not 604801",
        ),
        (
            {"batch": {"max_timeout": 1, "spot": True}},
            "pools.batch.spot: is not a setting; there are max_timeout, fargate",
        ),
        (["batch"], "pools: must be a valid dictionary, not ['batch']"),
    ],
)
def test_invalid_pool_is_named_in_one_sentence(pools: Any, what: str):
    assert refused(pools=pools).startswith(f"Stage 'x' in cdk.json: {what}")


def test_name_that_sqs_would_refuse_is_named():
    context = {
        "stage": "s" * 32,
        "stages": {"s" * 32: {"pools": {"p" * 32: {"max_timeout": 1}}}},
    }
    assert refusal(context) == (
        f"Stage '{'s' * 32}' in cdk.json: pools: the queue"
        f" 'duetime-{'s' * 32}-{'p' * 32}-medium-dlq' has 84 characters, and SQS takes 80: choose a"
        " shorter name of the stage or of the pool."
    )


def test_pool_whose_queues_are_those_of_another_stage_is_refused():
    stages = {"prod": {"pools": {"batch": {"max_timeout": 1}}}, "prod-batch": {}}
    assert refusal({"stage": "prod", "stages": stages}) == (
        "Stage 'prod' in cdk.json: pools: the queues of 'batch' would be those of the stage"
        " 'prod-batch'; choose another name."
    )


def test_longest_timeout_of_a_pool_is_a_week():
    stage = a_stage(pools={"batch": {"max_timeout": 7 * 24 * 3_600}})
    assert stage.pools["batch"].max_timeout == 604_800
