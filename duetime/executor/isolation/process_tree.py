"""The descendants of a process, and how to kill them.

Linux lists them in /proc, even if they have changed their group or session. Elsewhere only a
process group can be killed.
"""

import os
import signal
import sys
from contextlib import suppress
from time import monotonic, sleep

LINUX = sys.platform == "linux"
KILL_INTERVAL = 0.005  # seconds

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


def adopt_orphans() -> None:
    """Become the parent of every process below this one whose own parent ends."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def end_with_parent() -> None:
    """Have the kernel kill this process when its parent ends."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def kill_below(root: int, timeout: float) -> bool:
    """Kill every descendant of `root`, including those that start meanwhile. Returns False if some
    are left after `timeout` seconds."""
    give_up = monotonic() + timeout
    while living := _descendants(root):
        for pid in living:
            kill(pid)
        if root == os.getpid():
            reap()
        if monotonic() > give_up:
            return False
        sleep(KILL_INTERVAL)
    return True


def kill(pid: int) -> None:
    with suppress(
        ProcessLookupError, PermissionError
    ):  # it has ended, or its id belongs to another user's process
        os.kill(pid, signal.SIGKILL)


def kill_group(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def reap() -> dict[int, int]:
    """Returns the children of this process that have ended, each with its wait status."""
    ended = {}
    with suppress(ChildProcessError):  # there are none
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                break
            ended[pid] = status
    return ended


def has_children() -> bool:
    """Whether this process has children, or has adopted some. Those that have ended are reaped."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def _descendants(root: int) -> list[int]:
    """Returns the living descendants, each parent before its children. A process that ends may
    still be the parent of its children while its main thread has ended already."""
    children: dict[int, list[int]] = {}
    living: set[int] = set()
    for name in os.listdir("/proc"):
        if name.isdigit() and (found := _parent(name)) is not None:
            parent, lives = found
            children.setdefault(parent, []).append(int(name))
            if lives:
                living.add(int(name))
    below = list(children.get(root, ()))
    for pid in below:  # the list grows meanwhile
        below += children.get(pid, ())
    return [pid for pid in below if pid in living]


def _parent(pid: str) -> tuple[int, bool] | None:
    """Returns the parent of a process, and whether a thread of it lives; None if it is gone. Its
    name, in brackets, may hold any character."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    state, parent, threads = fields[0], int(fields[1]), int(fields[17])
    return parent, state not in (b"Z", b"X") or threads > 1


def _prctl(option: int, value: int) -> None:
    if LINUX:
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
