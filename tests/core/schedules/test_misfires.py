"""After an outage one pass is enough: it decides, and then puts what it has decided."""

from dataclasses import replace

import pytest

from lambdas.core.change import Unknown
from lambdas.core.lifecycle import Status
from lambdas.core.occurrence import OverlapPolicy
from lambdas.core.recurrence.rules import DelayRule, RateRule, Recurrence
from lambdas.core.schedules.changes import create
from lambdas.core.schedules.plan import Misfire, MisfirePolicy, Plan
from lambdas.core.schedules.schedule import CHECKED_AFTER
from lambdas.core.times import HOUR, MINUTE, SECOND
from lambdas.debts import pay_named
from lambdas.materialise import materialise
from tests.core.schedules.stand_ins import Cut, Table
from tests.factories import NOW, RULES, a_spec, an_id

HOURLY = RateRule(every=HOUR, anchor=NOW)


def a_table(rule, policy: MisfirePolicy, **plan) -> tuple[Table, str]:
    table = Table()
    misfire = Misfire(policy=policy, grace=0)
    made = create(
        RULES,
        an_id(),
        Plan(
            recurrence=Recurrence(rules=(rule,)),
            task=a_spec(run_at=0),
            misfire=misfire,
            **plan,
        ),
        NOW,
    )
    table.replace(made)
    return table, made.id


def put(table: Table) -> list[int]:
    return sorted(task.spec.occurrence.scheduled_for - NOW for task in table.tasks.values())


def test_what_was_missed_and_what_is_near_are_put_together():
    table, schedule_id = a_table(HOURLY, MisfirePolicy.RUN_ONCE)
    table.clock.advance(6 * HOUR - MINUTE)
    materialise(table.ports, [table.standing[schedule_id]], now=table.now)

    assert put(table) == [5 * HOUR, 6 * HOUR]
    assert len(table.sent) == 2


def end(table: Table, number: int) -> None:
    """The run of a fire time ends, and the relay hears of it."""
    task = next(t for t in table.tasks.values() if t.spec.occurrence.scheduled_for == NOW + number)
    table.tasks[task.id] = replace(task, status=Status.SUCCEEDED)
    pay_named(table.ports, [task.id])


def test_run_all_puts_missed_runs_at_a_pace_if_they_may_overlap():
    table, schedule_id = a_table(HOURLY, MisfirePolicy.RUN_ALL, overlap=OverlapPolicy.ALLOW)
    table.clock.advance(3 * HOUR + MINUTE)
    materialise(table.ports, [table.standing[schedule_id]], now=table.now)

    assert put(table) == [HOUR, 2 * HOUR, 3 * HOUR]
    assert sorted(task.due_at - table.now for task in table.tasks.values()) == [0, 1_000, 2_000]


def test_run_all_puts_missed_runs_one_after_another_if_they_must_not_overlap():
    table, schedule_id = a_table(HOURLY, MisfirePolicy.RUN_ALL)
    table.clock.advance(3 * HOUR + MINUTE)
    materialise(table.ports, [table.standing[schedule_id]], now=table.now)
    assert put(table) == [HOUR]
    end(table, HOUR)
    assert put(table) == [HOUR, 2 * HOUR]
    materialise(table.ports, [table.standing[schedule_id]], now=table.now)
    assert put(table) == [HOUR, 2 * HOUR]
    end(table, 2 * HOUR)

    assert put(table) == [HOUR, 2 * HOUR, 3 * HOUR]
    end(table, 3 * HOUR)
    assert table.standing[schedule_id].spans == ()


def test_a_scanner_finds_the_end_of_a_missed_run_that_nobody_reported():
    table, schedule_id = a_table(HOURLY, MisfirePolicy.RUN_ALL)
    table.clock.advance(2 * HOUR + MINUTE)
    materialise(table.ports, [table.standing[schedule_id]], now=table.now)
    [first] = table.tasks.values()
    table.tasks[first.id] = replace(first, status=Status.SUCCEEDED)
    assert table.standing[schedule_id].wake.at == table.now + CHECKED_AFTER
    table.clock.advance(CHECKED_AFTER)
    materialise(table.ports, [table.standing[schedule_id]], now=table.now)

    assert put(table) == [HOUR, 2 * HOUR]


def test_a_missed_run_that_a_cut_off_pass_had_put_is_sent_when_its_turn_comes():
    table, schedule_id = a_table(HOURLY, MisfirePolicy.RUN_ALL)
    table.clock.advance(2 * HOUR + MINUTE)
    table.calls_left = 3  # the decision, the task, the ledger; not the schedule
    with pytest.raises(Cut):
        materialise(table.ports, [table.standing[schedule_id]], now=table.now)
    table.calls_left = None
    assert (put(table), table.sent) == ([HOUR], [])
    materialise(table.ports, [table.standing[schedule_id]], now=table.now)

    assert [delivery.task_id for delivery in table.sent] == list(table.tasks)


def test_the_older_have_the_last_runs():
    table, schedule_id = a_table(
        HOURLY, MisfirePolicy.RUN_ALL, max_runs=2, overlap=OverlapPolicy.ALLOW
    )
    table.clock.advance(6 * HOUR - MINUTE)
    materialise(table.ports, [table.standing[schedule_id]], now=table.now)

    assert put(table) == [HOUR, 2 * HOUR]
    assert table.standing[schedule_id].next_at is None


def test_a_short_delay_is_not_skipped_for_ever():
    table, schedule_id = a_table(DelayRule(delay=SECOND), MisfirePolicy.SKIP)
    table.clock.advance(MINUTE)
    materialise(table.ports, [table.standing[schedule_id]], now=table.now)

    assert put(table) == [MINUTE + SECOND]
    assert table.standing[schedule_id].awaited is not None


def test_a_second_outage_during_a_catch_up_counts_and_runs_nothing_twice():
    table, schedule_id = a_table(
        RateRule(every=MINUTE, anchor=NOW), MisfirePolicy.RUN_ALL, overlap=OverlapPolicy.ALLOW
    )
    table.clock.advance(30 * MINUTE)
    for wait in (0, 20 * MINUTE, *[MINUTE] * 20):
        table.clock.advance(wait)
        materialise(table.ports, [table.standing[schedule_id]], now=table.now)

    schedule = table.standing[schedule_id]
    assert schedule.runs == len(table.tasks) == len(set(put(table)))
    assert put(table) == [n * MINUTE for n in range(1, schedule.runs + 1)]
    assert schedule.spans == ()


def test_a_schedule_does_not_go_past_what_nobody_knows_was_put(monkeypatch):
    table, schedule_id = a_table(HOURLY, MisfirePolicy.RUN_ONCE)
    table.clock.advance(HOUR - MINUTE)
    store = table.ports.store
    monkeypatch.setattr(store, "put", lambda tasks: [Unknown("throttled")] * len(tasks))
    before = table.standing[schedule_id]
    materialise(table.ports, [before], now=table.now)

    assert table.standing[schedule_id] == before
    assert table.entries == {}
