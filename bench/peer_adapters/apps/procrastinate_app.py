"""procrastinate with PostgreSQL."""

import asyncio
import os
from datetime import UTC, datetime
from typing import Any

import procrastinate
from record import record

BATCH = 1_000
URL = os.environ["PEER_POSTGRESQL"]
SILENCE = 30  # seconds without a heartbeat after which a worker's jobs are retried

app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=URL))


@app.task
async def noop() -> None:
    """Does nothing."""


@app.task
async def stamp(number: int) -> None:
    record("began", number)


@app.task
async def nap(number: int, seconds: float) -> None:
    record("began", number)
    await asyncio.sleep(seconds)
    record("ended", number)


@app.periodic(cron="* * * * * */10")
@app.task(queueing_lock="retry_stalled")
async def retry_stalled(timestamp: int) -> None:  # noqa: ARG001 - given by name
    """Retries what killed workers have left, as the documentation recommends."""
    for job in await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=SILENCE):
        await app.job_manager.retry_job(job)


def connected() -> procrastinate.App:
    return app.open()


def submit_noops(count: int) -> None:
    _defer(noop, [{} for _ in range(count)])


def submit_stamps(due: list[float]) -> None:
    for number, at in enumerate(due):
        stamp.configure(schedule_at=datetime.fromtimestamp(at, UTC)).defer(number=number)


def submit_naps(count: int, seconds: float) -> None:
    _defer(nap, [{"number": number, "seconds": seconds} for number in range(count)])


def _defer(task: Any, arguments: list[dict[str, Any]]) -> None:
    for begin in range(0, len(arguments), BATCH):
        task.batch_defer(*arguments[begin : begin + BATCH])
