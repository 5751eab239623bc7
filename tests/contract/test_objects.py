"""The object store: one suite over the folder, memory and S3 on moto."""

import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from duetime.aws import clients
from duetime.aws.object_store import S3ObjectStore
from duetime.aws.provision import ensure_bucket
from duetime.core.errors import Unavailable
from duetime.core.ports import ObjectStore
from duetime.local.moto_backend import fair_moto
from duetime.sqlite import object_store
from duetime.sqlite.object_store import FolderObjectStore, MemoryObjectStore
from tests.factories import an_id

CONTENT = bytes(range(256)) * 1_000


@pytest.fixture(scope="module")
def moto_s3() -> Iterator[Any]:
    with fair_moto():
        yield clients.s3()


@pytest.fixture(params=["folder", "memory", "moto"])
def objects(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    if request.param == "folder":
        return FolderObjectStore(tmp_path / "data" / "objects")
    if request.param == "memory":
        return MemoryObjectStore()
    s3 = request.getfixturevalue("moto_s3")
    ensure_bucket(s3, "our-objects")
    ensure_bucket(s3, "our-objects")
    return S3ObjectStore(s3, "our-objects")


def test_object_is_read_as_it_was_written(objects: ObjectStore):
    task_id = an_id()
    objects.put(task_id, "a", CONTENT)
    objects.put(task_id, "a", CONTENT)
    objects.put(task_id, "b", b"")

    assert (objects.get(task_id, "a"), objects.get(task_id, "b")) == (CONTENT, b"")


def test_object_that_does_not_exist_is_none(objects: ObjectStore):
    task_id = an_id()
    objects.put(task_id, "a", b"1")

    assert objects.get(task_id, "b") is None
    assert objects.get(an_id(), "a") is None


def test_objects_of_a_task_are_deleted_together_and_no_others(objects: ObjectStore):
    gone, other = an_id(), an_id()
    for task_id in (gone, other):
        objects.put(task_id, "a", b"1")
        objects.put(task_id, "b", b"2")

    objects.delete([gone, an_id()])
    objects.delete([gone])

    assert [objects.get(gone, name) for name in "ab"] == [None, None]
    assert [objects.get(other, name) for name in "ab"] == [b"1", b"2"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "objects"


def test_folder_is_private(folder: Path):
    FolderObjectStore(folder).put("T", "a", b"1")

    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.rglob("*"))}
    assert modes == {folder: 0o700, folder / "T": 0o700, folder / "T" / "a": 0o600}


@pytest.mark.parametrize("call", ["write", "fsync", "rename"])
def test_folder_that_cannot_be_written_leaves_no_part_of_an_object(
    folder: Path, call: str, monkeypatch: pytest.MonkeyPatch
):
    objects = FolderObjectStore(folder)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        if call == "write":
            patched.setattr(object_store, "_write", full)
        elif call == "fsync":
            patched.setattr(object_store.os, "fsync", full)
        else:
            patched.setattr(Path, "rename", full)
        with pytest.raises(Unavailable, match="No space left"):
            objects.put("T", "a", b"1")
    assert objects.get("T", "a") is None
    assert [path for path in folder.rglob("*") if path.is_file()] == []

    objects.put("T", "a", b"1")
    assert objects.get("T", "a") == b"1"


def test_folder_makes_an_object_durable_before_it_returns(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    synced: list[str] = []
    fsync: Callable[[int], None] = object_store.os.fsync

    def note(descriptor: int) -> None:
        synced.append(Path(f"/proc/self/fd/{descriptor}").resolve().name.partition("-")[0])
        fsync(descriptor)

    monkeypatch.setattr(object_store.os, "fsync", note)
    folders = ["T", "objects", folder.parent.name.partition("-")[0]]
    FolderObjectStore(folder).put("T", "a", b"1")
    assert synced == ["a", *folders]

    synced.clear()
    FolderObjectStore(folder).put("T", "a", b"1")
    assert synced == folders, "the writer of an object may have died before it synced them"


@pytest.mark.parametrize("make", [FolderObjectStore, lambda _: MemoryObjectStore()])
def test_sweep_deletes_the_objects_of_tasks_that_do_not_exist(make: Any, folder: Path):
    objects = make(folder)
    assert objects.sweep(lambda ids: ids) == 0
    for task_id in ("A", "B", "C"):
        objects.put(task_id, "a", b"1")

    assert objects.sweep(lambda ids: {i for i in ids if i == "B"}) == 2
    assert [objects.get(i, "a") for i in "ABC"] == [None, b"1", None]
