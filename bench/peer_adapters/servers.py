"""The servers that peers need: on 127.0.0.1, at a free port, with a data folder of their own."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import create_connection
from tempfile import TemporaryDirectory

from bench.harness import free_port
from bench.peer_adapters.processes import started

Environment = dict[str, str]
POSTGRES_USER = "postgres"  # PostgreSQL refuses to run as root


@contextmanager
def redis(folder: Path, fsync: bool = False) -> Iterator[Environment]:
    """Runs Redis with its defaults (snapshots, no append-only file). With `fsync` it has an
    append-only file instead, and each command is on disk before it is answered."""
    port = free_port()
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder)]
    if fsync:
        command += ["--save", "", "--appendonly", "yes", "--appendfsync", "always"]
    with started(command, folder) as process:
        _wait(lambda: _listens(port), process)
        yield {"PEER_REDIS_PORT": str(port), "PEER_REDIS": f"redis://127.0.0.1:{port}"}


def ask_redis(port: str, *commands: str) -> int:
    """Returns the number that the last of these commands answers."""
    with create_connection(("127.0.0.1", int(port))) as connection:
        connection.sendall("".join(f"{command}\r\n" for command in commands).encode())
        with connection.makefile("rb") as answers:
            lines = [answers.readline() for _ in commands]
    return int(lines[-1].removeprefix(b":"))


@contextmanager
def postgresql(_: Path | None = None) -> Iterator[Environment]:
    """Runs PostgreSQL with its defaults: each commit is on disk before it is answered. Its folder
    is below that for temporary files, since its user may not enter ours."""
    programs = postgresql_programs()
    if programs is None:
        raise FileNotFoundError("initdb")
    user = POSTGRES_USER if os.geteuid() == 0 else None
    port = free_port()
    with TemporaryDirectory(prefix="postgresql-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        if user:
            shutil.chown(folder, user, user)
        init = [str(programs / "initdb"), "-D", f"{name}/data", "-A", "trust", "-U", "bench", "-N"]
        with started([*init, "-E", "UTF8"], folder, user=user) as process:
            if process.wait() != 0:
                raise RuntimeError((folder / "initdb.log").read_text())
        server = [str(programs / "postgres"), "-D", f"{name}/data", "-p", str(port)]
        server += ["-h", "127.0.0.1", "-c", "unix_socket_directories="]
        with started(server, folder, user=user) as process:
            ready = [str(programs / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(port)]
            _wait(lambda: subprocess.run(ready, check=False).returncode == 0, process)
            yield {"PEER_POSTGRESQL": f"postgresql://bench@127.0.0.1:{port}/postgres"}


def postgresql_programs() -> Path | None:
    """Returns the folder with initdb and postgres: that of the newest version installed."""
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    versions = Path("/usr/lib/postgresql").glob("*/bin")
    return max(versions, key=lambda path: int(path.parent.name), default=None)


def _listens(port: int) -> bool:
    try:
        create_connection(("127.0.0.1", port)).close()
    except ConnectionError:
        return False
    return True


def _wait(is_up: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        if process.poll() is not None:
            raise RuntimeError(f"{process.args} ended with {process.returncode}")
        if is_up():
            return
        time.sleep(0.05)
    raise TimeoutError(f"{process.args} does not answer")
