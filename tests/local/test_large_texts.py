"""Objects of the embedded store: they leave with their task, and no sooner."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from duetime.core.change import Applied
from duetime.core.large_texts import pack_object, reference_to
from duetime.core.lifecycle import Status
from duetime.core.task import Task
from duetime.core.times import DAY
from duetime.engine.removal import remove_tasks
from duetime.local.backends import Backend, open_backend
from duetime.local.folder_archive import FILE
from duetime.local.options import LocalOptions
from tests.factories import a_spec, a_task

TEXT = json.dumps(["ä" * 1_000] * 300, ensure_ascii=False)


@pytest.fixture
def options(tmp_path: Path) -> LocalOptions:
    return LocalOptions(data=tmp_path / "data", archive=tmp_path / "archive")


@pytest.fixture
def backend(options: LocalOptions) -> Iterator[Backend]:
    opened = open_backend(options, lambda changes: None, lambda lost: None)
    yield opened
    opened.close()


def a_large_task(backend: Backend, **fields: Any) -> Task:
    """Stores a finished task whose payload and result are one object."""
    reference = reference_to(TEXT)
    spec = a_spec(payload=None, payload_object=str(reference))
    task = a_task(status=Status.SUCCEEDED, wake=None, result=str(reference), spec=spec, **fields)
    assert backend.ports.objects is not None
    backend.ports.objects.put(task.id, reference.name, pack_object(TEXT))
    backend.ports.store.put([task])
    return task


def folders(options: LocalOptions) -> set[str]:
    return {path.name for path in (options.data / "objects").iterdir()}


def records(options: LocalOptions) -> list[Any]:
    [file] = options.archive.rglob(FILE) if options.archive else []
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_objects_leave_with_their_task_and_are_in_its_record(
    backend: Backend, options: LocalOptions
):
    gone, stays = a_large_task(backend), a_large_task(backend)

    [answer] = remove_tasks(backend.ports, [gone])

    assert isinstance(answer, Applied)
    assert folders(options) == {stays.id}
    [record] = records(options)
    assert record["payload"] == record["result"] == json.loads(TEXT)
    assert record["not_shown"] is None
    assert record["attempts"] == []


def test_objects_of_a_task_that_is_not_removed_stay(backend: Backend, options: LocalOptions):
    task = a_large_task(backend)
    changed = replace(task, token="other")

    remove_tasks(backend.ports, [changed])

    assert folders(options) == {task.id}


def test_object_of_a_replaced_payload_leaves_with_its_task(backend: Backend, options: LocalOptions):
    task = a_task(status=Status.SUCCEEDED, wake=None)
    backend.ports.store.put([task])
    assert backend.ports.objects is not None
    backend.ports.objects.put(task.id, "old", b"1")

    remove_tasks(backend.ports, [task])

    assert folders(options) == set()


def test_task_whose_object_is_lost_is_archived_with_a_note(backend: Backend, options: LocalOptions):
    task = a_large_task(backend)
    assert backend.ports.objects is not None
    backend.ports.objects.delete([task.id])

    remove_tasks(backend.ports, [task])

    [record] = records(options)
    assert (record["payload"], record["result"]) == (None, None)
    assert set(record["not_shown"]) == {"payload", "result"}


def test_many_large_records_are_written_in_small_batches(
    backend: Backend, options: LocalOptions, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("duetime.core.archive.BATCH_SIZE", 1_000_000)
    tasks = [a_large_task(backend) for _ in range(5)]
    assert backend.ports.archive is not None
    sizes = []
    write = backend.ports.archive.write

    def note(lines: Any) -> None:
        sizes.append(len(lines))
        write(lines)

    monkeypatch.setattr(backend.ports.archive, "write", note)
    remove_tasks(backend.ports, tasks)

    assert sizes == [2, 2, 1]
    assert [record["id"] for record in records(options)] == [task.id for task in tasks]


def test_start_deletes_objects_without_a_task_and_keeps_the_others(options: LocalOptions):
    first = open_backend(options, lambda changes: None, lambda lost: None)
    task = a_large_task(first)
    assert first.ports.objects is not None
    first.ports.objects.put("01JCN0RPHAN000000000000000", "a", b"1")
    first.close()

    open_backend(options, lambda changes: None, lambda lost: None).close()

    assert folders(options) == {task.id}


def test_retention_removes_objects(backend: Backend, options: LocalOptions):
    a_large_task(backend, updated_at=backend.ports.clock.now() - 40 * DAY)
    assert backend.sweep is not None
    backend.sweep()

    assert folders(options) == set()


def test_store_in_memory_takes_large_texts_too():
    opened = open_backend(LocalOptions(memory=True), lambda changes: None, lambda lost: None)
    task = a_large_task(opened)
    assert opened.ports.objects is not None
    name = reference_to(TEXT).name
    assert opened.ports.objects.get(task.id, name) is not None
    remove_tasks(opened.ports, [task])
    assert opened.ports.objects.get(task.id, name) is None
    opened.close()
