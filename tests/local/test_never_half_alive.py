"""A runner of which a part has failed ends with a sentence and exit code 1: never half alive."""

from pathlib import Path

import pytest

from tests.running import free_port, running

SABOTAGE = """
import logging
from duetime import task
from lambdas.executor.books import Books

def fail(*_, **__):
    raise {error}

@task("sabotage.crew")
def crew(payload, ctx):
    logging.Logger.handle = fail
    Books.next_timer = property(fail)
"""


@pytest.mark.parametrize("error", ["RuntimeError('a bug')", "MemoryError()", "SystemExit(0)"])
def test_runner_whose_bookkeeper_dies_ends_although_logging_fails_too(tmp_path: Path, error: str):
    handlers = tmp_path / "sabotage.py"
    handlers.write_text(SABOTAGE.format(error=error))
    options = ("--handlers", str(handlers))
    with running(tmp_path / "data", free_port(), *options) as runner:
        runner.submit(target={"type": "python", "handler": "sabotage.crew"})
        code, said = runner.wait()

    assert (code, "error: the thread crew-medium failed: " in said) == (1, True), said
    assert error.partition("(")[0] in said
