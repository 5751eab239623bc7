"""One schedule under faults: passes that are late, doubled or cut off between any two calls, with
changes, pauses and backfills in between. The result is compared with the rule itself."""

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace

from hypothesis import given
from hypothesis import strategies as st

from duetime.core.lifecycle import Status
from duetime.core.occurrence import OverlapPolicy
from duetime.core.schedules import changes
from duetime.core.schedules.fire_times import after
from duetime.core.schedules.ledger import LedgerOutcome
from duetime.core.schedules.ledger_history import Place, history
from duetime.core.schedules.plan import MisfirePolicy, Plan
from duetime.core.schedules.schedule import OWN_RULE, Schedule, ScheduleStatus
from duetime.core.times import DAY, HOUR, MINUTE, SECOND, Millis
from duetime.engine.materialise import materialise
from tests.core.schedules.fakes import Cut, Table
from tests.core.schedules.strategies import plans
from tests.factories import WAKE_POLICY, an_id
from tests.follow_ups import run_follow_ups_by_id

STEPS = ["pass", "cut", "stale", "overtaken", "end", "pause", "resume", "change", "backfill"]


@dataclass
class Course:
    plan: Plan
    table: Table = field(default_factory=Table)
    # Of every version but the last: its plan, and from when to when it was valid.
    versions: list[tuple[Plan, Millis, Millis]] = field(default_factory=list)
    old: tuple[Schedule, Millis] | None = None  # as a slow scanner read it, and when

    def __post_init__(self) -> None:
        made = changes.create(WAKE_POLICY, an_id(), self.plan, self.table.now)
        self.id = made.id
        self.table.replace(made)

    @property
    def schedule(self) -> Schedule:
        return self.table.stored[self.id]

    def take(self, step: str, number: int, plan: Plan) -> None:
        now, found = self.table.now, self.schedule
        match step:
            case "pass":
                self.pass_over(found)
            case "cut":
                self.table.calls_left = number % 6
                self.pass_over(found)
                self.table.calls_left = None
            case "stale":  # a slow scanner, or one of two
                self.pass_over(*(self.old or (found, now)))
                self.old = found, now
            case "overtaken":
                self.table.before_advance = lambda: self.take("change", number, plan)
                self.pass_over(found)
                self.table.before_advance = None
            case "end":
                self.end(number)
            case "pause" if found.status is ScheduleStatus.ACTIVE:
                self.begin(changes.pause(WAKE_POLICY, found, now, None))
            case "resume" if found.status is ScheduleStatus.PAUSED:
                self.begin(changes.resume(WAKE_POLICY, found, now))
            case "change":
                self.begin(changes.change(WAKE_POLICY, found, plan, now))
            case "backfill":
                self.backfill(found, number, now)

    def end(self, number: int) -> None:
        """Ends one of its runs, and runs the follow-up as the relay does."""
        going = [t for t in self.table.tasks.values() if not t.status.finished]
        if going:
            task = going[number % len(going)]
            self.table.tasks[task.id] = replace(task, status=Status.SUCCEEDED)
            run_follow_ups_by_id(self.table.ports, [task.id])

    def begin(self, changed: changes.Changed) -> None:
        before = self.schedule
        self.versions.append((before.plan, before.since, self.table.now))
        self.table.ports.schedules.write_ledger(changed.ledger_entries, self.table.now)
        self.table.replace(changed.schedule)

    def backfill(self, found: Schedule, number: int, now: Millis) -> None:
        self.table.replace(
            changes.backfill(
                WAKE_POLICY,
                found,
                f"fill{number}",
                start=now - (number % 100) * MINUTE,
                until=now,
                overlap=OverlapPolicy.ALLOW if number % 2 else OverlapPolicy.QUEUE,
                per_minute=6,
                now=now,
            )
        )

    def pass_over(self, schedule: Schedule, now: Millis | None = None) -> None:
        with suppress(Cut):
            materialise(self.table.ports, [schedule], now=now or self.table.now)

    def settle(self) -> None:
        """Makes passes as a scanner does, as long as something is due. Missed runs are put at
        their pace: if a pass leaves the schedule due, the next one comes a minute later."""
        for _ in range(200):
            wake = self.schedule.wake
            if wake is None or wake.at > self.table.now:
                return
            self.pass_over(self.schedule)
            if self.schedule.wake == wake:
                self.table.clock.advance(MINUTE)
        raise AssertionError("it does not come to rest")


moves = st.lists(
    st.tuples(
        st.sampled_from([0, 20 * SECOND, MINUTE, 4 * MINUTE, 20 * MINUTE, 3 * HOUR, DAY]),
        st.sampled_from(STEPS),
        st.integers(0, 10_000),
        plans,
    ),
    max_size=12,
)


