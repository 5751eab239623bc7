"""The environment of each function fits into the 4 KB that Lambda takes, or synthesis stops."""

from typing import Any

import pytest
from aws_cdk import Aws

from infra.environment import MAX_BYTES, check_environment, reference_size
from infra.stage import BadStage
from tests.infra.conftest import Synthesize, a_stage, of_type

QUEUE = "arn:aws:sqs:eu-west-1:123456789012:orders-of-the-shop"
VPC = {"id": "vpc-0123456789abcdef0", "subnets": ["subnet-0123456789abcdef0"]}
# Each is as long as it may be by itself.
TARGETS = {"targets": {"sqs": [f"{QUEUE}-{n:02}" for n in range(25)]}}
SECRETS = {"secrets": [f"secret-of-the-shop-number-{n:02}-{'x' * 3}" for n in range(30)]}
HOSTS = {"allow_hosts": [f"host-{n:02}.internal.example.com" for n in range(34)]}
QUOTAS = {"quotas": {f"shop-{n:02}": {"stored_tasks": 1_000} for n in range(28)}}


def refusal(synthesize: Synthesize, **overrides: Any) -> str:
    with pytest.raises(BadStage) as refused:
        synthesize("dev", **overrides)
    return str(refused.value)


def test_settings_that_do_not_fit_together_are_named_with_their_sizes(synthesize: Synthesize):
    sentence = refusal(synthesize, **TARGETS, **SECRETS, **HOSTS, **QUOTAS, handlers={"vpc": VPC})

    assert sentence == (
        "Stage 'dev' in cdk.json: the environment of executor-high has 5,010 bytes, and Lambda"
        " takes 4,096; shorten targets (1,558), quotas (1,030), secrets (1,011) or allow_hosts"
        " (1,011)."
    )


def test_environment_of_the_handlers_counts_for_the_executors(synthesize: Synthesize):
    sentence = refusal(synthesize, handlers={"environment": {"TEXT": "é" * 1_850}})

    assert sentence.startswith("Stage 'dev' in cdk.json: the environment of executor-high has ")
    assert sentence.endswith("; shorten handlers.environment (3,711).")


def test_quotas_count_for_the_api(synthesize: Synthesize):
    sentence = refusal(synthesize, **TARGETS, **SECRETS, **QUOTAS, objects=True)

    assert "the environment of api has " in sentence
    assert ", quotas (1,030) or " in sentence


def test_quotas_count_for_executors_with_handlers(synthesize: Synthesize):
    """A handler may submit tasks."""
    given = {"environment": {"TEXT": "x" * 2_800}}
    sentence = refusal(synthesize, **QUOTAS, handlers=given)

    assert "the environment of executor-high has " in sentence
    assert "quotas (1,030)" in sentence


def test_environment_of_exactly_4096_bytes_is_taken():
    stage = a_stage()
    text = "x" * (MAX_BYTES - len('{"TEXT":""}'))

    check_environment(stage, "api", {"TEXT": text})
    with pytest.raises(BadStage, match="the environment of api has 4,097 bytes"):
        check_environment(stage, "api", {"TEXT": text + "x"})


def test_quote_in_a_variable_counts_twice():
    with pytest.raises(BadStage, match="has 4,111 bytes"):
        check_environment(a_stage(), "api", {"TEXT": '"' * 2_050})


def test_reference_counts_as_the_longest_text_that_takes_its_place(dev: dict[str, Any]):
    """A region of China, and a stage with the longest name."""
    stage = a_stage("s" * 32)
    queue = f"https://sqs.cn-northwest-1.amazonaws.com.cn/123456789012/duetime-{stage.name}-medium"
    functions = of_type(dev, "AWS::Lambda::Function").values()
    tables = {f["Environment"]["Variables"]["DUETIME_TABLE"]["Ref"] for f in functions}
    text = "x" * (MAX_BYTES - len('{"Q":"","TEXT":""}') - len(queue))

    check_environment(stage, "api", {"Q": Aws.STACK_ID, "TEXT": text})
    with pytest.raises(BadStage, match="has 4,097 bytes"):
        check_environment(stage, "api", {"Q": Aws.STACK_ID, "TEXT": text + "x"})
    assert reference_size(stage) == len(queue)
    assert len(f"duetime-{stage.name}-{tables.pop()}-1A2B3C4D5E6F7") <= len(queue)
