"""What the steps and the schedules of these tests run."""

from typing import Any

from duetime import PermanentError, task

failing: set[str] = set()  # the names of those that fail


@task("world.work")
def work(payload: Any) -> Any:
    """Returns its payload, unless that names one that fails."""
    if str(payload) in failing:
        raise PermanentError(f"{payload} is broken")
    return payload
