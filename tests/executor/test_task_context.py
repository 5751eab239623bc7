"""Log records and printed lines of a handler have the ids of its task."""

import asyncio
import contextvars
import logging
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import pytest

from duetime.executor.executor import Executor
from duetime.executor.targets.python import run_handler
from duetime.handlers import registry
from duetime.logs import task_context as task_log
from duetime.logs.formatting import LONGEST_LINE, PrintedLines, TextLines
from duetime.logs.task_context import TaskFields
from tests.factories import a_handler
from tests.world import World

HANDLER = "shop.restock"
log = logging.getLogger("shop")


class RecordedLogs(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []
        self.addFilter(TaskFields())

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)

    def ids(self) -> list[tuple[str, Any, Any, Any]]:
        names = ("task_id", "attempt", "handler")
        return [(r.getMessage(), *(getattr(r, name, None) for name in names)) for r in self.records]


@pytest.fixture
def logs() -> Iterator[RecordedLogs]:
    logs = RecordedLogs()
    log.addHandler(logs)
    yield logs
    log.removeHandler(logs)


@pytest.fixture
def printed() -> StringIO:
    return StringIO()


def to(printed: StringIO) -> redirect_stdout[Any]:
    """Not a fixture, because pytest replaces stdout for each phase of a test."""
    return redirect_stdout(PrintedLines(printed, "stdout", TextLines()))


def run(
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    act: Callable[..., Any],
    printed: StringIO | None = None,
) -> str:
    """Returns the id of a task that has run `act` as its handler."""
    registered = a_handler(act, HANDLER)
    monkeypatch.setattr(registry, "find", lambda name: registered)
    world.executor = Executor(world.ports, {"python": run_handler})
    task_id = world.submit(target={"type": "python", "handler": HANDLER})
    with to(printed or StringIO()):
        world.deliver()
    return task_id


def lines(printed: StringIO) -> list[str]:
    """Returns the lines without their time."""
    return [line.partition("Z ")[2] for line in printed.getvalue().splitlines()]


def test_a_record_of_a_handler_has_task_attempt_and_handler(
    world: World, monkeypatch: pytest.MonkeyPatch, logs: RecordedLogs
):
    task_id = run(world, monkeypatch, lambda _, ctx: log.warning("low on tea"))
    log.warning("later")
    assert logs.ids() == [
        ("low on tea", task_id, 1, HANDLER),
        ("later", None, None, None),
    ]


def test_a_field_that_a_record_has_itself_is_kept(
    world: World, monkeypatch: pytest.MonkeyPatch, logs: RecordedLogs
):
    run(world, monkeypatch, lambda *_: log.warning("x", extra={"task_id": "another"}))
    assert logs.ids() == [("x", "another", 1, HANDLER)]


def test_the_records_of_an_async_handler_have_the_ids(
    world: World, monkeypatch: pytest.MonkeyPatch, logs: RecordedLogs
):
    async def inner() -> None:
        log.warning("inner")

    async def act(_: Any, ctx: Any) -> None:
        await asyncio.gather(inner(), inner())

    task_id = run(world, monkeypatch, act)
    assert logs.ids() == [("inner", task_id, 1, HANDLER)] * 2


def test_a_thread_in_a_copied_context_has_the_ids_and_another_has_none(
    world: World, monkeypatch: pytest.MonkeyPatch, logs: RecordedLogs
):
    def act(_: Any, ctx: Any) -> None:
        copied = contextvars.copy_context()
        for words in (["copied", copied.run, log.warning], ["new", log.warning]):
            name, call, *rest = words
            thread = threading.Thread(target=call, args=(*rest, name))
            thread.start()
            thread.join()

    task_id = run(world, monkeypatch, act)
    assert logs.ids() == [("copied", task_id, 1, HANDLER), ("new", None, None, None)]


