"""The text cache of a reader, filled by many threads."""

import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from duetime.aws.item_reader import TEXT_CACHE_SIZE, TaskReader

THREADS = 8
EACH = 2_000


@pytest.fixture
def _switching_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("_switching_often")
def test_texts_are_remembered_from_many_threads_at_once():
    reader = TaskReader(client=None, table="")  # type: ignore[arg-type]
    failed: list[Any] = []

    def remember(number: int) -> None:
        try:
            for n in range(EACH):
                reader.remember(f"task#{number}", {f"run#{n}": "text"})
        except RuntimeError as error:
            failed.append(error)

    threads = [threading.Thread(target=remember, args=(n,)) for n in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failed == []
    assert len(reader._texts) == TEXT_CACHE_SIZE
