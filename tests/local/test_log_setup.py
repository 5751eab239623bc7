"""The log setup of the runner, in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

OUT_OF_DESCRIPTORS = """
import logging, os, resource, sys
from rich.console import Console
from duetime.local.event_lines import EventLines
from duetime.logs.formatting import LogSettings, install
from tests.local.test_activity import a_change

install(LogSettings(format=sys.argv[1], level="info"))
events = EventLines(Console(stderr=True, width=80), "http://127.0.0.1:8080")
free = os.dup(0)
os.close(free)
resource.setrlimit(resource.RLIMIT_NOFILE, (free, free))
try:
    open(os.devnull)
except OSError as error:
    logging.getLogger("shop").error("no more files", exc_info=error)
else:
    sys.exit("there are still file descriptors")
events.show(a_change(name="会議"))
"""

ODD_RECORDS = """
import logging, sys
from duetime.logs.formatting import LogSettings, install

class Odd:
    def __repr__(self): raise RuntimeError("no text")
    __str__ = __repr__

install(LogSettings(format=sys.argv[1], level="info"))
log = logging.getLogger("shop")
log.info("%d", "tea")
log.info("%s", Odd())
log.info("x", extra={"odd": Odd()})
sys.stderr.close()
log.info("not shown")
print("alive")
"""

CHATTY = """
import logging, sys, threading
from duetime.logs.formatting import LogSettings, install

install(LogSettings(format="json", level="debug"))
logging.getLogger("botocore.auth").debug("a signature")
thread = threading.Thread(target=lambda: 1 / 0, name="mine")
thread.start()
thread.join()
"""


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=os.environ | {"PYTHONIOENCODING": "utf-8"},
    )


@pytest.mark.parametrize("form", ["text", "json", "terminal"])
def test_a_process_without_file_descriptors_can_still_log_and_show_events(form: str):
    done = run(OUT_OF_DESCRIPTORS, form)
    assert done.returncode == 0, done.stderr
    assert "no more files" in done.stderr
    assert "Too many open files" in done.stderr
    assert "SUCCEEDED  会議" in done.stderr


@pytest.mark.parametrize("form", ["text", "json", "terminal"])
def test_no_record_raises_into_the_code_that_logs(form: str):
    done = run(ODD_RECORDS, form)
    assert (done.returncode, done.stdout) == (0, "alive\n"), done.stderr
    assert "tea" in done.stderr


def test_a_thread_that_fails_is_a_record_and_libraries_are_kept_quiet():
    done = run(CHATTY)
    [line] = done.stderr.splitlines()
    assert '"message": "thread failed: mine"' in line
    assert "ZeroDivisionError" in line
