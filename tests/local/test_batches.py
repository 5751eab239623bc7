"""Batches that another process reads: the same tasks, rows and answers as those of the API."""

import json
import logging
import os
import signal
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from duetime.api.app import Api
from duetime.api.http import Request, Response
from duetime.core.allowed_targets import AllowedTargets
from duetime.core.errors import Unavailable
from duetime.core.lanes import Lane, Queue
from duetime.core.lifecycle import Status
from duetime.core.ports import Ports
from duetime.core.steps.lease import LENGTH
from duetime.core.task import Task
from duetime.core.task_json import task_json
from duetime.core.time_limits import TimeLimits
from duetime.core.wake_policy import WakePolicy
from duetime.engine.clock import SystemClock, SystemRandom
from duetime.executor.new_tasks import NewTasks
from duetime.executor.worker_pool import WorkerPool
from duetime.local.batches import process as process_module
from duetime.local.batches.process import LEAST, BatchProcess
from duetime.local.batches.protocol import ReadBatch, Setup, unpack
from duetime.local.batches.reading import BatchReading
from duetime.local.batches.submission import BatchSubmission
from duetime.sqlite.lane_queue import MemoryLaneQueue
from duetime.sqlite.new_rows import NewRows
from duetime.sqlite.task_store import SqliteTaskStore
from tests.factories import a_listing

HANDLER = "shop.restock"
PYTHON = {"type": "python", "handler": HANDLER}
POOL = "batch"
POLICY = WakePolicy(shards=4)
SETUP = Setup(
    wake_policy=POLICY,
    time_limits=TimeLimits(3_600, {POOL: 86_400}),
    targets=AllowedTargets(patterns={}),
)
HANDLERS: dict[str, Any] = {HANDLER: {}}


def body_of(*tasks: Any) -> bytes:
    return json.dumps({"tasks": tasks}).encode()


@pytest.fixture
def reading() -> BatchReading:
    made = BatchReading(SETUP)
    made.handlers = HANDLERS
    return made


@pytest.fixture
def store() -> Iterator[SqliteTaskStore]:
    made = SqliteTaskStore(None)
    yield made
    made.close()


class Runner:
    """The API of a runner over SQLite, with batches that `read` reads."""

    def __init__(self, store: SqliteTaskStore, read: Any, pool: WorkerPool | None = None) -> None:
        clock = SystemClock()
        self.lanes = MemoryLaneQueue(clock)
        self.ports = Ports(
            store=store,
            schedules=store.schedules(clock),
            limits=store.limits(),
            lanes=self.lanes,
            wake_policy=POLICY,
            clock=clock,
            chance=SystemRandom(),
            slots=store.slots(),
            runs=store.runs(),
            pools=SETUP.time_limits.pools,
        )
        self.batches = BatchSubmission(self.ports, store.queue_new, read, pool)
        self.api = Api(
            self.ports,
            handlers=lambda: HANDLERS,
            version="1",
            longest_timeout=3_600,
            targets=SETUP.targets,
            batches=self.batches,
        )

    def submit(self, body: bytes, media_type: str = "application/json") -> Response:
        headers = {"content-type": media_type}
        path = "/v1/tasks/batch"
        return self.api.call(Request(method="POST", path=path, headers=headers, body=body))


def in_this_process(reading: BatchReading) -> Any:
    return lambda body: unpack(reading.read(body))


def answers(response: Response) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = json.loads(response.encoded())["results"]
    return results


READABLE: Sequence[dict[str, Any]] = (
    {"target": PYTHON},
    {"target": PYTHON, "payload": {"items": ["tea", 1, 1.5, None, True], "größe": "é"}},
    {"target": PYTHON, "payload": {"items": []}},
    {"target": PYTHON, "payload": 0, "priority": "high", "tags": {"team": "growth", "x": "y"}},
    {"target": PYTHON, "pool": POOL, "timeout": 7_200, "fairness_key": "a"},
    {"target": PYTHON, "delay": 60, "jitter": 5, "name": "later", "namespace": "shop"},
    {"target": PYTHON, "retry": {"max_attempts": 3}, "run_at": "2020-01-01T00:00:00Z"},
    {"target": {"type": "http", "url": "http://127.0.0.1:1/x"}, "payload": [1]},
)


