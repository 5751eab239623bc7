"""huey with Redis, or with SQLite that syncs each commit to disk."""

import os
from datetime import datetime

from huey import RedisHuey, SqliteHuey
from record import nap as take_a_nap
from record import record

if redis := os.environ.get("PEER_REDIS"):
    app = RedisHuey("work", url=redis, store_none=True)
else:
    app = SqliteHuey("work", filename=os.environ["PEER_SQLITE"], fsync=True, store_none=True)


@app.task()
def noop() -> None:
    """Does nothing."""


@app.task()
def stamp(number: int) -> None:
    record("began", number)


@app.task()
def nap(number: int, seconds: float) -> None:
    take_a_nap(number, seconds)


def submit_noops(count: int) -> None:
    for _ in range(count):
        noop()


def submit_stamps(due: list[float]) -> None:
    for number, at in enumerate(due):
        stamp.schedule((number,), eta=datetime.fromtimestamp(at))


def submit_naps(count: int, seconds: float) -> None:
    for number in range(count):
        nap(number, seconds)
