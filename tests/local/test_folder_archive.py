"""The archive in a folder: durable lines, private files, and a search that survives damage."""

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from duetime.core import archive
from duetime.core.archive import ArchiveQuery, ArchiveSearch, archive_line
from duetime.core.errors import Unavailable
from duetime.core.lifecycle import Status
from duetime.core.times import DAY
from duetime.local import folder_archive
from duetime.local.folder_archive import FILE, FolderArchive, read_folder
from tests.factories import NOW, SteppedClock, a_spec, a_task

TODAY = "dt=2026-11-16"


def a_line(**fields: Any) -> str:
    task = a_task(spec=a_spec(**fields), status=Status.SUCCEEDED, updated_at=NOW, wake=None)
    return archive_line(task, ())


def found(folder: Path, **query: Any) -> list[dict[str, Any]]:
    search = ArchiveSearch(ArchiveQuery(**query))
    return list(search.records(read_folder(folder, query.get("since"))))


def test_archive_has_a_file_for_each_day(tmp_path: Path):
    clock = SteppedClock()
    written = FolderArchive(tmp_path / "new" / "archive", clock)
    written.write(["1", "2"])
    written.write(["3"])
    clock.advance(DAY)
    written.write(["4"])

    folder = tmp_path / "new" / "archive"
    assert (folder / TODAY / FILE).read_text() == "1\n2\n3\n"
    assert (folder / "dt=2026-11-17" / FILE).read_text() == "4\n"


def test_archive_is_private(tmp_path: Path):
    FolderArchive(tmp_path, SteppedClock()).write(["1"])

    assert (tmp_path / TODAY / FILE).stat().st_mode & 0o777 == 0o600
    assert (tmp_path / TODAY).stat().st_mode & 0o777 == 0o700


def test_archive_is_on_the_disk_before_the_write_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    synced: list[str] = []

    def fsync(descriptor: int) -> None:
        synced.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")).name)

    monkeypatch.setattr(os, "fsync", fsync)
    FolderArchive(tmp_path, SteppedClock()).write(["1"])

    assert synced == [tmp_path.name, FILE, TODAY]


def test_archive_begins_a_new_line_after_one_that_a_crash_left_unfinished(tmp_path: Path):
    (tmp_path / TODAY).mkdir()
    (tmp_path / TODAY / FILE).write_text('{"id": "half')

    FolderArchive(tmp_path, SteppedClock()).write([a_line(name="whole")])

    search = ArchiveSearch(ArchiveQuery())
    assert [r["name"] for r in search.records(read_folder(tmp_path, None))] == ["whole"]
    assert search.unreadable == 1


def test_write_that_fails_leaves_nothing_in_the_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    written = FolderArchive(tmp_path, SteppedClock())
    written.write(["1"])
    write = os.write

    def full(descriptor: int, text: bytes) -> int:
        if len(text) > 4:
            return write(descriptor, text[:4])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(folder_archive.os, "write", full)
        with pytest.raises(Unavailable, match="No space left on device"):
            written.write(["123456789"[:7]])

    assert (tmp_path / TODAY / FILE).read_text() == "1\n"


def test_search_finds_records_by_every_field(tmp_path: Path):
    written = FolderArchive(tmp_path, SteppedClock())
    written.write([a_line(name="a", namespace="shop", tags={"team": "growth"}), a_line(name="b")])
    both = found(tmp_path)

    assert [record["name"] for record in both] == ["a", "b"]
    for query in (
        {"id": both[0]["id"]},
        {"name": "a"},
        {"namespace": "shop"},
        {"tag": ("team", "growth")},
    ):
        assert found(tmp_path, **query) == both[:1]
    assert found(tmp_path, tag=("team", "other")) == []
    assert found(tmp_path, statuses=frozenset({"SUCCEEDED"})) == both
    assert found(tmp_path, statuses=frozenset({"EXPIRED"})) == []
    assert found(tmp_path, since=NOW) == both
    assert found(tmp_path, since=NOW + 1) == []
    assert found(tmp_path, before=NOW) == []
    assert found(tmp_path, before=NOW + 1) == both


def test_search_does_not_open_the_files_of_earlier_days(tmp_path: Path):
    FolderArchive(tmp_path, SteppedClock()).write([a_line()])
    (tmp_path / TODAY / FILE).chmod(0)
    (tmp_path / TODAY / FILE).unlink()
    (tmp_path / TODAY / FILE).mkdir()  # opening it would fail

    assert found(tmp_path, since=NOW + DAY) == []


def test_search_shows_a_record_that_was_written_twice_once(tmp_path: Path):
    line = a_line()
    clock = SteppedClock()
    written = FolderArchive(tmp_path, clock)
    written.write([line])
    clock.advance(DAY)
    written.write([line, a_line()])

    assert len(found(tmp_path)) == 2


def test_search_remembers_a_bounded_number_of_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(archive, "REMEMBERED_IDS", 2)
    first, *others = (a_line() for _ in range(4))
    FolderArchive(tmp_path, SteppedClock()).write([first, *others, first])

    assert len(found(tmp_path)) == 5, "the first was forgotten"


def test_search_reads_compressed_files(tmp_path: Path):
    (tmp_path / "old.jsonl.gz").write_bytes(gzip.compress(a_line(name="z").encode()))
    (tmp_path / "notes.txt").write_text("not an archive")

    assert [record["name"] for record in found(tmp_path)] == ["z"]


@pytest.mark.parametrize("line", ["{", "[]", "1", '{"id": 1}', "\x00", "[" * 100_000])
def test_search_counts_a_line_that_is_no_record(tmp_path: Path, line: str):
    (tmp_path / "x.jsonl").write_text(f"{line}\n\n{a_line()}\n")
    search = ArchiveSearch(ArchiveQuery())

    assert len(list(search.records(read_folder(tmp_path, None)))) == 1
    assert search.unreadable == 1


def test_record_masks_the_secrets_that_answers_mask():
    target = {
        "type": "http",
        "method": "GET",
        "url": "https://me:pw@example.com/",
        "headers": {"Authorization": "Bearer s3cret", "Accept": "text/plain"},
    }
    line = a_line(target=target)

    assert "s3cret" not in line
    assert "me:pw" not in line
    shown = json.loads(line)["target"]
    assert shown["headers"] == {"Authorization": "***", "Accept": "text/plain"}


def test_record_of_a_value_too_deep_to_encode_has_a_note():
    deep: Any = None
    for _ in range(100_000):
        deep = [deep]
    record = json.loads(a_line(payload=deep, name="deep"))

    assert (record["name"], record["payload"]) == ("deep", None)
    assert record["not_shown"]["payload"] == "cannot be encoded"
