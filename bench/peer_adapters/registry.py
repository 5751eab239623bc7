"""The peers, each with the settings that suit it best here, and Duetime itself."""

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache, partial
from pathlib import Path

import psycopg

from bench.harness import ENDED, free_port
from bench.peer_adapters import installs, servers
from bench.peer_adapters.adapter import APPS, Environment, Peer, Server
from bench.peer_adapters.installs import MODULES, PYTHON
from duetime.version import VERSION

ROOT = APPS.parents[2]
CORES = os.cpu_count() or 1
THREADS = 8  # of a worker process
SNAPSHOTS = "Redis with its defaults: snapshots, no fsync"
APPENDED = "Redis with appendfsync always"
QUEUED = 100  # BullMQ's concurrency


def peers(duetime_options: Sequence[str] = ()) -> list[Peer]:
    return [
        duetime(duetime_options),
        bullmq("bullmq", "BullMQ", SNAPSHOTS, servers.redis),
        bullmq("bullmq-fsync", "BullMQ, fsync", APPENDED, partial(servers.redis, fsync=True)),
        celery(),
        dramatiq(),
        huey("huey-redis", "huey, Redis", SNAPSHOTS, servers.redis, installs.missing_redis),
        huey("huey-sqlite", "huey, SQLite", "SQLite, synchronous=FULL", sqlite, share=0.2),
        procrastinate(),
    ]


def duetime(options: Sequence[str]) -> Peer:
    program = str(ROOT / ".venv/bin/duetime")
    handlers = str(APPS / "duetime_handlers.py")

    def worker(environment: Environment, slots: int | None) -> list[str]:
        command = [program, "local", "--no-demo", "--log-level", "warning", *options]
        command += ["--port", environment["PEER_PORT"], "--data", environment["PEER_DATA"]]
        return [*command, "--handlers", handlers, *(["--concurrency", str(slots)] if slots else [])]

    def ended(environment: Environment) -> int:
        return _sqlite_count(Path(environment["PEER_DATA"]) / "duetime.db", ENDED)

    return Peer(
        name="duetime",
        what=f"Duetime {VERSION}",
        works=" ".join(["one process, 100 slots", *options]),
        submits="HTTP batches of 100, two connections",
        stored="SQLite, synchronous=FULL",
        server=_folder,
        worker=worker,
        client=[str(ROOT / ".venv/bin/python"), str(APPS / "client.py"), "duetime_app"],
        ended=ended,
    )


def bullmq(name: str, what: str, stored: str, server: Server) -> Peer:
    worker = str(APPS / "bullmq_worker.cjs")
    return Peer(
        name=name,
        what=what,
        works=f"one process, concurrency {QUEUED}",
        submits="addBulk of 1,000",
        stored=stored,
        package="bullmq",
        missing=lambda: installs.missing_node() or installs.missing_redis(),
        server=server,
        worker=lambda _, slots: ["node", worker, str(slots or QUEUED)],
        client=["node", str(APPS / "bullmq_client.cjs")],
        ended=lambda e: servers.ask_redis(e["PEER_REDIS_PORT"], "ZCARD bull:work:completed"),
        differs_in_storage=name != "bullmq",
        environment={"NODE_PATH": str(MODULES), "NODE_ENV": "production"},
    )


def celery() -> Peer:
    def worker(_: Environment, slots: int | None) -> list[str]:
        command = [_program("celery"), "-A", "celery_app", "worker", "-c", str(slots or CORES)]
        # What its documentation recommends for tasks that take long, and for short ones.
        command += ["--prefetch-multiplier", "1" if slots else "64"]
        return [*command, "--without-gossip", "--without-mingle", "--without-heartbeat"]

    return Peer(
        name="celery",
        what="Celery",
        works=f"prefork, {CORES} processes, prefetch 64, late acks",
        submits="apply_async with one producer",
        stored=SNAPSHOTS,
        package="celery",
        missing=lambda: installs.missing_python() or installs.missing_redis(),
        server=servers.redis,
        worker=worker,
        share=0.2,
        client=_client("celery_app"),
        ended=_stored_in_second_database,
    )


