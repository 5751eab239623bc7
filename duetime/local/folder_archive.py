"""The archive in a folder: removed tasks as JSON lines, one file for each day of removal (UTC).

    DIR/dt=2026-11-17/tasks.jsonl

Files are only appended to. A write that fails is cut off again; a line that a crash has left
unfinished stays, and the next write begins a new line after it.
"""

import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from duetime.core.archive import FILE_SUFFIXES, day_folder, in_days_from
from duetime.core.errors import Unavailable
from duetime.core.ports import Clock
from duetime.core.times import Millis

FILE = "tasks.jsonl"
FOLDER_MODE, FILE_MODE = 0o700, 0o600  # payloads are private, here as in the store


class FolderArchive:
    """The runner is the only writer. Its API and its retention share this object."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock
        self._lock = threading.Lock()

    def write(self, lines: Sequence[str]) -> None:
        path = self._folder / day_folder(self._clock.now()) / FILE
        text = "".join(f"{line}\n" for line in lines).encode(errors="surrogatepass")
        try:
            with self._lock:
                _append(path, text)
        except OSError as error:
            reason = error.strerror or str(error)
            raise Unavailable(f"the archive {path} cannot be written: {reason}") from error


def _append(path: Path, text: bytes) -> None:
    if not path.parent.is_dir():
        path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        _sync(path.parent.parent)
    is_new = not path.exists()
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, FILE_MODE)
    try:
        size = os.fstat(descriptor).st_size
        unfinished = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
        try:
            _write_all(descriptor, b"\n" + text if unfinished else text)
            os.fsync(descriptor)
        except OSError:
            os.ftruncate(descriptor, size)
            raise
    finally:
        os.close(descriptor)
    if is_new:
        _sync(path.parent)


def _write_all(descriptor: int, text: bytes) -> None:
    left = memoryview(text)
    while left:
        left = left[os.write(descriptor, left) :]


def _sync(folder: Path) -> None:
    """Makes the names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_folder(folder: Path, since: Millis | None) -> Iterator[bytes]:
    """Yields the lines of an archive, oldest file first. A task is archived after its end, so the
    files of the days before `since` are not read."""
    import gzip

    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if name.endswith(FILE_SUFFIXES) and in_days_from(name, since):
            with gzip.open(path, "rb") if name.endswith(".gz") else path.open("rb") as lines:
                yield from lines
