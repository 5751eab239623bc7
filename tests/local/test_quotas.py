"""The quotas of the local runner: their file, and the numbers that follow the store."""

import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest

from duetime.core.errors import DuetimeError
from duetime.core.quotas import Quota, Rate
from duetime.core.steps.cancel import cancel
from duetime.core.steps.remove import Removal
from duetime.core.times import SECOND
from duetime.local.quotas import read_quota_file
from duetime.sqlite.quota_store import MAX_BUCKETS, SqliteQuotaStore
from duetime.sqlite.task_store import SqliteTaskStore
from tests.factories import NOW, SteppedClock, a_spec, a_task

ONE_A_SECOND = Rate(interval=1_000_000_000, burst=1)
ROOM = 100


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteTaskStore]:
    with closing(SqliteTaskStore(tmp_path / "duetime.db")) as store:
        yield store


def stored(quotas: SqliteQuotaStore, namespace: str = "default") -> int:
    return ROOM - quotas.admit(namespace, ROOM, ROOM)


def test_quotas_come_from_a_file(tmp_path: Path):
    file = tmp_path / "quotas.json"
    file.write_text('{"shop": {"stored_tasks": 5}}')

    assert read_quota_file(file).of("shop") == Quota(stored_tasks=5)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "No such file or directory"),
        (b"\xff", "is not UTF-8 text"),
        (b"{", "quotas: not JSON"),
        (b'{"shop": {"burst": 1}}', "quotas.shop.burst: needs submissions_per_second"),
    ],
)
def test_quota_file_that_cannot_be_used_is_named(
    tmp_path: Path, content: bytes | None, message: str
):
    file = tmp_path / "quotas.json"
    if content is not None:
        file.write_bytes(content)

    with pytest.raises(DuetimeError) as refused:
        read_quota_file(file)

    assert str(file) in str(refused.value)
    assert message in str(refused.value)


def test_count_follows_tasks_that_come_and_go(store: SqliteTaskStore):
    clock = SteppedClock()
    store.put([a_task(), a_task(spec=a_spec(namespace="shop"))])
    quotas = store.quotas(clock)
    assert (stored(quotas), stored(quotas, "shop"), stored(quotas, "blog")) == (1, 1, 0)

    task = a_task()
    store.put([task, a_task()])
    store.put([task])
    assert stored(quotas) == 3, "a repeated put stores nothing"

    store.apply([cancel(task, now=NOW)])
    [ended] = store.get([task.id]).values()
    for _ in range(2):
        store.remove([Removal(task=ended)])
    assert (stored(quotas), stored(quotas, "shop")) == (2, 1)


def test_count_leaves_out_what_was_rolled_back(store: SqliteTaskStore):
    quotas = store.quotas(SteppedClock())

    def put_and_fail(connection: object) -> None:
        store._writes.put(connection, [a_task()])  # type: ignore[arg-type]
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        store._database.write(put_and_fail)
    store.put([a_task()])

    assert stored(quotas) == 1


def test_rate_is_the_same_for_requests_of_several_threads():
    clock = SteppedClock()
    quotas = SqliteQuotaStore(lambda _: 0, clock)
    rate = Rate(interval=1_000_000, burst=2_000)
    granted: list[int] = []

    def submit() -> None:
        granted.extend(quotas.take("shop", rate, 1).granted for _ in range(1_000))

    threads = [Thread(target=submit) for _ in range(5)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)

    assert sum(granted) == 2_000


def test_wall_clock_that_is_set_back_does_not_stop_a_namespace():
    clock = SteppedClock()
    quotas = SqliteQuotaStore(lambda _: 0, clock)
    assert quotas.take("shop", ONE_A_SECOND, 1).granted == 1
    clock.set_by(-5 * SECOND)

    clock.advance(SECOND)

    assert quotas.take("shop", ONE_A_SECOND, 1).granted == 1


def test_buckets_that_are_full_again_are_forgotten():
    clock = SteppedClock()
    quotas = SqliteQuotaStore(lambda _: 0, clock)
    for number in range(MAX_BUCKETS):
        quotas.take(f"n{number}", ONE_A_SECOND, 1)
    clock.advance(SECOND - 1)
    quotas.take("late", ONE_A_SECOND, 1)
    clock.advance(1)

    quotas.take("last", ONE_A_SECOND, 1)

    assert set(quotas._full_at) == {"late", "last"}
