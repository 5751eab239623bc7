"""The ledger as rows: each fire time once, newest first, in pages or in a single read."""

from hypothesis import given
from hypothesis import strategies as st

from duetime.core.recurrence.rules import CronRule, RateRule, Recurrence
from duetime.core.schedules.codec import decode_entry, encode_entry
from duetime.core.schedules.ledger import LedgerOutcome, LedgerRow, LedgerSpan
from duetime.core.schedules.ledger_history import Place, history, place_of
from duetime.core.times import MINUTE
from tests.core.schedules.fakes import Table
from tests.factories import NOW

EACH_MINUTE = Recurrence(rules=(RateRule(every=MINUTE, anchor=NOW),))


def a_row(number: int, backfill: str = "", outcome=LedgerOutcome.FIRED) -> LedgerRow:
    return LedgerRow(
        schedule_id="s",
        fire_time=NOW + number * MINUTE,
        version=1,
        outcome=outcome,
        task_id=f"task{number}{backfill}",
        backfill=backfill,
    )


def a_span(start: int, until: int, recurrence=EACH_MINUTE) -> LedgerSpan:
    return LedgerSpan(
        schedule_id="s",
        start=NOW + start * MINUTE,
        until=NOW + until * MINUTE,
        outcome=LedgerOutcome.PAUSED,
        recurrence=recurrence,
    )


def read_rows(*entries):
    table = Table()
    table.ports.schedules.write_ledger(entries, NOW)
    return [one.row for one in history(table.read_ledger, Place())], table


def numbers(rows) -> list[int]:
    return [(row.fire_time - NOW) // MINUTE for row in rows]


def test_span_is_expanded_between_the_rows():
    rows, _ = read_rows(a_row(1), a_row(2), a_span(3, 6), a_row(6))
    assert numbers(rows) == [6, 5, 4, 3, 2, 1]
    assert [row.outcome for row in rows[1:4]] == [LedgerOutcome.PAUSED] * 3


def test_row_of_a_task_replaces_the_fire_time_of_a_span():
    rows, _ = read_rows(a_span(1, 6), a_row(3))
    assert numbers(rows) == [5, 4, 3, 2, 1]
    assert rows[2].task_id == "task3"


def test_row_of_a_backfill_is_listed_besides_the_fire_time_of_a_span():
    rows, _ = read_rows(a_span(1, 4), a_row(2, "fill"), a_row(3), a_row(3, "fill"))
    assert [(n, row.backfill) for n, row in zip(numbers(rows), rows, strict=True)] == [
        (3, "fill"),
        (3, ""),
        (2, "fill"),
        (2, ""),
        (1, ""),
    ]


def test_overlapping_spans_list_each_fire_time_once():
    rows, _ = read_rows(a_span(1, 4), a_span(1, 9), a_span(7, 12))
    assert numbers(rows) == list(range(11, 0, -1))


def test_rule_that_cannot_be_evaluated_hides_only_its_own_span():
    bad = Recurrence(rules=(CronRule(expression="* * * * *", timezone="Nowhere/Land"),))
    rows, _ = read_rows(a_row(1), a_span(2, 5, bad), a_row(5))
    assert numbers(rows) == [5, 1]


entries = st.lists(
    st.one_of(
        st.builds(a_row, st.integers(0, 30), st.sampled_from(["", "", "fill"])),
        st.builds(
            lambda start, length: a_span(start, start + length),
            st.integers(0, 30),
            st.integers(1, 10),
        ),
    ),
    max_size=15,
)


@given(entries, st.integers(1, 5))
def test_pages_have_the_same_rows_as_a_single_read(entries, size):
    rows, table = read_rows(*entries)
    keys = [(row.fire_time, row.backfill) for row in rows]
    assert keys == sorted(set(keys), reverse=True)
    paged, place = [], Place()
    while True:
        page = []
        for one in history(table.read_ledger, place):
            page.append(one)
            if len(page) == size:
                break
        paged += [one.row for one in page]
        if len(page) < size:
            break
        place = place_of(page[-1].place.cursor())
    assert paged == rows


@given(entries)
def test_ledger_entry_is_decoded_as_it_was_encoded(entries):
    for entry in entries:
        assert decode_entry("s", entry.key, encode_entry(entry)) == entry
