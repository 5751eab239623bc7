"""Tasks that a handler submits: made once, however often its attempts repeat."""

import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from duetime import (
    BadPayload,
    Conflict,
    Context,
    Invalid,
    Problem,
    Submission,
    Throttled,
    TooLarge,
)
from duetime.core.child_ids import call_of, child_id
from duetime.core.codec import to_json
from duetime.core.errors import Unavailable, WaitInsideHandler
from duetime.core.ids import created_at
from duetime.core.lanes import Lane, Queue
from duetime.core.lifecycle import Status
from duetime.core.limits.definition import Limit, LimitUse
from duetime.core.limits.ports import RECENT
from duetime.core.listings import Listing
from duetime.core.quotas import Grant, Quota, Quotas
from duetime.core.task import Task
from duetime.core.task_filter import TaskFilter
from duetime.core.times import DAY, HOUR, MINUTE, SECOND
from duetime.engine.quotas import QuotaGate
from duetime.executor.children import ChildSubmission
from duetime.executor.executor import Executor
from duetime.executor.targets.python import run_handler
from duetime.sqlite.object_store import MemoryObjectStore
from tests.factories import a_running_task
from tests.handlers.conftest import Shop
from tests.handlers.families import aparent, child, isolated, notes, parent, plan, stepped

TEXT = "x" * 100_000


@pytest.fixture(autouse=True)
def blank() -> Iterator[None]:
    yield
    plan.clear()
    notes.clear()


def run(shop: Shop, *acts: Callable[[Context], Any], handler: Any = parent) -> Task:
    """Submits the parent, and runs its attempts until it has ended. Returns the parent."""
    plan[:] = acts
    task_id = handler.submit().id
    shop.requests.clear()
    for _ in range(20):
        shop.world.deliver()
        if shop.world.status(task_id).finished:
            return shop.world.task(task_id)
        shop.world.advance(10 * SECOND)
    raise AssertionError(shop.world.task(task_id))


def children_of(shop: Shop, task: Task) -> list[Task]:
    """Returns the children, oldest id first, read page by page."""
    listing = Listing(filter=TaskFilter(parent_id=task.id, namespace=None), limit=2)
    found: list[Task] = []
    for _ in range(50):
        page = shop.world.store.page(listing)
        found += page.tasks
        if page.cursor is None:
            return sorted(found, key=lambda t: t.id)
        listing = replace(listing, cursor=page.cursor)
    raise AssertionError("the list has no end")


def numbers(tasks: list[Task]) -> list[int]:
    return sorted(task.spec.payload["n"] for task in tasks)


def failing(act: Callable[[Context], Any]) -> Callable[[Context], Any]:
    def then_fails(ctx: Context) -> None:
        act(ctx)
        raise ConnectionError("after it")

    return then_fails


def refusal_of(shop: Shop, act: Callable[[Context], Any]) -> Any:
    """Returns what the act raises in the handler."""

    def noted(ctx: Context) -> None:
        try:
            act(ctx)
        except Exception as error:  # noqa: BLE001
            notes.append(error)

    done = run(shop, noted)
    assert children_of(shop, done) == []
    [error] = notes
    return error


def test_child_has_its_parent_and_the_defaults_of_its_handler(any_shop: Shop):
    done = run(any_shop, lambda _: child.submit(n=7).id)

    [made] = children_of(any_shop, done)
    assert to_json(made.id) == done.result
    assert made.spec.parent_id == done.id
    assert made.spec.priority is Lane.LOW
    assert (made.spec.timeout, made.spec.retry.max_attempts) == (30.0, 2)
    assert made.spec.tags == {"of": "family"}
    assert created_at(made.id) == done.created_at
    assert any_shop.requests == []
    any_shop.world.deliver()
    assert any_shop.world.task(made.id).result == "7"