@given(plans, moves)
def test_no_fire_time_is_lost_or_doubled(plan, moves):
    course = Course(plan)
    for wait, step, number, other in moves:
        course.table.clock.advance(wait)
        course.take(step, number, other)
    course.settle()

    _it_only_goes_ahead(course)
    _ids_tell_fire_times_apart(course)
    _runs_are_counted(course)
    _check_the_ledger_is_complete_and_true(course)


def _it_only_goes_ahead(course: Course) -> None:
    for before, after_it in course.table.advances:
        assert after_it.revision == before.revision + 1
        assert after_it.version in (before.version, before.version + 1)
        if after_it.version == before.version and None not in (before.next_at, after_it.next_at):
            assert after_it.next_at >= before.next_at
        if after_it.version == before.version:
            assert after_it.runs >= before.runs


def _ids_tell_fire_times_apart(course: Course) -> None:
    own = Counter(
        (task.spec.occurrence.version, task.spec.occurrence.scheduled_for)
        for task in course.table.tasks.values()
        if task.spec.occurrence.version is not None
    )
    assert all(times == 1 for times in own.values())
    assert all(
        task.due_at >= task.spec.occurrence.scheduled_for for task in course.table.tasks.values()
    )


def _runs_are_counted(course: Course) -> None:
    schedule = course.schedule
    own = [
        task
        for task in course.table.tasks.values()
        if task.spec.occurrence.version is not None and task.status is not Status.CANCELLED
    ]
    assert len(own) <= schedule.runs or _put_in_vain(course)
    most = schedule.plan.max_runs
    if not course.versions and most is not None:
        assert len(own) <= most


def _put_in_vain(course: Course) -> bool:
    """Cut-off passes may have put tasks that a later version does not count."""
    return bool(course.versions)


def _check_the_ledger_is_complete_and_true(course: Course) -> None:
    rows = [one.row for one in history(course.table.read_ledger, Place())]
    own = {row.fire_time: row for row in rows if not row.backfill}
    assert len(own) == sum(not row.backfill for row in rows)
    keys = [(row.fire_time, row.backfill) for row in rows]
    assert keys == sorted(keys, reverse=True)
    for row in own.values():
        if row.outcome is LedgerOutcome.FIRED:
            assert row.task_id in course.table.tasks
    put = {
        task.spec.occurrence.scheduled_for
        for task in course.table.tasks.values()
        if task.spec.occurrence.version is not None
    }
    fired = {at for at, row in own.items() if row.outcome is LedgerOutcome.FIRED}
    assert put - fired <= _changed_under_a_cut(course, put)
    assert _expected(course) <= own.keys()


def _changed_under_a_cut(course: Course, put: set[Millis]) -> set[Millis]:
    """Whether a cut-off pass of an old version put a task without recording it."""
    return put if course.versions else set()


def _expected(course: Course) -> set[Millis]:
    schedule, now = course.schedule, course.table.now
    expected: set[Millis] = set()
    for plan, since, until in [*course.versions, (schedule.plan, schedule.since, now)]:
        if plan.max_runs is not None:
            continue  # its count decides where it ends, and what it skips then
        for at in after(plan, since):
            if at > until or len(expected) > 20_000:
                break
            expected.add(at)
    if schedule.status is ScheduleStatus.PAUSED:  # recorded when it is resumed
        expected = {at for at in expected if schedule.next_at is None or at < schedule.next_at}
    missed = [span for span in schedule.spans if span.id == OWN_RULE]  # recorded when they are put
    return {at for at in expected if not any(s.next_at <= at < s.until for s in missed)}


@given(plans, st.lists(st.sampled_from([MINUTE, HOUR, DAY]), max_size=6))
def test_missed_fire_times_run_as_the_misfire_policy_says(plan, waits):
    plan = replace(plan, max_runs=None)
    course = Course(plan)
    for wait in waits:
        course.settle()
        before, found = set(course.table.tasks), course.schedule
        course.table.clock.advance(wait)
        if found.next_at is None or found.spans:
            continue
        course.pass_over(found)
        new = [t for i, t in course.table.tasks.items() if i not in before]
        late_by = [course.table.now - task.spec.occurrence.scheduled_for for task in new]
        missed = [late for late in late_by if late > plan.lateness]
        match plan.misfire.policy:
            case MisfirePolicy.SKIP:
                assert missed == []
            case MisfirePolicy.RUN_ONCE:
                assert len(missed) <= 1
        window = plan.misfire.window
        assert all(late <= window for late in missed if window is not None)
