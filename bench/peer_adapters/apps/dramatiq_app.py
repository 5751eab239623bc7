"""Dramatiq with Redis as its broker and for results."""

import os
import time

import dramatiq
from dramatiq.brokers.redis import RedisBroker
from dramatiq.results import Results
from dramatiq.results.backends import RedisBackend
from record import nap as take_a_nap
from record import record

REDIS = os.environ["PEER_REDIS"]
broker = RedisBroker(
    url=f"{REDIS}/0",
    heartbeat_timeout=30_000,  # ms; default: 60,000
    maintenance_chance=50_000,  # of a million commands look for dead workers; default: 1,000
)
broker.add_middleware(Results(backend=RedisBackend(url=f"{REDIS}/1"), store_results=True))
dramatiq.set_broker(broker)


@dramatiq.actor
def noop() -> None:
    """Does nothing."""


@dramatiq.actor
def stamp(number: int) -> None:
    record("began", number)


@dramatiq.actor
def nap(number: int, seconds: float) -> None:
    take_a_nap(number, seconds)


def submit_noops(count: int) -> None:
    dramatiq.group(noop.message() for _ in range(count)).run()


def submit_stamps(due: list[float]) -> None:
    for number, at in enumerate(due):
        delay = max(0, round((at - time.time()) * 1_000))
        stamp.send_with_options(args=(number,), delay=delay)


def submit_naps(count: int, seconds: float) -> None:
    dramatiq.group(nap.message(number, seconds) for number in range(count)).run()