def test_options_come_before_the_defaults_and_the_namespace_is_the_parents(shop: Shop):
    at = datetime(2027, 1, 4, 9, tzinfo=UTC)
    options = child.options(priority="high", tags={"a": "b"}, retry={"base_delay": 3})
    options = options.options(name="x", timeout="5m", jitter=1, ordering_key="o")

    def act(_: Context) -> None:
        options.submit_at(at, n=1)
        child.options(namespace="other", expires_at=at + timedelta(days=1)).submit_at(at, n=2)

    plan[:] = [act]
    task_id = parent.options(namespace="shop").submit().id
    shop.world.deliver()

    made = {t.spec.payload["n"]: t.spec for t in children_of(shop, shop.world.task(task_id))}
    assert made[1].namespace == "shop"
    assert made[2].namespace == "other"
    assert made[1].priority is Lane.HIGH
    assert made[1].tags == {"of": "family", "a": "b"}
    assert (made[1].retry.max_attempts, made[1].retry.base_delay) == (2, 3.0)
    assert (made[1].name, made[1].timeout, made[1].jitter) == ("x", 300.0, 1.0)
    assert made[1].ordering_key == "o"
    assert made[1].run_at == int(at.timestamp() * 1000)
    assert made[2].expires_at == made[2].run_at + DAY


def test_child_is_under_the_limits_that_it_names(any_shop: Shop):
    limits = any_shop.world.ports.limits
    limits.put(Limit(namespace="default", name="stripe", concurrency=1))
    options = child.options(limits=[{"name": "stripe", "key": "acct-7"}], fairness_key="f")

    done = run(any_shop, lambda _: options.submit(n=1).id)

    [made] = children_of(any_shop, done)
    assert made.spec.limits == (LimitUse(name="stripe", key="acct-7"),)
    assert made.spec.fairness_key == "f"


def test_child_with_an_unknown_limit_is_refused(any_shop: Shop):
    options = child.options(limits=[{"name": "stripe"}])

    error = refusal_of(any_shop, lambda _: options.submit(n=1))

    assert isinstance(error, Invalid)
    assert [e.field for e in error.errors] == ["limits.0.name"]


def test_child_of_an_earlier_attempt_is_found_although_its_limit_was_deleted(any_shop: Shop):
    limits = any_shop.world.ports.limits
    limit = limits.put(Limit(namespace="default", name="stripe", concurrency=1))
    options = child.options(limits=[{"name": "stripe"}])

    def delete_and_submit(_: Context) -> str:
        limits.delete(limit)
        any_shop.world.advance(RECENT)
        return options.submit(n=1).id

    done = run(any_shop, failing(lambda _: options.submit(n=1)), delete_and_submit)

    [made] = children_of(any_shop, done)
    assert done.result == to_json(made.id)


def test_attempt_that_repeats_its_submissions_submits_nothing_again(any_shop: Shop):
    def act(_: Context) -> list[str]:
        one, two = child.submit(n=1), child.submit_in("1h", n=2)
        many = child.submit_many([{"n": 3}, {"n": 4}])
        return [s.id for s in (one, two, *many) if isinstance(s, Submission)]

    seen: list[list[str]] = []
    done = run(any_shop, failing(lambda c: seen.append(act(c))), lambda c: seen.append(act(c)))

    assert done.attempt == 2
    assert seen[0] == seen[1]
    assert len(set(seen[0])) == 4
    made = children_of(any_shop, done)
    assert numbers(made) == [1, 2, 3, 4]
    assert {t.id for t in made} == set(seen[0])


def test_equal_calls_of_an_attempt_are_several_children(shop: Shop):
    def act(_: Context) -> None:
        child.submit(n=1)
        child.submit(n=1)
        child.submit_many([{"n": 1}, {"n": 2}])

    done = run(shop, failing(act), act)

    assert numbers(children_of(shop, done)) == [1, 1, 1, 2]


def test_attempt_that_submits_in_another_order_loses_no_child(shop: Shop):
    first = failing(lambda _: [child.submit(n=n) for n in (1, 2)])
    done = run(shop, first, lambda _: [child.submit(n=n) for n in (3, 2, 1)])

    assert numbers(children_of(shop, done)) == [1, 2, 3]


def test_step_names_a_child_whatever_its_payload_is(any_shop: Shop):
    def act(ctx: Context) -> None:
        ctx.submit(child, n=ctx.attempt, step="first")
        child.options(step="second").submit_in("1h", n=10 * ctx.attempt)
        for n in range(2):
            ctx.submit(child.options(priority="high"), n=100 * ctx.attempt + n, step="loop")

    done = run(any_shop, failing(act), act)

    assert numbers(children_of(any_shop, done)) == [1, 10, 100, 101]


