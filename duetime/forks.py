"""Protection against processes that a handler forks.

The child has a copy of everything: the queue of runs, the store's connections, the listening
socket, the lock. It may do the handler's work and exit. It must not continue as a second executor,
nor keep the parent's descriptors open.
"""

import os
import sys
import traceback
from collections.abc import Iterable
from contextlib import suppress
from types import TracebackType
from typing import NoReturn, Protocol
from weakref import WeakSet


class Owner(Protocol):
    """An object with descriptors that no forked child may keep."""

    def descriptors(self) -> Iterable[int]: ...


_process = os.getpid()


def process_id() -> int:
    """Returns what os.getpid does, without a call of the system: the executor asks several times
    for each attempt."""
    return _process


def _note_process() -> None:
    global _process  # noqa: PLW0603 - one number for the process
    _process = os.getpid()


os.register_at_fork(after_in_child=_note_process)

_owners: "WeakSet[Owner]" = WeakSet()
_null: list[int] = []  # opened before the fork: the child may have no descriptor left


def keep_from_children(owner: Owner) -> None:
    """Closes the owner's descriptors in every child that is forked while the owner lives."""
    if not _null:
        _null.append(os.open(os.devnull, os.O_RDWR))
        os.register_at_fork(after_in_child=_close_in_child)
    _owners.add(owner)


def _close_in_child() -> None:
    """Replaces the descriptors by /dev/null, so that their numbers stay in use. A SQLite connection
    can be neither used nor closed after a fork, but it still has the numbers, and must not find
    one of the handler's files there. A child of the child has nothing left to close: what it
    would find behind those numbers is /dev/null, which may be the handler's output by now."""
    for owner in list(_owners):
        with suppress(OSError):  # closed just before the fork; the others are closed all the same
            for descriptor in owner.descriptors():
                os.dup2(_null[0], descriptor, inheritable=False)
    _owners.clear()


class EndForkedChild:
    """Wraps a handler's code: a forked child that returns from it exits there.

    The child exits without the finally blocks and exit functions of its parent, with the exit code
    that the handler's code asked for."""

    __slots__ = ("_pid",)

    def __init__(self) -> None:
        self._pid = process_id()

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if process_id() != self._pid:
            _end(error)


def check_process(pid: int) -> None:
    """Raises RuntimeError in any process but `pid`."""
    if process_id() != pid:
        raise RuntimeError("a forked process cannot use Duetime's store or report on the attempt")


def _end(error: BaseException | None) -> NoReturn:
    code = 1
    try:
        code = _exit_code(error)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _exit_code(error: BaseException | None) -> int:
    """Returns the exit code that the interpreter would use."""
    if error is None:
        return 0
    if not isinstance(error, SystemExit):
        traceback.print_exception(error)
        return 1
    if error.code is None or isinstance(error.code, int):
        return (error.code or 0) & 0xFF
    print(error.code, file=sys.stderr)
    return 1
