"""The wiring of the AWS backend: the schedule store is loaded on first use."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from duetime.aws.backend import aws_adapters
from duetime.core.change import Applied
from duetime.core.times import DAY
from tests.factories import a_schedule

CODE = """
import sys
import duetime.aws.backend
of_schedules = ("duetime.core.schedules", "duetime.core.recurrence", "duetime.aws.schedule")
sys.exit(" ".join(name for name in sys.modules if name.startswith(of_schedules)))
"""


def test_the_schedule_store_is_not_loaded_at_a_cold_start():
    done = subprocess.run([sys.executable, "-c", CODE], check=False, capture_output=True, text=True)
    assert done.stderr.strip() == ""


def test_the_schedule_store_is_loaded_when_it_is_needed(dynamodb: Any, table: str):
    adapters = aws_adapters(table=table, queues={}, shards=1, retention=DAY, endpoint_url=None)
    schedule = a_schedule()

    assert adapters.ports.schedules.put([schedule]) == [Applied(schedule)]
    assert adapters.ports.schedules.get([schedule.id]) == {schedule.id: schedule}
    adapters.close()


CLIENTS = """
import socket, sys
def no_network(*_, **__): raise AssertionError("a function that starts makes no call")
socket.getaddrinfo = socket.create_connection = no_network
from duetime.aws import backend as wiring
import lambdas.{role}
print(*(name for name in ("dynamodb", "sqs") if getattr(wiring, name).cache_info().currsize))
"""
ENVIRONMENT = {
    "AWS_DEFAULT_REGION": "eu-central-1",
    "AWS_ACCESS_KEY_ID": "a",  # a function has credentials
    "AWS_SECRET_ACCESS_KEY": "b",
    "DUETIME_TABLE": "duetime",
    "DUETIME_QUEUES": json.dumps(
        dict.fromkeys(("high", "medium", "low"), "https://sqs.example/1/lane")
    ),
}


@pytest.mark.parametrize(
    ("role", "made"),
    [("api", "dynamodb sqs"), ("scanner", "dynamodb sqs"), ("executor", "dynamodb")],
)
@pytest.mark.parametrize("on_lambda", [True, False])
def test_clients_are_made_while_a_function_starts(role: str, made: str, on_lambda: bool):
    names = {"AWS_LAMBDA_FUNCTION_NAME": role} if on_lambda else {}
    done = subprocess.run(
        [sys.executable, "-c", CLIENTS.format(role=role)],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | ENVIRONMENT | names,
    )
    assert done.stdout.strip() == (made if on_lambda else "")
