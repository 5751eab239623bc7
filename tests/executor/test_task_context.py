"""The records and prints of a handler carry the ids of its task."""

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

from lambdas import registry, task_log
from lambdas.executor.executor import Executor
from lambdas.executor.targets.python import run_handler
from lambdas.log_lines import LONGEST_LINE, PrintedLines, TextLines
from lambdas.task_log import TaskFields
from tests.world import World

HANDLER = "shop.restock"
log = logging.getLogger("shop")


class Heard(logging.Handler):
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
def heard() -> Iterator[Heard]:
    heard = Heard()
    log.addHandler(heard)
    yield heard
    log.removeHandler(heard)


@pytest.fixture
def printed() -> StringIO:
    return StringIO()


def to(printed: StringIO) -> redirect_stdout[Any]:
    """Not from a fixture: pytest has a stdout of its own for each phase of a test."""
    return redirect_stdout(PrintedLines(printed, "stdout", TextLines()))


def run(
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    act: Callable[..., Any],
    printed: StringIO | None = None,
) -> str:
    """The id of a task that has run `act` as its handler."""
    registered = registry.Registered(name=HANDLER, run=act, isolated=False)
    monkeypatch.setattr(registry, "find", lambda name: registered)
    world.executor = Executor(world.ports, {"python": run_handler})
    task_id = world.submit(target={"type": "python", "handler": HANDLER})
    with to(printed or StringIO()):
        world.deliver()
    return task_id


def lines(printed: StringIO) -> list[str]:
    """Without the time."""
    return [line.partition("Z ")[2] for line in printed.getvalue().splitlines()]


def test_a_record_of_a_handler_has_task_attempt_and_handler(
    world: World, monkeypatch: pytest.MonkeyPatch, heard: Heard
):
    task_id = run(world, monkeypatch, lambda _, ctx: log.warning("low on tea"))
    log.warning("later")
    assert heard.ids() == [
        ("low on tea", task_id, 1, HANDLER),
        ("later", None, None, None),
    ]


def test_a_field_that_a_record_has_itself_is_kept(
    world: World, monkeypatch: pytest.MonkeyPatch, heard: Heard
):
    run(world, monkeypatch, lambda *_: log.warning("x", extra={"task_id": "another"}))
    assert heard.ids() == [("x", "another", 1, HANDLER)]


def test_the_records_of_an_async_handler_have_the_ids(
    world: World, monkeypatch: pytest.MonkeyPatch, heard: Heard
):
    async def inner() -> None:
        log.warning("inner")

    async def act(_: Any, ctx: Any) -> None:
        await asyncio.gather(inner(), inner())

    task_id = run(world, monkeypatch, act)
    assert heard.ids() == [("inner", task_id, 1, HANDLER)] * 2


def test_a_thread_in_a_copied_context_has_the_ids_and_another_has_none(
    world: World, monkeypatch: pytest.MonkeyPatch, heard: Heard
):
    def act(_: Any, ctx: Any) -> None:
        copied = contextvars.copy_context()
        for words in (["copied", copied.run, log.warning], ["new", log.warning]):
            name, call, *rest = words
            thread = threading.Thread(target=call, args=(*rest, name))
            thread.start()
            thread.join()

    task_id = run(world, monkeypatch, act)
    assert heard.ids() == [("copied", task_id, 1, HANDLER), ("new", None, None, None)]


def test_tasks_that_run_side_by_side_keep_their_ids(
    world: World, monkeypatch: pytest.MonkeyPatch, heard: Heard
):
    meet = threading.Barrier(2, timeout=60)

    def act(payload: Any, ctx: Any) -> None:
        for _ in range(3):
            meet.wait()
            log.warning("%s", ctx.task_id)

    registered = registry.Registered(name=HANDLER, run=act, isolated=False)
    monkeypatch.setattr(registry, "find", lambda name: registered)
    world.executor = Executor(world.ports, {"python": run_handler})
    for _ in range(2):
        world.submit(target={"type": "python", "handler": HANDLER})
    runs = world.lease()
    threads = [threading.Thread(target=world.executor.execute, args=(run,)) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(heard.records) == 6
    assert all(told == task_id for told, task_id, *_ in heard.ids())


def test_a_printed_line_has_the_ids(
    world: World, monkeypatch: pytest.MonkeyPatch, printed: StringIO
):
    task_id = run(world, monkeypatch, lambda *_: print("tea", "salt", sep="\n"), printed)
    ids = f"task_id={task_id} attempt=1 handler={HANDLER}"
    assert lines(printed) == [f"INFO stdout tea {ids}", f"INFO stdout salt {ids}"]


def test_what_is_printed_outside_of_a_handler_passes_as_it_is(printed: StringIO):
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


def test_of_a_progress_bar_the_last_state_is_printed(
    world: World, monkeypatch: pytest.MonkeyPatch, printed: StringIO
):
    def act(*_: Any) -> None:
        for percent in (1, 50, 100):
            print(f"\r{percent}%", end="")
        print("\r")

    run(world, monkeypatch, act, printed)
    assert [line.split()[2] for line in lines(printed)] == ["100%"]


def test_a_stream_that_nobody_reads_fails_no_handler(
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


def test_nothing_of_a_task_is_left_when_it_has_ended(world: World, monkeypatch: pytest.MonkeyPatch):
    run(world, monkeypatch, lambda *_: None)
    assert task_log.current() is None
