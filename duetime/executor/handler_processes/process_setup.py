"""What a handler process gets at its start, so that it finds the handlers of the executor."""

import os
import sys
from collections.abc import Sequence

from duetime.executor.handler_processes.protocol import Setup
from duetime.handlers import registry, sources
from duetime.logs import formatting as log_lines


def setup_of(load: Sequence[str], threads: int) -> Setup:
    modules = {handler.__module__ for handler in registry.handlers().values()}
    return Setup(
        path=list(sys.path),
        python_path=os.environ.get("PYTHONPATH"),
        load=tuple(load),
        modules=tuple(sorted(modules)),
        threads=threads,
        sources=sources.kept(),
        logs=log_lines.installed(),
    )
