"""Processes that end with the benchmark, together with all that they have started."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

POLITE = 5  # seconds for an orderly end


@contextmanager
def started(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str] | None = None,
    user: str | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """Runs a command in a session of its own, so that Ctrl-C reaches this program alone, which then
    ends the others. Their output goes to a file in `folder`, which is named after the program."""
    with (folder / f"{Path(command[0]).name}.log").open("ab") as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            user=user,
            group=user,
            extra_groups=[] if user else None,
        )
    try:
        yield process
    finally:
        end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """Ends a process: first politely, then with all that is left of its session."""
    if process.poll() is None:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(POLITE)
    kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kills a process and its whole session with -9, and waits until they are gone."""
    while left := session(process.pid):
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)
    process.wait()


def session(leader: int) -> list[int]:
    """Returns the processes of a session that have not ended."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):
            state, _, _, session = stat.read_text().rpartition(")")[2].split()[:4]
            if int(session) == leader and state != "Z":
                found.append(int(stat.parent.name))
    return found
