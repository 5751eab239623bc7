"""Which targets a stage allows, and how targets are named."""

from typing import Any

import pytest

from duetime.core.allowed_targets import ALL_TARGETS, AllowedTargets
from duetime.core.arns import EXAMPLES, is_arn_of, is_arn_pattern_of, parse_arn
from duetime.core.target_names import target_name

QUEUE = "arn:aws:sqs:eu-west-1:123456789012:orders"


@pytest.mark.parametrize(
    ("pattern", "resource", "allowed"),
    [
        (QUEUE, QUEUE, True),
        (QUEUE, f"{QUEUE}-2", False),
        (f"{QUEUE}*", f"{QUEUE}-2", True),
        (f"{QUEUE}*", QUEUE, True),
        ("arn:aws:sqs:eu-west-1:123456789012:*-in", f"{QUEUE}-in", True),
        ("arn:aws:sqs:eu-west-1:123456789012:*-in", f"{QUEUE}-out", False),
        (QUEUE.replace("orders", "o.ders"), QUEUE, False),
    ],
)
def test_pattern_matches_the_whole_name(pattern: str, resource: str, allowed: bool):
    targets = AllowedTargets(patterns={"sqs": [pattern]})

    assert (targets.refusal({"type": "sqs", "queue": resource}) is None) is allowed


def test_sender_is_judged_by_its_address_not_by_its_name():
    targets = AllowedTargets(patterns={"email": ["*@example.com"]})

    assert targets.refusal({"type": "email", "from": "Ann <ann@Example.com>"}) is None
    assert targets.refusal({"type": "email", "from": "example.com <ann@evil.org>"}) is not None


def test_http_and_python_have_rules_of_their_own():
    assert AllowedTargets(patterns={}).refusal({"type": "http", "url": "http://x"}) is None
    assert AllowedTargets(patterns={}).refusal({"type": "python", "handler": "x"}) is None


def test_all_targets_are_all():
    assert ALL_TARGETS.refusal({"type": "sqs", "queue": QUEUE}) is None


@pytest.mark.parametrize(("kind", "arn"), EXAMPLES.items())
def test_example_of_an_arn_is_one(kind: str, arn: str):
    assert is_arn_of(kind, arn)
    assert is_arn_pattern_of(kind, f"{arn[:-2]}*")
    assert not is_arn_of(kind, f"{arn}*")
    assert not any(is_arn_of(other, arn) for other in EXAMPLES if other != kind)
    assert (parse_arn(arn).region, parse_arn(arn).account) == ("eu-west-1", "123456789012")


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ({"type": "python", "handler": "shop.restock"}, "shop.restock"),
        ({"type": "http", "url": "https://example.com"}, "https://example.com"),
        ({"type": "sqs", "queue": QUEUE}, "sqs orders"),
        ({"type": "lambda", "function": f"{EXAMPLES['lambda']}:live"}, "lambda resize:live"),
        ({"type": "eventbridge", "bus": EXAMPLES["eventbridge"]}, "eventbridge default"),
        ({"type": "dynamodb", "table": EXAMPLES["dynamodb"]}, "dynamodb orders"),
        ({"type": "email", "from": "a@b.c", "to": ["ann@example.net"]}, "email ann@example.net"),
        ({"type": "sql", "database": "main"}, "sql main"),
        ({"type": "sqs"}, None),
        ({}, None),
    ],
)
def test_target_has_a_short_name(target: dict[str, Any], name: str | None):
    assert target_name(target) == name
