"""The processes below one, and their end.

Linux lists them in /proc, whatever group or session they have put themselves into. Elsewhere only
a process group can be ended.
"""

import os
import signal
import sys
from contextlib import suppress
from time import monotonic, sleep

LINUX = sys.platform == "linux"
BETWEEN_LOOKS = 0.005  # seconds

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


def adopt_orphans() -> None:
    """Become the parent of every process below this one whose own parent ends."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def end_with_parent() -> None:
    """Have this process killed when the one that forked it ends."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def kill_below(root: int, patience: float) -> bool:
    """Kill every process below `root`, those too that come to be meanwhile; False if some are left
    when patience, in seconds, is over."""
    give_up = monotonic() + patience
    while living := _below(root):
        for pid in living:
            kill(pid)
        if root == os.getpid():
            reap()
        if monotonic() > give_up:
            return False
        sleep(BETWEEN_LOOKS)
    return True


def kill(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):  # it is gone, or has become another's
        os.kill(pid, signal.SIGKILL)


def kill_group(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def reap() -> dict[int, int]:
    """The children of this process that have ended, each with its wait status."""
    ended = {}
    with suppress(ChildProcessError):  # there are none
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                break
            ended[pid] = status
    return ended


def _below(root: int) -> list[int]:
    """Those that have not ended; a parent comes before its children."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (parent := _living_parent(name)) is not None:
            children.setdefault(parent, []).append(int(name))
    found = list(children.get(root, ()))
    for pid in found:  # which grows meanwhile
        found += children.get(pid, ())
    return found


def _living_parent(pid: str) -> int | None:
    """None for a process that has ended. Its name, in brackets, may hold anything."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            state, parent, *_ = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return None if state in (b"Z", b"X") else int(parent)


def _prctl(option: int, value: int) -> None:
    if LINUX:
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
