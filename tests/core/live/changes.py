"""Status changes to push."""

from typing import Any

from hypothesis import strategies as st

from duetime.core.events import StatusChange
from duetime.core.lanes import Lane
from duetime.core.lifecycle import Status
from tests.strategies import lanes, task_errors, texts

TASK_ID = "01KA5V8Y3M0000000000A1B2C3"


def a_change(**fields: Any) -> StatusChange:
    given: dict[str, Any] = {
        "task_id": TASK_ID,
        "namespace": "shop",
        "name": "restock",
        "target": "shop.restock",
        "lane": Lane.LOW,
        "before": Status.RUNNING,
        "after": Status.DEAD,
        "attempt": 5,
        "at": 1_000,
        "due_at": 900,
        "drift_ms": 3,
        "outcome": None,
        "error": None,
        "has_follow_up": False,
        "schedule_id": None,
    }
    return StatusChange(**{**given, **fields})


few = st.sampled_from(["a", "b", "c"])
changes = st.builds(
    a_change,
    task_id=few,
    namespace=few,
    name=st.none() | texts,
    target=st.none() | few,
    lane=lanes,
    after=st.sampled_from(Status),
    attempt=st.integers(0, 3),
    at=st.integers(0, 3),
    error=st.none() | task_errors,
    occurrence_of=st.none() | few,
    run_id=st.none() | few,
)
