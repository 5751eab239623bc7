"""The same tasks as those of the peers, as handlers of Duetime."""

import sys
from pathlib import Path
from typing import Any

from duetime import Context, task

sys.path.append(str(Path(__file__).parent))
from record import nap as take_a_nap
from record import record


@task("peers.noop")
def noop(_: Any, __: Context) -> None:
    """Does nothing."""


@task("peers.stamp")
def stamp(number: int) -> None:
    record("began", number)


@task("peers.nap")
def nap(number: int, seconds: float) -> None:
    take_a_nap(number, seconds)
