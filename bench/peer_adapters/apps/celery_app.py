"""Celery with Redis as its broker and for results."""

import os
from datetime import UTC, datetime

from celery import Celery
from record import nap as take_a_nap
from record import record

REDIS = os.environ["PEER_REDIS"]
app = Celery("celery_app", broker=f"{REDIS}/0", backend=f"{REDIS}/1")
app.conf.update(
    broker_connection_retry_on_startup=True,
    broker_transport_options={
        "visibility_timeout": 30,  # default: an hour
        "unacked_restore_throttle": 1,  # looks for lost tasks every 10 s; default: every 100 s
    },
    task_acks_late=True,  # a task whose worker was killed runs again
    task_reject_on_worker_lost=True,
    worker_enable_remote_control=False,
)


@app.task
def noop() -> None:
    """Does nothing."""


@app.task
def stamp(number: int) -> None:
    record("began", number)


@app.task
def nap(number: int, seconds: float) -> None:
    take_a_nap(number, seconds)


def submit_noops(count: int) -> None:
    with app.producer_or_acquire() as producer:
        for _ in range(count):
            noop.apply_async(producer=producer)


def submit_stamps(due: list[float]) -> None:
    with app.producer_or_acquire() as producer:
        for number, at in enumerate(due):
            eta = datetime.fromtimestamp(at, UTC)
            stamp.apply_async((number,), eta=eta, producer=producer)


def submit_naps(count: int, seconds: float) -> None:
    with app.producer_or_acquire() as producer:
        for number in range(count):
            nap.apply_async((number, seconds), producer=producer)
