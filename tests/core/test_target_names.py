"""Short names of targets."""

from typing import Any

import pytest

from duetime.core.target_names import target_name


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ({"type": "python", "handler": "reports.daily"}, "reports.daily"),
        ({"type": "http", "url": "https://example.com/x"}, "https://example.com/x"),
        ({"type": "http", "url": {"$secret": "slack-hook"}}, "secret slack-hook"),
        ({"type": "sqs", "queue": "arn:aws:sqs:eu-west-1:123456789012:orders"}, "sqs orders"),
        ({"type": "email", "from": "a@x.org", "to": ["b@x.org"]}, "email b@x.org"),
        ({}, None),
    ],
)
def test_target_has_a_short_name(target: Any, name: str | None):
    assert target_name(target) == name