def test_batch_that_another_process_has_read_is_stored_as_the_api_stores_it(
    reading: BatchReading, store: SqliteTaskStore
):
    read: list[ReadBatch] = []

    def noted(body: bytes) -> ReadBatch | None:
        batch = unpack(reading.read(body))
        assert batch is not None
        read.append(batch)
        return batch

    runner = Runner(store, noted)
    results = answers(runner.submit(body_of(*READABLE)))

    tasks = read[0].tasks
    stored = store.get([task.id for task in tasks])
    assert [stored[task.id] for task in tasks] == list(tasks)
    assert [r["status"] for r in results] == [201] * len(READABLE)
    assert [r["task"] for r in results] == [json.loads(json.dumps(task_json(t))) for t in tasks]
    assert [r["task"]["payload"] for r in results] == [t.get("payload") for t in READABLE]
    assert [task.id for task in store.page(a_listing(tags=("team:growth",))).tasks] == [tasks[3].id]
    sent = [runner.lanes.depth(Queue(lane, pool)) for lane in Lane for pool in (None, POOL)]
    assert sum(depth.ready + depth.delayed for depth in sent) == len(READABLE)


def test_tasks_that_another_process_has_read_are_those_that_the_api_reads(
    reading: BatchReading, store: SqliteTaskStore
):
    other = SqliteTaskStore(None)
    by_api = answers(Runner(store, lambda body: None).submit(body_of(*READABLE)))
    by_process = answers(Runner(other, in_this_process(reading)).submit(body_of(*READABLE)))
    other.close()

    drawn = ("id", "run_at", "due_at", "created_at", "updated_at")  # or read from the clock
    for ours, theirs in zip(by_api, by_process, strict=True):
        for name in drawn:
            del ours["task"][name], theirs["task"][name]
    assert by_process == by_api


@pytest.mark.parametrize(
    "other",
    [
        {"target": PYTHON, "idempotency_key": "k"},
        {"target": PYTHON, "unique": {"key": "k"}},
        {"target": PYTHON, "ordering_key": "k"},
        {"target": PYTHON, "limits": [{"name": "crm"}]},
        {"target": PYTHON, "id": SystemRandom().new_id(SystemClock().now())},
        {"target": PYTHON, "delay": 3_600},
        {"target": PYTHON, "timeout": 0},
        {"target": PYTHON, "payload": "x" * 3_000},
        {"target": PYTHON, "payload": "x" * (256 * 1024 + 1)},
        {"target": {"type": "python", "handler": "nobody"}},
        {"target": {"type": "workflow", "workflow": "nightly"}},
        {
            "target": {
                "type": "http",
                "url": "http://127.0.0.1/",
                "headers": {"a": {"$secret": "b"}},
            }
        },
        {"target": {"type": "sqs", "queue": "q"}},
        "no task",
    ],
    ids=lambda value: f"{value!s:.60}",
)
def test_batch_that_needs_the_store_or_is_refused_is_left_to_the_api(
    reading: BatchReading, other: Any
):
    assert unpack(reading.read(body_of(READABLE[0], other))) is None
    assert unpack(reading.read(body_of(READABLE[0]))) is not None, "and the next one is read"


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"tasks": []}', b'{"tasks": [1], "x": 2}'])
def test_body_that_is_no_batch_is_left_to_the_api(reading: BatchReading, body: bytes):
    assert unpack(reading.read(body)) is None


