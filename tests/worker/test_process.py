"""The process of a worker and its signals, each time in a process of its own."""

import signal
import subprocess
import sys
from pathlib import Path

from tests.running import PATIENCE, ROOT

CAUGHT_BY_ANOTHER_THREAD = """
import signal, sys, threading
from duetime.worker.process import DRAIN, Events

def catch():
    while sys._current_frames()[main].f_code is not Events.next_within.__code__:
        pass  # until the main thread waits
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

main = threading.get_ident()
events = Events()
events.catch_signals()
threading.Thread(target=catch).start()
assert events.next() == DRAIN
"""
WHILE_IT_CONNECTS = """
import os, signal, sys
from duetime.worker.options import BadConfiguration, WorkerOptions
from duetime.worker.process import run

def connect(options):
    os.kill(os.getpid(), signal.SIGTERM)
    raise BadConfiguration("refused")

sys.exit(run(WorkerOptions(name="w1", handlers=(sys.argv[1],)), connect))
"""


def exit_code(code: str, *arguments: str) -> int:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, cwd=ROOT, timeout=PATIENCE, check=False).returncode


def test_signal_that_does_not_wake_the_main_thread_is_seen_all_the_same():
    """So is one that comes just before that thread begins to wait."""
    assert exit_code(CAUGHT_BY_ANOTHER_THREAD) == 0


def test_signal_while_the_worker_connects_does_not_kill_it(tmp_path: Path):
    """The first call may have leased a task, whose attempt would be lost."""
    (tmp_path / "shop.py").write_text("")

    code = exit_code(WHILE_IT_CONNECTS, str(tmp_path / "shop.py"))

    assert code == 2, signal.Signals(-code).name if code < 0 else code
