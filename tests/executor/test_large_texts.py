"""Large payloads and results in the executor, on both stores."""

import json
import logging
from collections.abc import Iterator
from dataclasses import replace

import pytest

from duetime.aws import clients
from duetime.core.errors import Unavailable
from duetime.core.large_texts import (
    LARGE_LIMIT,
    pack_object,
    read_object,
    reference_in,
    reference_to,
)
from duetime.core.lifecycle import Outcome, Status
from duetime.core.results import SIZE_LIMIT
from duetime.core.task import Task
from duetime.executor.executor import Executor
from duetime.executor.large_texts import RESULT_TRIES
from duetime.local.moto_backend import fair_moto
from duetime.sqlite.object_store import MemoryObjectStore
from tests.world import World, moto_world, sqlite_world

PAYLOAD = ["p" * 1_000] * 300
TEXT = json.dumps(PAYLOAD, separators=(",", ":"))


class Objects(MemoryObjectStore):
    """`failures` is how many calls fail, and `error` how."""

    def __init__(self) -> None:
        super().__init__()
        self.failures = 0
        self.error: Exception = Unavailable("S3 is slow")
        self.puts = 0

    def put(self, task_id: str, name: str, content: bytes) -> None:
        self.puts += 1
        self._fail()
        super().put(task_id, name, content)

    def get(self, task_id: str, name: str) -> bytes | None:
        self._fail()
        return super().get(task_id, name)

    def _fail(self) -> None:
        if self.failures:
            self.failures -= 1
            raise self.error


@pytest.fixture
def objects() -> Objects:
    return Objects()


@pytest.fixture(params=["sqlite", "moto"])
def world(request: pytest.FixtureRequest, objects: Objects) -> Iterator[World]:
    if request.param == "sqlite":
        with sqlite_world() as world:
            yield roomy(world, objects)
        return
    with fair_moto(), moto_world(clients.dynamodb(), clients.sqs()) as world:
        yield roomy(world, objects)


def roomy(world: World, objects: Objects | None) -> World:
    world.ports = replace(world.ports, objects=objects)
    world.executor = Executor(world.ports, {"python": world._run})
    return world


def submit(world: World, objects: Objects) -> str:
    reference = reference_to(TEXT)
    task_id = world.submit(payload=None, payload_object=str(reference))
    objects.put(task_id, reference.name, pack_object(TEXT))
    return task_id


def ended(world: World, task_id: str) -> Task:
    world.deliver()
    return world.task(task_id)


def test_handler_gets_its_large_payload(world: World, objects: Objects):
    seen = []
    world.script = lambda task, ctx: seen.append((task.spec.payload, task.spec.payload_object))
    task = ended(world, submit(world, objects))

    assert task.status is Status.SUCCEEDED
    assert seen == [(PAYLOAD, None)]
    assert task.spec.payload_object == str(reference_to(TEXT))


def test_payload_that_cannot_be_read_now_costs_no_attempt(world: World, objects: Objects):
    task_id = submit(world, objects)
    objects.failures = 1
    task = ended(world, task_id)

    assert (task.status, world.starts) == (Status.RETRYING, [])
    assert (task.current.outcome, task.budget) == (Outcome.SNOOZED, 6)
    assert "the object could not be read: S3 is slow" in task.current.error.message
    world.advance(5_000)
    assert ended(world, task_id).status is Status.SUCCEEDED


def test_payload_that_is_missing_ends_the_task(world: World, objects: Objects):
    task_id = submit(world, objects)
    objects.delete([task_id])
    task = ended(world, task_id)

    assert (task.status, world.starts) == (Status.DEAD, [])
    assert task.current.error.type == "PayloadMissing"


def test_payload_that_is_damaged_ends_the_task(world: World, objects: Objects):
    task_id = submit(world, objects)
    objects.put(task_id, reference_to(TEXT).name, b"?")

    assert ended(world, task_id).current.error.type == "PayloadMissing"


@pytest.mark.parametrize("refused", [True, False], ids=["refused", "no store"])
def test_payload_that_this_executor_may_not_read_is_tried_again(
    world: World, objects: Objects, refused: bool
):
    task_id = submit(world, objects)
    objects.failures, objects.error = 1, ValueError("access denied")
    task = ended(roomy(world, objects if refused else None), task_id)

    assert (task.status, task.current.error.type) == (Status.RETRYING, "PayloadUnavailable")
    assert task.budget == 5


@pytest.mark.parametrize("length", [SIZE_LIMIT - 1, LARGE_LIMIT - 2])
def test_large_result_is_an_object(world: World, objects: Objects, length: int):
    world.script = lambda task, ctx: "r" * length
    task = ended(world, world.submit())

    assert task.status is Status.SUCCEEDED
    reference = reference_in(task.result)
    assert reference is not None
    assert reference.size == length + 2
    assert read_object(objects, task.id, reference, "result") == f'"{"r" * length}"'


def test_small_result_makes_no_object(world: World, objects: Objects):
    world.script = lambda task, ctx: "r" * (SIZE_LIMIT - 2)
    task = ended(world, world.submit())

    assert (reference_in(task.result), objects.puts) == (None, 0)


def test_result_that_looks_like_a_reference_stays_a_result(world: World):
    world.script = lambda task, ctx: str(reference_to(TEXT))
    task = ended(world, world.submit())

    assert reference_in(task.result) is None
    assert json.loads(task.result) == str(reference_to(TEXT))


@pytest.mark.parametrize(
    "result", ["r" * (LARGE_LIMIT - 1), '"' * 2_000_000], ids=["long", "quotes"]
)
def test_result_over_the_limit_is_bad(world: World, objects: Objects, result: str):
    world.script = lambda task, ctx: result
    task = ended(world, world.submit())

    assert (task.status, task.current.error.type, objects.puts) == (Status.DEAD, "BadResult", 0)
    assert "over 5 MiB" in task.current.error.message


def test_result_without_an_object_store_has_the_small_limit(world: World):
    world.script = lambda task, ctx: "r" * SIZE_LIMIT
    task = ended(roomy(world, None), (world.submit()))

    assert (task.status, task.current.error.message) == (Status.DEAD, "the result is over 64 KiB")


@pytest.mark.parametrize("failures", [RESULT_TRIES - 1, RESULT_TRIES])
def test_result_is_written_several_times_before_its_attempt_fails(
    world: World, objects: Objects, failures: int, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.ERROR)
    world.script = lambda task, ctx: "r" * SIZE_LIMIT
    objects.failures = failures
    task = ended(world, world.submit())

    assert objects.puts == RESULT_TRIES
    if failures < RESULT_TRIES:
        assert task.status is Status.SUCCEEDED
    else:
        assert (task.status, task.current.error.type) == (Status.RETRYING, "ResultNotStored")
        assert task.budget == 5, "it uses up an attempt"


def test_outcome_is_recorded_after_the_object_of_its_result(world: World, objects: Objects):
    """The executor dies before it records: no task refers to the object, and the next attempt
    writes the same one."""
    world.script = lambda task, ctx: "r" * SIZE_LIMIT
    task_id = world.submit()
    [run] = world.lease()
    end = world.executor.run_target(run)

    reference = reference_in(end.result)
    assert reference is not None
    assert objects.get(task_id, reference.name) is not None
    assert world.task(task_id).result is None


def test_isolated_handler_may_return_a_large_result() -> None:
    from duetime.core.errors import BadResult
    from duetime.core.results import Encoded, encode_result

    text = Encoded(f'"{"r" * SIZE_LIMIT}"')
    assert encode_result(text, large=True) == text
    with pytest.raises(BadResult, match="over 64 KiB"):
        encode_result(text)