def dramatiq() -> Peer:
    def worker(_: Environment, slots: int | None) -> list[str]:
        processes, threads = (1, slots) if slots else (CORES, THREADS)
        command = [_program("dramatiq"), "dramatiq_app", "--processes", str(processes)]
        return [*command, "--threads", str(threads)]

    return Peer(
        name="dramatiq",
        what="Dramatiq",
        works=f"{CORES} processes of {THREADS} threads, Results middleware",
        submits="group().run()",
        stored=SNAPSHOTS,
        package="dramatiq",
        missing=lambda: installs.missing_python() or installs.missing_redis(),
        server=servers.redis,
        worker=worker,
        client=_client("dramatiq_app"),
        ended=_stored_in_second_database,
    )


def huey(
    name: str,
    what: str,
    stored: str,
    server: Server,
    missing: Callable[[], str | None] | None = None,
    share: float = 0.5,
) -> Peer:
    def ended(environment: Environment) -> int:
        if file := environment.get("PEER_SQLITE"):
            return _sqlite_count(Path(file), "SELECT count(*) FROM kv")
        return servers.ask_redis(environment["PEER_REDIS_PORT"], "HLEN huey.results.work")

    def worker(_: Environment, slots: int | None) -> list[str]:
        return [_program("huey_consumer"), "huey_app.app", "-w", str(slots or THREADS)]

    return Peer(
        name=name,
        what=what,
        works=f"one process of {THREADS} threads",
        submits="one call each",
        stored=stored,
        package="huey",
        missing=lambda: installs.missing_python() or (missing() if missing else None),
        server=server,
        worker=worker,
        share=share,
        client=_client("huey_app"),
        ended=ended,
    )


def procrastinate() -> Peer:
    def worker(_: Environment, slots: int | None) -> list[str]:
        command = [_program("procrastinate"), "--app", "procrastinate_app.app", "worker"]
        return [*command, "--concurrency", str(slots or 20), "--fetch-job-polling-interval", "0.1"]

    def ended(environment: Environment) -> int:
        query = (
            "SELECT count(*) FROM procrastinate_jobs"
            " WHERE status = 'succeeded' AND task_name NOT LIKE '%retry_stalled'"
        )
        row = _connected(environment["PEER_POSTGRESQL"]).execute(query).fetchone()
        return row[0] if row else 0

    schema = [_program("procrastinate"), "--app", "procrastinate_app.app", "schema", "--apply"]
    return Peer(
        name="procrastinate",
        what="procrastinate",
        works=f"{CORES} processes, concurrency 20, poll every 0.1 s",
        submits="batch_defer of 1,000",
        stored="PostgreSQL with its defaults: fsync",
        package="procrastinate",
        missing=lambda: installs.missing_python() or installs.missing_postgresql(),
        server=servers.postgresql,
        prepare=schema,
        worker=worker,
        processes=CORES,
        share=0.1,
        client=_client("procrastinate_app"),
        ended=ended,
    )


@cache
def _connected(url: str) -> psycopg.Connection[tuple[int]]:
    return psycopg.connect(url, autocommit=True)


@contextmanager
def sqlite(folder: Path) -> Iterator[Environment]:
    yield {"PEER_SQLITE": str(folder / "huey.db")}


@contextmanager
def _folder(folder: Path) -> Iterator[Environment]:
    yield {"PEER_DATA": str(folder / "duetime"), "PEER_PORT": str(free_port())}


def _program(name: str) -> str:
    return str(PYTHON.parent / name)


def _client(app: str) -> list[str]:
    return [str(PYTHON), str(APPS / "client.py"), app]


def _stored_in_second_database(environment: Environment) -> int:
    return servers.ask_redis(environment["PEER_REDIS_PORT"], "SELECT 1", "DBSIZE")


def _sqlite_count(file: Path, query: str) -> int:
    try:
        return int(_opened(file).execute(query).fetchone()[0])
    except sqlite3.OperationalError:
        return 0  # no table yet


@lru_cache(maxsize=1)
def _opened(file: Path) -> sqlite3.Connection:
    """One connection for all looks: to open one takes longer than to count."""
    return sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=30, check_same_thread=False)
