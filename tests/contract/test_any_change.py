"""For any task and any change, a store does what the core says."""

from dataclasses import fields
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from duetime.core.change import Answer, Applied, Change, Expect, Refused
from duetime.core.codec import to_json
from duetime.core.lifecycle import TRANSITIONS, Outcome, Status, Step, sources
from duetime.core.listings import DeadListing
from duetime.core.suspension import Suspension, WaitsFor
from duetime.core.task import Attempt, Task, TaskError
from duetime.core.wakes import WakeKind
from tests.contract.conftest import OpenStores
from tests.factories import NOW, WAKE_POLICY, a_spec, a_task, an_id
from tests.strategies import json_values, limit_uses, progresses, promotions, task_errors, texts

# Narrow ranges, so that an expected value often equals the stored one.
times = st.integers(NOW - 3, NOW + 3)
counts = st.integers(0, 2)
names = st.sampled_from(["one", "two"])
long_errors = st.sampled_from(
    [
        TaskError(type="Long", message="warum? " * 100),
        TaskError(type="Deep", message="warum?", traceback="darum\n" * 100),
    ]
)
attempts = st.builds(
    Attempt,
    number=counts,
    started_at=times,
    drift_ms=counts,
    finished_at=st.none() | times,
    outcome=st.none() | st.sampled_from(Outcome),
    error=st.none() | task_errors | long_errors,
)
suspensions = st.builds(Suspension, kind=st.sampled_from(WaitsFor), id=names, run_attempt=counts)
specs = st.builds(
    a_spec,
    payload=json_values | st.sampled_from(["p" * 1_000, "q" * 3_000]),
    expires_at=st.none() | times,
    name=st.none() | texts,
    limits=st.lists(limit_uses, max_size=2).map(tuple),
    fairness_key=st.none() | texts,
)
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "spec": specs,
    "status": st.sampled_from(Status),
    "token": names,
    "due_at": times,
    "wake": st.none() | st.tuples(st.sampled_from(WakeKind), times),
    "updated_at": times,
    "budget": counts,
    "attempt": counts,
    "lease_until": st.none() | times,
    "holder": st.none() | names,
    "current": st.none() | attempts,
    "previous": st.none() | attempts,
    "cancel_requested": st.booleans(),
    "sends": counts,
    "skips": counts,
    "progress": st.none() | progresses,
    "result": st.none() | json_values.map(to_json) | st.just(to_json("r" * 1_000)),
    "reason": st.none() | texts.filter(bool),
    "promoted": st.none() | promotions,
    "held": st.none() | st.integers(-1, 1),
    "grant": st.none() | times,
    "suspended": st.none() | suspensions,
}
NEVER_CHANGE = {"id", "created_at", "body_hash"}
field_values = st.fixed_dictionaries(FIELDS)
EXPECTED = ("token", "wake", "holder", "attempt", "lease_until", "suspended")


def in_full(task_id: str, values: dict[str, Any]) -> dict[str, Any]:
    if values["wake"] is None:
        return values
    kind, at = values["wake"]
    wake = WAKE_POLICY.wake(kind, task_id, a_spec().priority, at, now=NOW)
    return values | {"wake": wake}


@st.composite
def tasks_and_changes(draw: st.DrawFn) -> tuple[Task, Change]:
    task_id = an_id()
    found, other = (in_full(task_id, draw(field_values)) for _ in range(2))
    task = a_task(id=task_id, **found)
    expected = {
        name: draw(st.sampled_from([None, found[name], found[name], other[name]]))
        for name in EXPECTED
    }
    step = draw(st.sampled_from(_fitting(task.status) or list(Step)))
    written = draw(st.sets(st.sampled_from(sorted(FIELDS)), min_size=1)) | _always_written(step)
    if step is Step.FOLLOW_UP:  # a finished task does not change
        written = {"wake"}
    if step is Step.SUPERSEDE:
        written = {"token", "reason"}
    other["status"] = draw(st.sampled_from(_results(step)))
    keeps_attempt = task.current is not None and "previous" not in written and draw(st.booleans())
    change = Change(
        step=step,
        task_id=task_id,
        expect=Expect(
            statuses=draw(st.sampled_from([sources(step), sources(step) - {task.status}])),
            unexpired_at=draw(st.none() | times),
            **expected,
        ),
        sets={name: other[name] for name in sorted(written)},
        keeps_attempt=keeps_attempt,
    )
    return task, change


def _always_written(step: Step) -> set[str]:
    """The steps that end or revive a task always write its status and the time."""
    ends = all(after.finished for after in _results(step))
    return {"status", "updated_at"} if ends or step is Step.REVIVE else set()


def _results(step: Step) -> list[Status]:
    return sorted(frozenset().union(*TRANSITIONS[step].values()))


def _fitting(status: Status) -> list[Step]:
    return [step for step in Step if status in sources(step)]


def meaning(task: Task, change: Change) -> Answer:
    if change.expect.holds(task):
        return Applied(change.applied_to(task))
    return Applied(task) if change.already_in(task) else Refused(task)


@given(case=tasks_and_changes())
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_a_store_agrees_with_the_core(open_stores: OpenStores, case: tuple[Task, Change]):
    """Each example has a store of its own. In one store for all, every example would read the dead
    tasks of those before it, and shrinking a failure would take minutes without output."""
    task, change = case
    expected = meaning(task, change)
    with open_stores() as stores:
        stores.tasks.put([task])

        assert stores.tasks.apply([change]) == [expected]
        assert stores.tasks.get([task.id]) == {task.id: expected.stored}
        dead = stores.tasks.dead(DeadListing(limit=10)).tasks
        assert dead == ([expected.stored] if expected.stored.status is Status.DEAD else [])


def test_every_field_that_may_change_is_drawn():
    assert set(FIELDS) == {f.name for f in fields(Task)} - NEVER_CHANGE
