"""`duetime archive search`, on a folder and on a bucket."""

import json
from pathlib import Path
from typing import Any

import pytest

from duetime.aws import clients
from duetime.aws.archive_bucket import ArchiveBucket
from duetime.cli import archive
from duetime.cli.exit_codes import ExitCode
from duetime.core.archive import archive_line
from duetime.core.lifecycle import Status
from duetime.core.times import HOUR
from duetime.local.folder_archive import FolderArchive
from duetime.local.moto_backend import fair_moto
from tests.factories import NOW, SteppedClock, a_spec, a_task


def lines() -> list[str]:
    ended = {"wake": None, "updated_at": NOW}
    tagged = a_task(spec=a_spec(name="a", tags={"team": "growth"}), status=Status.DEAD, **ended)
    plain = a_task(spec=a_spec(name="b"), status=Status.EXPIRED, **ended)
    return [archive_line(tagged, ()), archive_line(plain, ())]


@pytest.fixture
def folder(tmp_path: Path) -> str:
    FolderArchive(tmp_path, SteppedClock()).write(lines())
    return str(tmp_path)


def names(result: Any) -> list[str]:
    assert result.exit_code == 0, result.stderr
    return [json.loads(line)["name"] for line in result.stdout.splitlines()]


def test_search_prints_each_record_as_a_line(duetime: Any, folder: str) -> None:
    assert names(duetime("archive", "search", folder)) == ["a", "b"]
    assert names(duetime("archive", "search", folder, "--limit", "1")) == ["a"]


@pytest.mark.parametrize(
    "words",
    [
        ["--tag", "team=growth"],
        ["--name", "a"],
        ["--status", "dead"],
        ["--namespace", "default", "--limit", "1"],
        ["--since", "2026-11-16T09:00:00Z", "--name", "a"],
        ["--before", "2026-11-16T10:00:00+01:00", "--name", "nothing"],
    ],
)
def test_search_finds_what_matches(duetime: Any, folder: str, words: list[str]) -> None:
    wanted = [] if "nothing" in words else ["a"]
    assert names(duetime("archive", "search", folder, *words)) == wanted


def test_search_finds_a_task_by_its_id(duetime: Any, folder: str) -> None:
    first = json.loads(duetime("archive", "search", folder).stdout.splitlines()[0])
    assert names(duetime("archive", "search", folder, "--id", first["id"])) == ["a"]


def test_search_on_a_terminal_prints_short_lines(
    duetime: Any, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "is_terminal", lambda: True)
    first = duetime("archive", "search", folder).stdout.splitlines()[0]
    assert first.endswith("  DEAD  2026-11-16T09:00:00.000Z  a")


def test_search_reports_lines_that_cannot_be_read(duetime: Any, folder: str) -> None:
    (Path(folder) / "torn.jsonl").write_text('{"id": "half')
    result = duetime("archive", "search", folder)
    assert result.exit_code == ExitCode.NOT_DONE
    assert len(result.stdout.splitlines()) == 2
    assert "1 line of the archive cannot be read" in result.stderr


def test_search_reports_a_file_that_cannot_be_read(duetime: Any, folder: str) -> None:
    (Path(folder) / "broken.jsonl.gz").write_bytes(b"not gzip")
    result = duetime("archive", "search", folder)
    assert result.exit_code == ExitCode.NOT_DONE
    assert "the archive cannot be read" in result.stderr


@pytest.mark.parametrize("words", [["nowhere"], ["s3://"], [".", "--tag", "x"]])
def test_search_refuses_a_wrong_command_line(duetime: Any, words: list[str]) -> None:
    assert duetime("archive", "search", *words).exit_code == ExitCode.USAGE


def test_search_reads_a_bucket(duetime: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with fair_moto():
        s3 = clients.s3()
        s3.create_bucket(Bucket="our-archive")
        bucket = ArchiveBucket(s3, "our-archive")
        for number, line in enumerate(lines()):
            bucket.write([line], name=str(number), at=NOW + number * HOUR)

        assert names(duetime("archive", "search", "s3://our-archive")) == ["a", "b"]
        assert names(duetime("archive", "search", "s3://our-archive/dt=2026-11-16/1")) == ["b"]
        missing = duetime("archive", "search", "s3://no-such-archive")

    assert missing.exit_code == ExitCode.NOT_DONE
    assert "the archive s3://no-such-archive cannot be read" in missing.stderr