def test_records_of_parallel_tasks_keep_their_ids(
    world: World, monkeypatch: pytest.MonkeyPatch, logs: RecordedLogs
):
    meet = threading.Barrier(2, timeout=60)

    def act(payload: Any, ctx: Any) -> None:
        for _ in range(3):
            meet.wait()
            log.warning("%s", ctx.task_id)

    registered = a_handler(act, HANDLER)
    monkeypatch.setattr(registry, "find", lambda name: registered)
    world.executor = Executor(world.ports, {"python": run_handler})
    for _ in range(2):
        world.submit(target={"type": "python", "handler": HANDLER})
    runs = world.lease()
    threads = [threading.Thread(target=world.executor.run_target, args=(run,)) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(logs.records) == 6
    assert all(message == task_id for message, task_id, *_ in logs.ids())


def test_a_printed_line_has_the_ids(
    world: World, monkeypatch: pytest.MonkeyPatch, printed: StringIO
):
    task_id = run(world, monkeypatch, lambda *_: print("tea", "salt", sep="\n"), printed)
    ids = f"task_id={task_id} attempt=1 handler={HANDLER}"
    assert lines(printed) == [f"INFO stdout tea {ids}", f"INFO stdout salt {ids}"]


def test_text_printed_outside_of_a_handler_is_unchanged(printed: StringIO):
    with to(printed):
        print("hello", end="")
        print(" world")
    assert printed.getvalue() == "hello world\n"


def test_a_line_without_an_end_is_printed_when_the_handler_ends(
    world: World, monkeypatch: pytest.MonkeyPatch, printed: StringIO
):
    def act(_: Any, ctx: Any) -> None:
        print("half", end="")
        assert printed.getvalue() == ""
        raise ValueError

    run(world, monkeypatch, act, printed)
    assert [line.split()[2] for line in lines(printed)] == ["half"]


def test_threads_of_a_handler_do_not_mix_their_lines(
    world: World, monkeypatch: pytest.MonkeyPatch, printed: StringIO
):
    meet = threading.Barrier(2, timeout=60)

    def speak(word: str) -> None:
        for _ in range(3):
            meet.wait()
            print(word, end="")
        print()

    def act(_: Any, ctx: Any) -> None:
        contexts = [contextvars.copy_context() for _ in range(2)]
        threads = [
            threading.Thread(target=context.run, args=(speak, word))
            for context, word in zip(contexts, "ab", strict=True)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    run(world, monkeypatch, act, printed)
    assert sorted(line.split()[2] for line in lines(printed)) == ["aaa", "bbb"]


def test_an_endless_line_is_printed_in_pieces(
    world: World, monkeypatch: pytest.MonkeyPatch, printed: StringIO
):
    run(world, monkeypatch, lambda *_: print("x" * (2 * LONGEST_LINE + 3), end=""), printed)
    pieces = [len(line.split()[2]) for line in lines(printed)]
    assert pieces == [LONGEST_LINE, LONGEST_LINE, 3]


def test_last_state_of_a_progress_bar_is_printed(
    world: World, monkeypatch: pytest.MonkeyPatch, printed: StringIO
):
    def act(*_: Any) -> None:
        for percent in (1, 50, 100):
            print(f"\r{percent}%", end="")
        print("\r")

    run(world, monkeypatch, act, printed)
    assert [line.split()[2] for line in lines(printed)] == ["100%"]


def test_closed_stream_fails_no_handler(
    world: World, monkeypatch: pytest.MonkeyPatch, printed: StringIO
):
    printed.close()
    task_id = run(world, monkeypatch, lambda *_: print("tea"), printed)
    assert world.task(task_id).status == "SUCCEEDED"


def test_a_wrapped_stream_is_a_stream_like_the_one_in_it(printed: StringIO):
    with to(printed):
        assert not sys.stdout.isatty()
        sys.stdout.writelines(["a\n", "b\n"])
        sys.stdout.flush()
    assert printed.getvalue() == "a\nb\n"


def test_task_log_is_reset_when_the_task_has_ended(world: World, monkeypatch: pytest.MonkeyPatch):
    run(world, monkeypatch, lambda *_: None)
    assert task_log.current() is None
