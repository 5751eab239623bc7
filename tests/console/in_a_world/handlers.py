"""What the steps and the schedules of these tests run."""

from typing import Any

from duetime import PermanentError, cron, task

failing: set[str] = set()  # the names of those that fail


@task("shop.work")
def work(payload: Any) -> Any:
    """Returns its payload, unless that names one that fails."""
    if str(payload) in failing:
        raise PermanentError(f"{payload} is broken")
    return payload


@task("shop.report", schedule=cron("0 9 * * *", tz="Europe/Berlin"))
def report() -> None:
    """Has a schedule in code."""
