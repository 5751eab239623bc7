"""A task passes through the four functions."""

import json
from typing import Any

import pytest

from duetime.core.times import MINUTE, SECOND
from tests.lambdas.conftest import Deployment, recorded

DYING = 2 * MINUTE  # the time that `dies` takes, by the clock of the deployment


def metrics(printed: str) -> dict[str, Any]:
    """Returns all metrics that the functions published, by name."""
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
    assert metrics(capsys.readouterr().out) == {
        "FastPath": [0.0],
        "Drift": [0.0],
        "Succeeded": [1.0],
    }


def dies(deployment: Deployment) -> str:
    """Returns a task whose only attempt failed, and whose message is in the dead-letter queue."""
    event = recorded("http_api_post")
    body = json.loads(event["body"]) | {
        "payload": "break",
        "retry": {"max_attempts": 1},
        "delay": 0,
    }
    _, task = deployment.ask(event | {"body": json.dumps(body)})
    receives = 0
    for _ in range(DYING // SECOND):
        while records := deployment.sqs_records():
            assert deployment.execute(records) == [records[0]["messageId"]]
            receives += 1
        deployment.clock.advance(SECOND)
    assert receives == 10
    return task["id"]


def test_a_task_that_dies_ends_in_the_dead_letter_queue(deployment: Deployment):
    task_id = dies(deployment)

    task = deployment.read(task_id)
    assert (task["status"], task["attempt"]) == ("DEAD", 1)
    assert task["error"]["type"] == "ConnectionError"
    assert "raise ConnectionError" in task["error"]["traceback"]
    assert [letter["task_id"] for letter in deployment.dead_letters()] == [task_id]


def test_a_dead_letter_that_the_console_moves_back_runs_its_task_again_once(
    deployment: Deployment,
):
    task_id = dies(deployment)
    letters = deployment.redrive(after=2 * MINUTE, copies=2)
    assert len(letters) == 2
    deployment.clock.advance(2 * MINUTE)

    assert deployment.execute(letters) == [], "SQS is to delete both"

    revived = deployment.read(task_id)
    assert (revived["status"], revived["attempt"]) == ("RETRYING", 1)
    [record] = deployment.sqs_records()
    deployment.execute([record])
    assert deployment.read(task_id)["attempt"] == 2


def test_a_dead_letter_that_is_moved_back_too_soon_goes_to_the_dead_letters_again(
    deployment: Deployment,
):
    task_id = dies(deployment)
    [letter] = deployment.redrive(after=30 * SECOND - DYING)

    assert deployment.execute([letter]) == [letter["messageId"]]
    assert deployment.read(task_id)["status"] == "DEAD"
