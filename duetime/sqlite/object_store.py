"""Objects of tasks in a folder beside the database, or in memory.

    objects/<task id>/<name>

A file is written under another name and renamed, so that a crash leaves a whole object or none.
"""

import os
import shutil
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from duetime.core.errors import Unavailable

FOLDER_MODE, FILE_MODE = 0o700, 0o600  # payloads are private, here as in the store
UNFINISHED = ".new"
SWEEP_BATCH = 1_000

Existing = Callable[[Sequence[str]], Collection[str]]  # returns the ids of the tasks that exist


class FolderObjectStore:
    """The runner is the only writer, from several threads."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, task_id: str, name: str, content: bytes) -> None:
        path = self._folder / task_id / name
        with _as_unavailable(path):
            if not path.exists():
                self._make_folder(path.parent)
                _write_whole(path, content)
            # Also for an object that is there: its writer may have died before this.
            for folder in (path.parent, self._folder, self._folder.parent):
                _sync(folder)

    def get(self, task_id: str, name: str) -> bytes | None:
        path = self._folder / task_id / name
        with _as_unavailable(path):
            try:
                return path.read_bytes()
            except FileNotFoundError:
                return None

    def delete(self, task_ids: Sequence[str]) -> None:
        with _as_unavailable(self._folder):
            for task_id in task_ids:
                with suppress(FileNotFoundError):  # nearly all tasks have none
                    shutil.rmtree(self._folder / task_id)

    def sweep(self, existing: Existing) -> int:
        """Deletes the objects of tasks that do not exist: a submission, or a removal, has died
        half-way. Call it at the start, while nothing is submitted. Returns how many tasks had
        some."""
        if not self._folder.is_dir():
            return 0
        found = 0
        names = os.listdir(self._folder)
        for start in range(0, len(names), SWEEP_BATCH):
            batch = names[start : start + SWEEP_BATCH]
            orphans = set(batch) - set(existing(batch))
            self.delete(sorted(orphans))
            found += len(orphans)
        return found

    def _make_folder(self, folder: Path) -> None:
        if not folder.is_dir():
            folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
            self._folder.chmod(FOLDER_MODE)  # mkdir gives its mode to the last folder alone


class MemoryObjectStore:
    """For a store in memory."""

    def __init__(self) -> None:
        self._objects: dict[str, dict[str, bytes]] = {}

    def put(self, task_id: str, name: str, content: bytes) -> None:
        self._objects.setdefault(task_id, {})[name] = content

    def get(self, task_id: str, name: str) -> bytes | None:
        return self._objects.get(task_id, {}).get(name)

    def delete(self, task_ids: Sequence[str]) -> None:
        for task_id in task_ids:
            self._objects.pop(task_id, None)

    def sweep(self, existing: Existing) -> int:
        orphans = set(self._objects) - set(existing(list(self._objects)))
        self.delete(sorted(orphans))
        return len(orphans)


LocalObjects = FolderObjectStore | MemoryObjectStore


@contextmanager
def _as_unavailable(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise Unavailable(f"the object {path} cannot be read or written: {reason}") from error


def _write_whole(path: Path, content: bytes) -> None:
    """Two requests may write the same object at once, and each renames its own file."""
    new = path.with_name(f"{path.name}-{threading.get_ident()}{UNFINISHED}")
    try:
        _write(new, content)
        new.rename(path)
    except OSError:
        new.unlink(missing_ok=True)
        raise


def _write(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, FILE_MODE)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(descriptor)


def _sync(folder: Path) -> None:
    """Makes the names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
