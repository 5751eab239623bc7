"""A task travels through the four functions."""

import json
from typing import Any

import pytest

from lambdas.core.times import MINUTE
from tests.handlers.conftest import Deployment, recorded


def metrics(printed: str) -> dict[str, Any]:
    """All figures that the functions published, by name."""
    found: dict[str, Any] = {}
    for line in printed.splitlines():
        body = json.loads(line)
        for directive in body.get("_aws", {}).get("CloudWatchMetrics", []):
            for metric in directive["Metrics"]:
                found.setdefault(metric["Name"], []).extend(body[metric["Name"]])
    return found


def test_submit_scan_execute_relay(deployment: Deployment, capsys: pytest.CaptureFixture[str]):
    status, task = deployment.ask(recorded("http_api_post"))
    assert (status, task["status"], task["payload"]) == (201, "PENDING", {"name": "Zoë"})
    assert deployment.sqs_records() == []

    deployment.clock.advance(5 * MINUTE)
    report = deployment.scan(recorded("eventbridge_scheduled"))
    assert (report["claimed"], report["sent"], report["unfinished"]) == (1, 1, False)
    assert deployment.read(task["id"])["status"] == "ENQUEUED"

    [record] = deployment.sqs_records()
    assert deployment.execute([record]) == []
    done = deployment.read(task["id"])
    assert (done["status"], done["result"], done["drift_ms"]) == ("SUCCEEDED", {"name": "Zoë"}, 0)

    capsys.readouterr()
    assert deployment.relay(deployment.stream_records()) == []
    assert metrics(capsys.readouterr().out) == {"Drift": [0.0], "Succeeded": [1.0]}


def test_a_task_that_dies_ends_in_the_dead_letter_queue(deployment: Deployment):
    event = recorded("http_api_post")
    body = json.loads(event["body"]) | {
        "payload": "break",
        "retry": {"max_attempts": 1},
        "delay": 0,
    }
    _, task = deployment.ask(event | {"body": json.dumps(body)})

    receives = 0
    while records := deployment.sqs_records():
        assert deployment.execute(records) == [records[0]["messageId"]]
        receives += 1
        assert receives <= 10

    assert deployment.read(task["id"])["status"] == "DEAD"
    assert deployment.read(task["id"])["attempt"] == 1
    assert receives == 10
    assert [letter["task_id"] for letter in deployment.dead_letters()] == [task["id"]]