def test_batch_with_a_taken_id_is_stored_by_the_api_instead(
    reading: BatchReading, store: SqliteTaskStore
):
    first = unpack(reading.read(body_of(READABLE[0], READABLE[1])))
    assert first is not None
    runner = Runner(store, lambda body: first)
    runner.submit(body_of(READABLE[0], READABLE[1]))
    results = answers(runner.submit(body_of(READABLE[0], READABLE[1])))

    ids = [result["task"]["id"] for result in results]
    assert set(ids).isdisjoint(task.id for task in first.tasks)
    assert len(store.page(a_listing()).tasks) == 4


def test_body_of_another_media_type_is_left_to_the_api(
    reading: BatchReading, store: SqliteTaskStore
):
    runner = Runner(store, in_this_process(reading))

    assert runner.submit(body_of(READABLE[0]), "text/plain").status == 415
    assert not store.page(a_listing()).tasks


def test_store_without_an_answer_answers_each_task_with_503(
    reading: BatchReading, store: SqliteTaskStore, monkeypatch: pytest.MonkeyPatch
):
    def fail(tasks: Sequence[Task], rows: NewRows) -> Any:
        raise Unavailable("the disk is full")

    runner = Runner(store, in_this_process(reading))
    monkeypatch.setattr(runner.batches, "_queue_new", fail)
    response = runner.submit(body_of(*READABLE[:2]))

    assert response.status == 200
    assert [result["status"] for result in answers(response)] == [503, 503]
    assert "the disk is full" in answers(response)[0]["error"]["detail"]


class Pool:
    """Takes the place of the worker pool: starts as many new tasks as it has slots, with holders
    of the test, or none, or gets no answer from the store."""

    def __init__(self, slots: int, clock: SystemClock | None = None) -> None:
        self.slots = slots
        self.clock = clock or SystemClock()
        self.offered: list[NewTasks] = []
        self.silent = False

    def store(self, new: NewTasks) -> None:
        self.offered.append(new)
        if not self.slots:
            return
        holders = [f"holder {n}" for n, _ in enumerate(new.tasks[: self.slots])]
        leased = new.lease(now=self.clock.now(), asked_at=0, holders=holders)
        new.finish()
        if self.silent:
            new.stored, new.error = None, Unavailable("no answer")
        elif new.stored:
            new.started = len(leased.tasks)


DUE = [{"target": PYTHON, "payload": n, "tags": {"n": str(n)}} for n in range(5)]


@pytest.mark.parametrize("slots", [1, 4, 5, 100])
def test_batch_is_stored_with_leases_of_as_many_tasks_as_the_pool_has_slots(
    reading: BatchReading, store: SqliteTaskStore, slots: int
):
    pool: Any = Pool(slots)
    runner = Runner(store, in_this_process(reading), pool)
    results = answers(runner.submit(body_of(*DUE)))

    stored = [store.get([result["task"]["id"]])[result["task"]["id"]] for result in results]
    began = stored[:slots]
    assert [task.holder for task in began] == [f"holder {n}" for n, _ in enumerate(began)]
    assert {(t.status, t.attempt, t.current and t.current.number) for t in began} == {
        (Status.RUNNING, 1, 1)
    }
    assert {task.lease_until for task in began} == {began[0].updated_at + LENGTH}
    assert {(t.status, t.holder, t.current) for t in stored[slots:]} <= {
        (Status.ENQUEUED, None, None)
    }
    assert [task.spec.payload for task in stored] == [0, 1, 2, 3, 4]
    assert [task.id for task in store.page(a_listing(tags=("n:3",))).tasks] == [stored[3].id]
    sent = runner.lanes.receive(Queue(Lane.MEDIUM), 100, 0)
    assert [message.delivery.task_id for message in sent] == [task.id for task in stored[slots:]]


def test_batch_for_which_the_pool_has_no_slot_is_sent_to_its_lane(
    reading: BatchReading, store: SqliteTaskStore
):
    pool: Any = Pool(0)
    runner = Runner(store, in_this_process(reading), pool)
    results = answers(runner.submit(body_of(*DUE)))

    assert len(pool.offered) == 1
    assert [result["status"] for result in results] == [201] * 5
    assert runner.lanes.depth(Queue(Lane.MEDIUM)).ready == 5


