"""The ledger: the outcome of every expected fire time, for ninety days."""

from dataclasses import replace

import pytest

from duetime.core.recurrence.rules import RateRule, Recurrence
from duetime.core.schedules.ledger import (
    LEDGER_RETENTION,
    Entry,
    LedgerOutcome,
    LedgerRow,
    LedgerSpan,
)
from duetime.core.schedules.ports import ScheduleStore
from duetime.core.times import DAY, HOUR, MINUTE, SECOND
from tests.backends import Stores
from tests.factories import NOW, a_recurrence, a_schedule, an_id

ONE, OTHER = an_id(), an_id()


def a_row(at: int = NOW, **fields: object) -> LedgerRow:
    given = {"schedule_id": ONE, "version": 1, "outcome": LedgerOutcome.FIRED, "task_id": an_id()}
    return LedgerRow(**(given | {"fire_time": at} | fields))


def a_span(start: int, until: int, **fields: object) -> LedgerSpan:
    given = {"schedule_id": ONE, "outcome": LedgerOutcome.PAUSED, "recurrence": a_recurrence()}
    return LedgerSpan(**(given | {"start": start, "until": until} | fields))


def read(schedules: ScheduleStore, schedule_id: str = ONE, limit: int = 50) -> list[Entry]:
    found: list[Entry] = []
    below = None
    for _ in range(100):
        page = schedules.ledger(schedule_id, below, limit)
        assert len(page.entries) <= limit
        found += page.entries
        if not page.more:
            return found
        below = page.entries[-1].key
    raise AssertionError("the ledger does not end")


def test_an_empty_ledger_has_one_empty_page(schedules: ScheduleStore):
    page = schedules.ledger(ONE, None, 10)

    assert (list(page.entries), page.more) == ([], False)
    schedules.write_ledger([], NOW)


def test_every_field_is_kept(schedules: ScheduleStore):
    entries = [
        a_row(
            NOW + 5, version=7, outcome=LedgerOutcome.BROKEN, task_id=None, error="kaputt — 不行"
        ),
        a_row(NOW + 4, backfill="b1"),
        a_row(NOW + 3),
        a_span(NOW, NOW + 2, recurrence=Recurrence(rules=(RateRule(every=1, anchor=NOW),))),
    ]
    schedules.write_ledger(entries, NOW)

    assert read(schedules) == entries


@pytest.mark.parametrize("limit", [1, 2, 7, 50])
def test_the_newest_ledger_entries_come_first_page_by_page(schedules: ScheduleStore, limit: int):
    entries = [a_row(NOW - n * MINUTE) for n in range(20)]
    schedules.write_ledger(entries[::-1], NOW)

    assert read(schedules, limit=limit) == entries


def test_a_span_stands_behind_its_end_and_before_all_that_it_covers(schedules: ScheduleStore):
    entries = [
        a_row(NOW),
        a_span(NOW - HOUR, NOW),
        a_row(NOW - MINUTE, backfill="b1"),
        a_row(NOW - HOUR),
        a_row(NOW - HOUR - MINUTE),
    ]
    schedules.write_ledger(entries, NOW)

    assert read(schedules, limit=2) == entries


def test_one_fire_time_may_also_be_part_of_backfills(schedules: ScheduleStore):
    entries = [a_row(NOW, backfill=name) for name in ("b2", "b1", "")]
    schedules.write_ledger(entries, NOW)

    assert read(schedules, limit=1) == entries


def test_more_than_a_hundred_schedules_are_read(schedules: ScheduleStore):
    entries: list[Entry] = [a_row(NOW - n) for n in range(205)]
    schedules.write_ledger(entries, NOW)

    assert read(schedules) == entries


def test_writing_a_ledger_entry_again_changes_nothing(schedules: ScheduleStore):
    entries = [a_row(NOW), a_span(NOW - HOUR, NOW)]
    for _ in range(2):
        schedules.write_ledger(entries, NOW)

    assert read(schedules) == entries


def test_of_two_ledger_rows_the_newer_version_is_kept(schedules: ScheduleStore):
    second = a_row(version=2, outcome=LedgerOutcome.SKIPPED_MISFIRE, task_id=None)
    fresh = a_row(NOW - 1)
    schedules.write_ledger([a_row(version=1)], NOW)
    schedules.write_ledger([second], NOW)
    schedules.write_ledger([a_row(version=1), fresh], NOW)

    assert read(schedules) == [second, fresh]
    again = replace(second, error="later")
    schedules.write_ledger([again], NOW)
    assert read(schedules) == [again, fresh]


def test_of_two_ledger_spans_the_later_is_kept(schedules: ScheduleStore):
    longer = a_span(NOW - DAY, NOW)
    schedules.write_ledger([a_span(NOW - HOUR, NOW)], NOW)
    schedules.write_ledger([longer], NOW)

    assert read(schedules) == [longer]


def test_every_schedule_has_its_own_ledger(schedules: ScheduleStore):
    ours, theirs = a_row(), a_row(schedule_id=OTHER)
    schedules.write_ledger([ours, theirs], NOW)

    assert read(schedules, ONE) == [ours]
    assert read(schedules, OTHER) == [theirs]


def test_the_ledger_is_no_part_of_its_schedule(schedules: ScheduleStore):
    schedule = a_schedule(id=ONE)
    schedules.put([schedule])
    entry = a_row()
    schedules.write_ledger([entry], NOW)

    assert read(schedules) == [entry]
    assert schedules.get([ONE]) == {ONE: schedule}


def test_an_entry_is_kept_for_ninety_days(stores: Stores):
    entries = [a_row(NOW), a_span(NOW - DAY, NOW - HOUR)]
    stores.schedules.write_ledger(entries, NOW)

    stores.clock.advance(LEDGER_RETENTION - SECOND)
    assert read(stores.schedules) == entries
    stores.clock.advance(3 * SECOND)
    assert read(stores.schedules) == []


def test_expired_ledger_entries_do_not_hide_others(stores: Stores):
    old = [a_row(NOW + n) for n in range(30)]
    backfilled = a_row(NOW - DAY, backfill="b1")
    stores.schedules.write_ledger(old, NOW)
    stores.clock.advance(LEDGER_RETENTION - DAY)
    stores.schedules.write_ledger([backfilled], stores.clock.now())
    stores.clock.advance(2 * DAY)

    assert read(stores.schedules, limit=5) == [backfilled]


def test_a_ledger_goes_with_its_schedule(schedules: ScheduleStore):
    schedules.put([a_schedule(id=ONE), a_schedule(id=OTHER)])
    theirs = a_row(schedule_id=OTHER)
    schedules.write_ledger([*(a_row(NOW - n) for n in range(60)), theirs], NOW)

    schedules.delete(ONE)

    assert read(schedules, ONE) == []
    assert read(schedules, OTHER) == [theirs]


def test_an_unreadable_row_is_skipped_and_logged(stores: Stores, caplog: pytest.LogCaptureFixture):
    entries = [a_row(NOW - n) for n in range(9)]
    stores.schedules.write_ledger(entries, NOW)
    for bad in entries[3:6]:
        stores.spoil(ONE, bad.key)

    assert read(stores.schedules, limit=2) == [*entries[:3], *entries[6:]]
    assert {record.schedule_id for record in caplog.records} == {ONE}
