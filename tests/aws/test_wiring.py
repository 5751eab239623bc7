"""Schedules are wired for every role, and loaded by none that meets none."""

import subprocess
import sys
from typing import Any

from lambdas.core.schedules.ports import Stands
from lambdas.core.times import DAY
from lambdas.wiring import aws_adapters
from tests.factories import a_schedule

CODE = """
import sys
import lambdas.wiring
of_schedules = ("lambdas.core.schedules", "lambdas.core.recurrence", "lambdas.aws.schedule")
sys.exit(" ".join(name for name in sys.modules if name.startswith(of_schedules)))
"""


def test_what_reads_schedules_is_not_loaded_at_a_cold_start():
    done = subprocess.run([sys.executable, "-c", CODE], check=False, capture_output=True, text=True)
    assert done.stderr.strip() == ""


def test_they_are_there_when_they_are_needed(dynamodb: Any, table: str):
    adapters = aws_adapters(table=table, queues={}, shards=1, retention=DAY, endpoint_url=None)
    schedule = a_schedule()

    assert adapters.ports.schedules.put([schedule]) == [Stands(schedule)]
    assert adapters.ports.schedules.get([schedule.id]) == {schedule.id: schedule}
    adapters.close()
