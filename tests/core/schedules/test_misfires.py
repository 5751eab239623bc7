"""After an outage one call decides about missed fire times, and puts those that run."""

from dataclasses import replace

import pytest

from duetime.core.change import Unknown
from duetime.core.lifecycle import Status
from duetime.core.occurrence import OverlapPolicy
from duetime.core.recurrence.rules import DelayRule, RateRule, Recurrence
from duetime.core.schedules.changes import create
from duetime.core.schedules.late_runs import decide_late_run
from duetime.core.schedules.plan import Misfire, MisfirePolicy, Plan
from duetime.core.schedules.schedule import SPAN_CHECK_DELAY
from duetime.core.schedules.start_decisions import Start
from duetime.core.times import DAY, HOUR, MINUTE, SECOND
from duetime.engine.materialise import materialise
from tests.core.schedules.fakes import Cut, Table
from tests.factories import NOW, WAKE_POLICY, a_spec, an_id
from tests.follow_ups import run_follow_ups_by_id

HOURLY = RateRule(every=HOUR, anchor=NOW)


def a_table(rule, policy: MisfirePolicy, **plan) -> tuple[Table, str]:
    table = Table()
    misfire = Misfire(policy=policy, grace=0)
    made = create(
        WAKE_POLICY,
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


def test_missed_and_near_fire_times_are_put_in_one_call():
    table, schedule_id = a_table(HOURLY, MisfirePolicy.RUN_ONCE)
    table.clock.advance(6 * HOUR - MINUTE)
    materialise(table.ports, [table.stored[schedule_id]], now=table.now)

    assert put(table) == [5 * HOUR, 6 * HOUR]
    assert len(table.sent) == 2


def end(table: Table, number: int) -> None:
    """Ends the run of a fire time, and runs its follow-up as the relay does."""
    task = next(t for t in table.tasks.values() if t.spec.occurrence.scheduled_for == NOW + number)
    table.tasks[task.id] = replace(task, status=Status.SUCCEEDED)
    run_follow_ups_by_id(table.ports, [task.id])


def test_run_all_puts_missed_runs_at_a_pace_if_they_may_overlap():
    table, schedule_id = a_table(HOURLY, MisfirePolicy.RUN_ALL, overlap=OverlapPolicy.ALLOW)
    table.clock.advance(3 * HOUR + MINUTE)
    materialise(table.ports, [table.stored[schedule_id]], now=table.now)

    assert put(table) == [HOUR, 2 * HOUR, 3 * HOUR]
    assert sorted(task.due_at - table.now for task in table.tasks.values()) == [0, 1_000, 2_000]


def test_run_all_puts_missed_runs_one_after_another_if_they_must_not_overlap():
    table, schedule_id = a_table(HOURLY, MisfirePolicy.RUN_ALL)
    table.clock.advance(3 * HOUR + MINUTE)
    materialise(table.ports, [table.stored[schedule_id]], now=table.now)
    assert put(table) == [HOUR]
    end(table, HOUR)
    assert put(table) == [HOUR, 2 * HOUR]
    materialise(table.ports, [table.stored[schedule_id]], now=table.now)
    assert put(table) == [HOUR, 2 * HOUR]
    end(table, 2 * HOUR)

    assert put(table) == [HOUR, 2 * HOUR, 3 * HOUR]
    end(table, 3 * HOUR)
    assert table.stored[schedule_id].spans == ()


def test_scanner_finds_the_unreported_end_of_a_missed_run():
    table, schedule_id = a_table(HOURLY, MisfirePolicy.RUN_ALL)
    table.clock.advance(2 * HOUR + MINUTE)
    materialise(table.ports, [table.stored[schedule_id]], now=table.now)
    [first] = table.tasks.values()
    table.tasks[first.id] = replace(first, status=Status.SUCCEEDED)
    assert table.stored[schedule_id].wake.at == table.now + SPAN_CHECK_DELAY
    table.clock.advance(SPAN_CHECK_DELAY)
    materialise(table.ports, [table.stored[schedule_id]], now=table.now)

    assert put(table) == [HOUR, 2 * HOUR]


def test_a_missed_run_that_a_cut_off_pass_had_put_is_sent_when_its_turn_comes():
    table, schedule_id = a_table(HOURLY, MisfirePolicy.RUN_ALL)
    table.clock.advance(2 * HOUR + MINUTE)
    table.calls_left = 3  # the decision, the task, the ledger; not the schedule
    with pytest.raises(Cut):
        materialise(table.ports, [table.stored[schedule_id]], now=table.now)
    table.calls_left = None
    assert (put(table), table.sent) == ([HOUR], [])
    materialise(table.ports, [table.stored[schedule_id]], now=table.now)

    assert [delivery.task_id for delivery in table.sent] == list(table.tasks)


def test_older_fire_times_get_the_last_runs_of_a_limited_schedule():
    table, schedule_id = a_table(
        HOURLY, MisfirePolicy.RUN_ALL, max_runs=2, overlap=OverlapPolicy.ALLOW
    )
    table.clock.advance(6 * HOUR - MINUTE)
    materialise(table.ports, [table.stored[schedule_id]], now=table.now)

    assert put(table) == [HOUR, 2 * HOUR]
    assert table.stored[schedule_id].next_at is None


def test_short_delay_is_not_skipped_forever():
    table, schedule_id = a_table(DelayRule(delay=SECOND), MisfirePolicy.SKIP)
    table.clock.advance(MINUTE)
    materialise(table.ports, [table.stored[schedule_id]], now=table.now)

    assert put(table) == [MINUTE + SECOND]
    assert table.stored[schedule_id].awaited is not None


def test_a_second_outage_during_a_catch_up_counts_and_runs_nothing_twice():
    table, schedule_id = a_table(
        RateRule(every=MINUTE, anchor=NOW), MisfirePolicy.RUN_ALL, overlap=OverlapPolicy.ALLOW
    )
    table.clock.advance(30 * MINUTE)
    for wait in (0, 20 * MINUTE, *[MINUTE] * 20):
        table.clock.advance(wait)
        materialise(table.ports, [table.stored[schedule_id]], now=table.now)

    schedule = table.stored[schedule_id]
    assert schedule.runs == len(table.tasks) == len(set(put(table)))
    assert put(table) == [n * MINUTE for n in range(1, schedule.runs + 1)]
    assert schedule.spans == ()


def test_schedule_does_not_advance_past_an_occurrence_of_unknown_fate(monkeypatch):
    table, schedule_id = a_table(HOURLY, MisfirePolicy.RUN_ONCE)
    table.clock.advance(HOUR - MINUTE)
    store = table.ports.store
    monkeypatch.setattr(store, "put", lambda tasks: [Unknown("throttled")] * len(tasks))
    before = table.stored[schedule_id]
    materialise(table.ports, [before], now=table.now)

    assert table.stored[schedule_id] == before
    assert table.entries == {}


def test_late_runs_of_a_finished_schedule_start_at_the_pace_of_its_tasks_in_any_order():
    """Not at the pace of all fire times of the rule, of which a day has thousands."""
    rule = RateRule(every=20 * SECOND, anchor=NOW)
    limits = {"overlap": OverlapPolicy.ALLOW, "max_runs": 3}
    table, schedule_id = a_table(rule, MisfirePolicy.RUN_ALL, **limits)
    materialise(table.ports, [table.stored[schedule_id]], now=table.now)
    schedule = table.stored[schedule_id]
    assert (schedule.next_at, put(table)) == (None, [20_000, 40_000, 60_000])
    now = NOW + DAY

    for task in sorted(table.tasks.values(), key=lambda task: task.due_at, reverse=True):
        decision = decide_late_run(schedule, task.spec.occurrence, now, WAKE_POLICY.horizon)
        schedule = decision.schedule or schedule
        assert isinstance(decision, Start) or decision.until <= now + MINUTE