def test_child_that_differs_between_attempts_and_has_no_step_is_another(shop: Shop):
    def act(ctx: Context) -> None:
        ctx.submit(child, n=ctx.attempt)

    done = run(shop, failing(act), act)

    assert numbers(children_of(shop, done)) == [1, 2]


def test_executor_that_died_after_submitting_leaves_no_second_child(any_shop: Shop):
    """Its lease ends, and the next attempt submits again."""
    world = any_shop.world
    plan[:] = [lambda _: child.submit(n=1).id]
    task_id = parent.submit().id
    [lost] = world.lease()
    world.executor.run_target(lost)  # and is never recorded
    world.purge()
    for _ in range(10):
        world.advance(MINUTE)
        world.tick()
        world.deliver()

    done = world.task(task_id)
    assert (done.status, done.attempt) == (Status.SUCCEEDED, 2)
    assert numbers(children_of(any_shop, done)) == [1]


def test_attempt_that_has_lost_its_lease_finds_the_same_child(shop: Shop):
    world = shop.world
    plan[:] = [lambda _: child.submit(n=1).id]
    task_id = parent.submit().id
    [lost] = world.lease()
    world.purge()
    for _ in range(10):
        world.advance(MINUTE)
        world.tick()
        world.deliver()
    late = world.executor.run_target(lost)

    done = world.task(task_id)
    assert done.result == late.result
    assert numbers(children_of(shop, done)) == [1]


def test_redriven_parent_finds_the_children_of_its_first_life(shop: Shop):
    act = failing(lambda _: child.submit(n=1))
    done = run(shop, act)
    assert done.status is Status.DEAD

    plan[:] = [lambda _: child.submit(n=1).id]
    shop.client.retry(done.id)
    shop.world.deliver()

    assert shop.world.status(done.id) is Status.SUCCEEDED
    assert numbers(children_of(shop, done)) == [1]


def test_store_that_does_not_answer_fails_the_attempt_and_nothing_is_doubled(shop: Shop):
    def act(_: Context) -> None:
        child.submit(n=1)
        shop.world.store.silent = True
        child.submit_many([{"n": 2}])

    done = run(shop, act, lambda _: [child.submit(n=n) for n in (1, 2)])

    [failed, _] = shop.world.attempts(done.id)
    assert failed.error.type == "Unavailable"
    assert numbers(children_of(shop, done)) == [1, 2]


def test_child_is_sent_to_its_lane_at_once_or_waits_for_the_scanner(shop: Shop):
    plan[:] = [lambda _: [child.submit(n=1), child.submit_in("2h", n=2)]]
    task_id = parent.submit().id
    shop.world.deliver()

    made = {t.spec.payload["n"]: t for t in children_of(shop, shop.world.task(task_id))}
    assert made[1].status is Status.ENQUEUED
    assert made[2].status is Status.PENDING
    assert made[2].due_at == made[2].created_at + 2 * HOUR
    assert shop.world.lanes.depth(Queue(Lane.LOW)).ready == 1


def test_child_of_a_child_has_that_as_its_parent(shop: Shop):
    def act(ctx: Context) -> None:
        if len(notes) < 2:
            notes.append(parent.submit().id)

    top = run(shop, act)
    shop.world.deliver()
    shop.world.deliver()

    [middle] = children_of(shop, top)
    [low] = children_of(shop, middle)
    assert [middle.id, low.id] == notes
    assert children_of(shop, low) == []


def test_async_handler_submits_like_a_plain_one(any_shop: Shop):
    done = run(any_shop, handler=aparent)

    made = children_of(any_shop, done)
    assert done.attempt == 2
    assert numbers(made) == [1, 2, 3, 4]
    assert done.result is not None
    assert {f'"{t.id}"' for t in made} == set(done.result.strip("[]").split(","))
    assert notes[0] == "ENQUEUED"


def test_isolated_handler_submits_over_its_pipe(shop: Shop):
    done = run(shop, handler=isolated)

    made = children_of(shop, done)
    assert done.status is Status.SUCCEEDED, done.current
    assert numbers(made) == [1, 1]  # both from the first attempt
    result = shop.client.get(done.id)["result"]
    assert sorted(result["ids"]) == [t.id for t in made]
    assert result["status"] == "RUNNING"
    assert result["refused"].startswith("Invalid: ")
    assert "priority" in result["refused"]
    assert "must not wait" in result["waited"]


