"""Storing or reading a recurrence imports nothing that only its evaluation needs."""

import subprocess
import sys

import pytest

SLOW = {"croniter", "dateutil", "zoneinfo", "tzdata", "importlib.resources"}


def loaded_by(statement: str) -> set[str]:
    print_modules = "import sys; print(*sys.modules)"
    run = [sys.executable, "-c", f"{statement}\n{print_modules}"]
    return set(subprocess.run(run, capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.parametrize("module", ["rules", "codec", "fire_times", "describe", "dst_notes"])
def test_croniter_and_time_zones_are_not_imported_before_they_are_needed(module):
    assert SLOW.isdisjoint(loaded_by(f"import duetime.core.recurrence.{module}"))


def test_first_call_imports_croniter_and_time_zones():
    question = (
        "from duetime.core.recurrence.rules import *\n"
        "from duetime.core.recurrence.fire_times import next_fire\n"
        "next_fire(Recurrence(rules=(CronRule(expression='* * * * *'),)), 0)"
    )

    assert {"croniter", "zoneinfo"} <= loaded_by(question)
