"""A runner with a failed part stops with a message and exit code 1."""

from pathlib import Path

import pytest

from tests.running import free_port, running

SABOTAGE = """
import logging
from duetime import task
from duetime.executor.attempt_loop import AttemptLoop

def fail(*_, **__):
    raise {error}

@task("sabotage.pool")
def pool(payload, ctx):
    logging.Logger.handle = fail
    AttemptLoop.next_timer = property(fail)
"""


@pytest.mark.parametrize("error", ["RuntimeError('a bug')", "MemoryError()", "SystemExit(0)"])
def test_runner_whose_worker_pool_dies_ends_although_logging_fails_too(tmp_path: Path, error: str):
    handlers = tmp_path / "sabotage.py"
    handlers.write_text(SABOTAGE.format(error=error))
    options = ("--handlers", str(handlers))
    with running(tmp_path / "data", free_port(), *options) as runner:
        runner.submit(target={"type": "python", "handler": "sabotage.pool"})
        code, said = runner.wait()

    assert (code, "error: the thread pool failed: " in said) == (1, True), said
    assert error.partition("(")[0] in said
