"""Scans of the wake index, where moto differs from DynamoDB."""

from collections.abc import Sequence
from typing import Any

from duetime.aws import schema
from duetime.aws.table import Table
from duetime.aws.task_items import Item
from duetime.aws.wake_index import read_few
from duetime.core.wakes import Wake
from tests.factories import a_sent_task


class Scanned(Table):
    """Answers a scan with these rows."""

    def __init__(self, wakes: Sequence[Wake], *, more: bool = False) -> None:
        self._answer = [_row(wake) for wake in wakes], more

    def scan(self, index: str, limit: int, **options: Any) -> tuple[Sequence[Item], bool]:
        return self._answer


def _row(wake: Wake) -> dict[str, Any]:
    return {schema.WAKE_BUCKET: {"S": wake.bucket}, schema.WAKE_KEY: {"S": wake.key}}


def test_a_scan_in_the_order_of_hashes_is_put_in_order():
    wakes = [a_sent_task().wake for _ in range(20)]
    ordered = sorted(wakes, key=lambda wake: (wake.bucket, wake.key))

    assert read_few(Scanned(wakes[::-1]), 20) == ordered


def test_an_index_that_may_have_more_rows_is_not_small():
    wakes = [a_sent_task().wake for _ in range(3)]

    assert read_few(Scanned(wakes, more=True), 20) is None
    assert read_few(Scanned([], more=True), 20) is None
