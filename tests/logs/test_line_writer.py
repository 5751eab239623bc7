"""Lines behind which nobody reads: their writers never wait, and what does not fit is counted."""

import logging
import os
from collections.abc import Iterator
from contextlib import suppress
from io import StringIO
from pathlib import Path
from threading import Thread
from typing import TextIO, cast

import pytest

from duetime.logs.line_writer import MAX_WAITING, LineWriter
from tests.running import PATIENCE

LINE = "x" * 999 + "\n"
MANY = 3 * MAX_WAITING // len(LINE)


class Pipe:
    """A pipe that is full, and its writer."""

    def __init__(self) -> None:
        self.reader, writer = os.pipe()
        os.set_blocking(writer, False)
        with suppress(BlockingIOError):
            while True:
                os.write(writer, b"-")
        os.set_blocking(writer, True)
        self.stream = open(writer, "w", encoding="ascii")  # noqa: SIM115 - closed below
        self.lines = LineWriter(self.stream)

    def read_all(self) -> str:
        """Reads until every line was written."""
        found: list[bytes] = []

        def read() -> None:
            while chunk := os.read(self.reader, 65_536):
                found.append(chunk)

        thread = Thread(target=read, daemon=True)
        thread.start()
        assert self.lines.drain(PATIENCE)
        self.stream.close()
        thread.join(PATIENCE)
        return b"".join(found).decode().lstrip("-")


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    made = Pipe()
    yield made
    os.close(made.reader)


def test_writer_of_a_full_pipe_does_not_wait(pipe: Pipe, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.WARNING)
    thread = Thread(target=lambda: [pipe.lines.write(LINE) for _ in range(MANY)], daemon=True)
    thread.start()
    thread.join(PATIENCE)

    assert not thread.is_alive()
    assert not pipe.lines.drain(0)
    written = pipe.read_all().count(LINE)
    assert 0 < written <= MAX_WAITING // len(LINE)
    [record] = caplog.records
    assert (record.message, record.count) == ("log lines dropped", MANY - written)


def test_lines_keep_their_order_and_odd_characters_are_escaped(pipe: Pipe):
    pipe.lines.write("first\n")
    pipe.lines.write("tea 茶\n")
    pipe.lines.flush()
    pipe.lines.write("last\n")

    assert pipe.read_all() == "first\ntea \\u8336\nlast\n"


def test_stream_without_a_descriptor_gets_the_lines_too():
    stream = StringIO()
    lines = LineWriter(stream)
    print("one", "two", file=cast(TextIO, lines))

    assert lines.drain(PATIENCE)
    assert stream.getvalue() == "one two\n"


def test_lines_for_a_closed_stream_go_nowhere(tmp_path: Path):
    stream = (tmp_path / "log").open("w")
    lines = LineWriter(stream)
    stream.close()
    with (tmp_path / "other").open("w") as other:  # it gets the descriptor of the closed one
        assert [lines.write("gone\n") for _ in range(3)] == [5, 5, 5]
        assert lines.drain(PATIENCE)
        assert os.fstat(other.fileno()).st_size == 0
