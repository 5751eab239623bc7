"""What becomes of a process that a handler forks.

The child has a copy of everything: the queue of runs, the store's connections, the listening
socket, the lock. It may do the handler's work and end. It must not go on as a second executor, and
must not hold open what belongs to the first.
"""

import os
import sys
import traceback
from collections.abc import Iterable
from types import TracebackType
from typing import NoReturn, Protocol
from weakref import WeakSet


class Owner(Protocol):
    """Holds descriptors that no forked child may keep."""

    def descriptors(self) -> Iterable[int]: ...


_owners: "WeakSet[Owner]" = WeakSet()
_null: list[int] = []  # opened in time: a child may have no descriptor left


def keep_from_children(owner: Owner) -> None:
    """From now on, and as long as the owner lives."""
    if not _null:
        _null.append(os.open(os.devnull, os.O_RDWR))
        os.register_at_fork(after_in_child=_close_in_child)
    _owners.add(owner)


def _close_in_child() -> None:
    """The numbers stay taken, by /dev/null: a connection of SQLite still knows them, which can be
    neither used nor closed after a fork, and must not meet a file of the handler's there."""
    for owner in list(_owners):
        for descriptor in owner.descriptors():
            os.dup2(_null[0], descriptor, inheritable=False)


class EndForkedChild:
    """Around a handler's code: a forked child that comes back out of it ends there.

    It ends without the finally blocks and exit functions of the process that it is a copy of, with
    the exit code that the handler's code asked for."""

    __slots__ = ("_pid",)

    def __init__(self) -> None:
        self._pid = os.getpid()

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if os.getpid() != self._pid:
            _end(error)


def check_process(pid: int) -> None:
    """Raise RuntimeError in any other process than this one."""
    if os.getpid() != pid:
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
    """As the interpreter has it."""
    if error is None:
        return 0
    if not isinstance(error, SystemExit):
        traceback.print_exception(error)
        return 1
    if error.code is None or isinstance(error.code, int):
        return (error.code or 0) & 0xFF
    print(error.code, file=sys.stderr)
    return 1