def test_batch_with_a_task_that_cannot_start_is_not_offered_to_the_pool(
    reading: BatchReading, store: SqliteTaskStore
):
    pool: Any = Pool(100)
    runner = Runner(store, in_this_process(reading), pool)
    runner.submit(body_of(DUE[0], {"target": PYTHON, "delay": 60}))

    assert pool.offered == []
    assert {task.status for task in store.page(a_listing()).tasks} == {Status.ENQUEUED}


def test_batch_of_which_the_store_says_nothing_is_answered_with_503(
    reading: BatchReading, store: SqliteTaskStore
):
    pool: Any = Pool(100)
    pool.silent = True
    runner = Runner(store, in_this_process(reading), pool)
    results = answers(runner.submit(body_of(*DUE)))

    assert [result["status"] for result in results] == [503] * 5
    assert runner.lanes.depth(Queue(Lane.MEDIUM)).ready == 0  # the pool finds out


def test_batch_with_a_taken_id_starts_nothing(reading: BatchReading, store: SqliteTaskStore):
    first = unpack(reading.read(body_of(*DUE)))
    assert first is not None
    pool: Any = Pool(100)
    runner = Runner(store, lambda body: first, pool)
    runner.submit(body_of(*DUE))
    results = answers(runner.submit(body_of(*DUE)))

    assert [new.stored for new in pool.offered] == [True, False]
    ids = {result["task"]["id"] for result in results}
    assert ids.isdisjoint(task.id for task in first.tasks)
    assert {store.get([i])[i].status for i in ids} == {Status.ENQUEUED}


@pytest.fixture
def process() -> Iterator[BatchProcess]:
    made = BatchProcess(SETUP, lambda: HANDLERS)
    yield made
    made.close()


LARGE = body_of(*[READABLE[0]] * 100)


def test_process_reads_a_batch(process: BatchProcess):
    process.start()
    batch = process.read(LARGE)

    assert batch is not None
    assert len({task.id for task in batch.tasks}) == 100
    assert {task.spec.target["handler"] for task in batch.tasks} == {HANDLER}


def test_process_learns_of_new_handlers():
    known = {"shop.old": {}}
    process = BatchProcess(SETUP, lambda: known)
    process.start()
    before = process.read(LARGE)
    known = HANDLERS
    after = process.read(LARGE)
    process.close()

    assert before is None
    assert after is not None


def test_small_batch_is_not_sent(process: BatchProcess):
    process.start()
    small = body_of(READABLE[0])

    assert len(small) < LEAST
    assert process.read(small) is None


def test_killed_process_reads_nothing_and_is_replaced(
    process: BatchProcess, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    process.start()
    assert process.read(LARGE) is not None
    assert process._process is not None
    os.kill(process._process.pid, signal.SIGKILL)
    monkeypatch.setattr(process_module, "RESTART_PAUSE", 0.0)
    with caplog.at_level(logging.WARNING):
        assert process.read(LARGE) is None

    assert [record.getMessage().partition(":")[0] for record in caplog.records] == [
        "batch process ended"
    ]
    process.start()
    assert process.read(LARGE) is not None


def test_process_that_cannot_start_is_tried_again_later(
    process: BatchProcess, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr(process_module, "MODULE", "duetime.no_such_module")
    with caplog.at_level(logging.WARNING):
        process.start()

    assert process.read(LARGE) is None
    assert "batch process not started" in caplog.text
    assert process._start_at is not None


def test_closed_process_has_ended(process: BatchProcess):
    process.start()
    running = process._process
    assert running is not None
    process.close()

    assert running.poll() is not None
    assert process.read(LARGE) is None
    assert process._start_at is None, "it does not start again"