def test_threads_of_a_handler_submit_with_its_context(shop: Shop):
    def act(ctx: Context) -> None:
        threads = [
            threading.Thread(target=ctx.submit, args=(child,), kwargs={"n": n % 2})
            for n in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    done = run(shop, failing(act), act)

    assert numbers(children_of(shop, done)) == [0] * 4 + [1] * 4


def test_wait_inside_a_handler_raises_at_once(shop: Shop):
    before = child.submit(n=5)

    def act(_: Context) -> None:
        for waiting in (child.submit(n=1), child.submission(before.id), before):
            with pytest.raises(WaitInsideHandler, match="must not wait"):
                waiting.wait(timeout=0)
        notes.append(child.submission(before.id).status())

    done = run(shop, act)

    assert done.status is Status.SUCCEEDED, done.current
    assert notes[0] in ("ENQUEUED", "RUNNING", "SUCCEEDED")


REFUSED = [
    ("priority", lambda: child.options(priority="urgent").submit(n=1)),
    ("delay", lambda: child.submit_in(timedelta(days=4000), n=1)),
    ("run_at", lambda: child.submit_at(datetime(2999, 1, 1, tzinfo=UTC), n=1)),
    ("timeout", lambda: child.options(timeout=0.5).submit(n=1)),
    ("timeout", lambda: child.options(timeout="9d").submit(n=1)),
    ("retry.max_attempts", lambda: child.options(retry={"max_attempts": 0}).submit(n=1)),
    ("retry.tries", lambda: child.options(retry={"tries": 1}).submit(n=1)),
    ("namespace", lambda: child.options(namespace="a b").submit(n=1)),
    ("idempotency_key", lambda: child.options(key="k" * 129).submit(n=1)),
    ("tags", lambda: child.options(tags={str(n): "" for n in range(10)}).submit(n=1)),
    ("expires_at", lambda: child.options(expires_at="2020-01-01T00:00:00Z").submit(n=1)),
    ("id", lambda: child.options(id="01M7H64P7KAAJZWRTDWAWEWR1E").submit(n=1)),
    ("unique", lambda: child.options(unique={"key": "k"}).submit(n=1)),
    ("step", lambda: child.options(step="").submit(n=1)),
]


@pytest.mark.parametrize(("field", "act"), REFUSED, ids=[str(n) for n in range(len(REFUSED))])
def test_bad_option_raises_with_its_field_and_nothing_is_stored(shop: Shop, field: str, act: Any):
    error = refusal_of(shop, lambda _: act())

    assert isinstance(error, Invalid)
    assert [one.field for one in error.errors] == [field]
    assert field in str(error)


def test_payload_that_does_not_fit_raises_before_anything_is_stored(shop: Shop):
    error = refusal_of(shop, lambda _: child.submit_many([{"n": 1}, {"n": "many"}]))

    assert isinstance(error, BadPayload)


def test_handler_that_the_executor_does_not_know_is_refused(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(
        "duetime.handlers.registry._handlers", {"family.parent": parent, "family.chile": stepped}
    )

    error = refusal_of(shop, lambda _: child.submit(n=1))

    assert isinstance(error, Invalid)
    assert "target.handler: no handler 'family.child'" in str(error)
    assert "did you mean 'family.chile'?" in str(error)


def test_bad_task_of_many_is_a_problem_and_the_others_are_stored(shop: Shop):
    def act(_: Context) -> None:
        notes.extend(child.options(timeout=0.1).submit_many([{"n": 1}]))
        notes.extend(child.submit_many([{"n": 2}]))

    done = run(shop, act)

    assert isinstance(notes[0], Problem)
    assert (notes[0].status, notes[0].errors[0].field) == (422, "timeout")
    assert numbers(children_of(shop, done)) == [2]


def test_child_that_can_no_longer_be_submitted_is_found_by_the_next_attempt(shop: Shop):
    """What expires has been valid in the first attempt."""
    soon = datetime.fromtimestamp(shop.world.clock.now() / 1000 + 3, UTC)

    def act(_: Context) -> str:
        return child.options(expires_at=soon).submit(n=1).id

    done = run(shop, failing(act), act)

    [made] = children_of(shop, done)
    assert done.result == to_json(made.id)


def test_idempotency_key_of_a_child_holds_for_other_submitters_too(shop: Shop):
    first = child.options(key="once").submit(n=1)

    def act(ctx: Context) -> None:
        notes.append(child.options(key="once").submit(n=1).id)
        notes.append(ctx.submit(child.options(key="mine"), n=ctx.attempt, step="s").id)
        with pytest.raises(Conflict):
            child.options(key="once").submit(n=2)

    done = run(shop, failing(act), act)

    [made] = children_of(shop, done)
    assert notes == [first.id, made.id] * 2
    assert (made.spec.idempotency_key, made.spec.payload) == ("mine", {"n": 1})


def test_task_that_has_a_childs_id_and_is_no_child_is_a_conflict(shop: Shop):
    """Ids can be guessed by who knows the parent; such a task is not taken for the child."""

    def act(ctx: Context) -> None:
        me = shop.world.task(ctx.task_id)
        taken = child_id(me, call_of(None, "family.child", {"n": 1}), 0)
        shop.client.submit(id=taken, target={"type": "python", "handler": "family.child"})
        with pytest.raises(Conflict, match="The id is taken"):
            child.submit(n=1)

    done = run(shop, act)

    assert done.status is Status.SUCCEEDED, done.current
    assert children_of(shop, done) == []


def test_large_payload_of_a_child_is_an_object(shop: Shop):
    objects = MemoryObjectStore()
    shop.world.executor = Executor(
        replace(shop.world.ports, objects=objects), {"python": run_handler}
    )

    def act(_: Context) -> None:
        child.submit(n=1, text="x" * 300_000)

    done = run(shop, failing(act), act)

    [made] = children_of(shop, done)
    assert made.spec.payload is None
    assert made.spec.payload_object is not None


def test_large_payload_is_refused_where_there_is_no_place_for_it(shop: Shop):
    error = refusal_of(shop, lambda _: child.submit(text="x" * 300_000))

    assert isinstance(error, TooLarge)


class FewTasks:
    """A quota store that grants a number of tasks in all."""

    def __init__(self, granted: int) -> None:
        self.left = granted

    def take(self, namespace: str, rate: Any, wanted: int) -> Grant:
        granted = min(wanted, self.left)
        self.left -= granted
        return Grant(granted=granted)

    def admit(self, namespace: str, limit: int, wanted: int) -> int:
        return wanted

    def stored(self, namespace: str) -> int | None:
        return None


def test_quota_of_the_namespace_holds_for_children(shop: Shop):
    quotas = Quotas(named={"default": Quota(submissions_per_second=1)})
    gate = QuotaGate(quotas=quotas, store=FewTasks(1))
    shop.world.executor = Executor(
        shop.world.ports, {"python": run_handler}, children=ChildSubmission(quotas=gate)
    )

    def act(_: Context) -> None:
        child.submit(n=1)
        with pytest.raises(Throttled) as caught:
            child.submit(n=2)
        assert caught.value.retry_after == 1

    done = run(shop, failing(act), lambda _: child.submit(n=1).id)

    [made] = children_of(shop, done)
    assert done.result == to_json(made.id)  # a repeated submission is no new task


def test_longest_timeout_of_the_executors_holds_for_children(shop: Shop):
    how = ChildSubmission(longest_timeout=60)
    shop.world.executor = Executor(shop.world.ports, {"python": run_handler}, children=how)

    error = refusal_of(shop, lambda _: child.options(timeout=61).submit(n=1))

    assert "timeout: must be at most 60 seconds here" in str(error)


def test_step_outside_of_a_handler_is_refused(shop: Shop):
    with pytest.raises(ValueError, match="step: names a submission of a running handler"):
        child.options(step="a").submit(n=1)
    assert shop.requests == []


def test_step_of_a_handler_with_such_a_parameter_is_an_option(shop: Shop):
    def act(ctx: Context) -> None:
        with pytest.raises(TypeError, match="has a parameter `step`"):
            ctx.submit(stepped, step="mine")
        stepped.options(step="mine").submit(step="theirs")

    done = run(shop, act)

    [made] = children_of(shop, done)
    assert made.spec.payload == {"step": "theirs"}


def test_context_without_an_executor_cannot_submit():
    ctx = Context(a_running_task())

    with pytest.raises(RuntimeError, match="no executor"):
        ctx.submit(child, n=1)


def test_store_that_fails_is_unavailable_in_an_isolated_handler(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
):
    def down(*_: Any) -> Any:
        raise Unavailable("the disk is full")

    monkeypatch.setattr("duetime.executor.children.Children.submit", down)
    task_id = isolated.submit().id
    shop.world.deliver()

    failed = shop.world.task(task_id).last_failure
    assert failed is not None
    assert (failed.error.type, failed.error.message) == ("Unavailable", "the disk is full")
    assert "families.py" in failed.error.traceback, "the handler may catch it"


def test_api_shows_and_lists_children(any_shop: Shop):
    done = run(any_shop, lambda _: [child.submit(n=n) for n in range(3)])
    other = run(any_shop, lambda _: child.submit(n=9))

    listed = list(any_shop.client.list(parent_id=done.id))
    assert len(listed) == 3
    assert {t["parent_id"] for t in listed} == {done.id}
    summaries = list(any_shop.client.list(parent_id=other.id, fields="summary"))
    assert [t["parent_id"] for t in summaries] == [other.id]
    assert any_shop.client.get(done.id)["parent_id"] is None
    assert any_shop.client.get(listed[0]["id"])["parent_id"] == done.id


def test_parent_cannot_be_given_to_the_api(shop: Shop):
    with pytest.raises(Invalid, match="parent_id: unknown field"):
        shop.client.submit(
            target={"type": "python", "handler": "family.child"},
            parent_id="01M7H64P7KAAJZWRTDWAWEWR1E",
        )
    with pytest.raises(Invalid, match="parent_id: must be the id of a task"):
        list(shop.client.list(parent_id="nonsense"))


WITHOUT_LIBRARIES = """
import sys
sys.modules |= dict.fromkeys(("pydantic", "pydantic_core", "httpx", "boto3"))  # not installed
import duetime
from duetime.executor.executor import Executor
from duetime.executor.targets.python import run_handler
from duetime.core.lanes import Queue
from duetime.core.ports import Ports
from duetime.core.listings import Listing
from duetime.core.wake_policy import WakePolicy
from duetime.engine.clock import SystemClock, SystemRandom
from duetime.engine.submission import Submission, TaskRequest
from duetime.core.task import Spec
from duetime.sqlite.lane_queue import MemoryLaneQueue
from duetime.sqlite.task_store import SqliteTaskStore
from duetime.executor.runs import Admitted

@duetime.task("child")
def child(n: int) -> int:
    return n

@duetime.task("parent")
def parent(n: int) -> str:
    return child.submit(n).id

clock, store = SystemClock(), SqliteTaskStore(None)
store.shards(clock.now())
ports = Ports(
    store=store, schedules=store.schedules(clock), limits=store.limits(),
    lanes=MemoryLaneQueue(clock),
    wake_policy=WakePolicy(shards=1), clock=clock, chance=SystemRandom(),
)
spec = Spec(target={"type": "python", "handler": "parent"}, payload={"n": 7}, run_at=clock.now())
[submitted] = Submission(ports).submit([TaskRequest(spec=spec, body_hash="")])
executor = Executor(ports, {"python": run_handler})
[message] = ports.lanes.receive(Queue(spec.priority), 1, 1)
[run] = executor.record_and_lease(due=[Admitted(message=message)]).started
ended = executor.run_target(run)
assert ended.failure is None, ended.failure
print(sorted(task.spec.payload["n"] for task in store.page(Listing()).tasks))
"""


def test_children_need_no_library():
    """The bundle of the executors has neither pydantic nor, in the cold path, the HTTP client."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_LIBRARIES], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("[7, 7]\n", "")


def test_attempt_does_not_keep_the_payloads_of_its_children(shop: Shop):
    kept: list[int] = []

    def act(ctx: Context) -> None:
        child.submit(text="warm up")
        tracemalloc.start()
        try:
            before, _ = tracemalloc.get_traced_memory()
            for n in range(20):
                child.options(priority="low").submit_many([{"n": n, "text": TEXT}])
            kept.append(tracemalloc.get_traced_memory()[0] - before)
        finally:
            tracemalloc.stop()

    run(shop, act)

    assert kept[0] < 10 * len(TEXT)
