"""A function that only stores or reads a recurrence does not wait for what evaluates it."""

import subprocess
import sys

import pytest

SLOW = {"croniter", "dateutil", "zoneinfo", "tzdata", "importlib.resources"}


def loaded_by(statement: str) -> set[str]:
    told = "import sys; print(*sys.modules)"
    run = [sys.executable, "-c", f"{statement}\n{told}"]
    return set(subprocess.run(run, capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.parametrize("module", ["rules", "codec", "fire_times", "told"])
def test_nothing_slow_is_imported_before_it_is_needed(module):
    assert SLOW.isdisjoint(loaded_by(f"import lambdas.core.recurrence.{module}"))


def test_the_first_question_loads_it():
    question = (
        "from lambdas.core.recurrence.rules import *\n"
        "from lambdas.core.recurrence.fire_times import next_fire\n"
        "next_fire(Recurrence(rules=(CronRule(expression='* * * * *'),)), 0)"
    )

    assert {"croniter", "zoneinfo"} <= loaded_by(question)
