"""One schedule through anything: passes late, doubled, cut off between any two calls; changes,
pauses and backfills in between. What must hold is held against the rule itself."""

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace

from hypothesis import given
from hypothesis import strategies as st

from lambdas.core.lifecycle import Status
from lambdas.core.occurrence import OverlapPolicy
from lambdas.core.schedules import changes
from lambdas.core.schedules.history import Place, history
from lambdas.core.schedules.ledger import Expected
from lambdas.core.schedules.plan import MisfirePolicy, Plan
from lambdas.core.schedules.schedule import MISSED, Schedule, ScheduleStatus
from lambdas.core.schedules.times import after
from lambdas.core.times import DAY, HOUR, MINUTE, SECOND, Millis
from lambdas.debts import pay_named
from lambdas.materialise import materialise
from tests.core.schedules.draws import plans
from tests.core.schedules.stand_ins import Cut, Table
from tests.factories import RULES, an_id

STEPS = ["pass", "cut", "stale", "overtaken", "end", "pause", "resume", "change", "backfill"]


@dataclass
class Course:
    plan: Plan
    table: Table = field(default_factory=Table)
    # Of every version but the last: its plan, and from when to when it held.
    versions: list[tuple[Plan, Millis, Millis]] = field(default_factory=list)
    old: tuple[Schedule, Millis] | None = None  # as a slow scanner has read it, and when

    def __post_init__(self) -> None:
        made = changes.create(RULES, an_id(), self.plan, self.table.now)
        self.id = made.id
        self.table.replace(made)

    @property
    def schedule(self) -> Schedule:
        return self.table.standing[self.id]

    def take(self, step: str, number: int, plan: Plan) -> None:
        now, found = self.table.now, self.schedule
        match step:
            case "pass":
                self.pass_over(found)
            case "cut":
                self.table.calls_left = number % 6
                self.pass_over(found)
                self.table.calls_left = None
            case "stale":  # a scanner that was slow, or one of two
                self.pass_over(*(self.old or (found, now)))
                self.old = found, now
            case "overtaken":
                self.table.before_advance = lambda: self.take("change", number, plan)
                self.pass_over(found)
                self.table.before_advance = None
            case "end":
                self.end(number)
            case "pause" if found.status is ScheduleStatus.ACTIVE:
                self.begin(changes.pause(RULES, found, now, None))
            case "resume" if found.status is ScheduleStatus.PAUSED:
                self.begin(changes.resume(RULES, found, now))
            case "change":
                self.begin(changes.change(RULES, found, plan, now))
            case "backfill":
                self.backfill(found, number, now)

    def end(self, number: int) -> None:
        """One of its runs ends, and the relay hears of it."""
        going = [t for t in self.table.tasks.values() if not t.status.finished]
        if going:
            task = going[number % len(going)]
            self.table.tasks[task.id] = replace(task, status=Status.SUCCEEDED)
            pay_named(self.table.ports, [task.id])

    def begin(self, changed: changes.Changed) -> None:
        before = self.schedule
        self.versions.append((before.plan, before.since, self.table.now))
        self.table.ports.schedules.note(changed.notes, self.table.now)
        self.table.replace(changed.schedule)

    def backfill(self, found: Schedule, number: int, now: Millis) -> None:
        self.table.replace(
            changes.backfill(
                RULES,
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
        """As a scanner does: again and again, as long as something is near."""
        for _ in range(200):
            wake = self.schedule.wake
            if wake is None or wake.at > self.table.now:
                return
            self.pass_over(self.schedule)
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
    _all_is_told_once_and_true(course)


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
    """Passes that were cut off may have put what a later version does not count."""
    return bool(course.versions)


def _all_is_told_once_and_true(course: Course) -> None:
    told = [one.row for one in history(course.table.read_ledger, Place())]
    own = {row.fire_time: row for row in told if not row.backfill}
    assert len(own) == sum(not row.backfill for row in told)
    keys = [(row.fire_time, row.backfill) for row in told]
    assert keys == sorted(keys, reverse=True)
    for row in own.values():
        if row.outcome is Expected.FIRED:
            assert row.task_id in course.table.tasks
    put = {
        task.spec.occurrence.scheduled_for
        for task in course.table.tasks.values()
        if task.spec.occurrence.version is not None
    }
    fired = {at for at, row in own.items() if row.outcome is Expected.FIRED}
    assert put - fired <= _changed_under_a_cut(course, put)
    assert _expected(course) <= own.keys()


def _changed_under_a_cut(course: Course, put: set[Millis]) -> set[Millis]:
    """Put by a pass that was cut off before it could say so, in a version that is over."""
    return put if course.versions else set()


def _expected(course: Course) -> set[Millis]:
    schedule, now = course.schedule, course.table.now
    expected: set[Millis] = set()
    for plan, since, until in [*course.versions, (schedule.plan, schedule.since, now)]:
        if plan.max_runs is not None:
            continue  # where it ends, and what it leaves out then, is told by its count
        for at in after(plan, since):
            if at > until or len(expected) > 20_000:
                break
            expected.add(at)
    if schedule.status is ScheduleStatus.PAUSED:  # told when it is resumed
        expected = {at for at in expected if schedule.next_at is None or at < schedule.next_at}
    missed = [span for span in schedule.spans if span.id == MISSED]  # told when they are put
    return {at for at in expected if not any(s.next_at <= at < s.until for s in missed)}


@given(plans, st.lists(st.sampled_from([MINUTE, HOUR, DAY]), max_size=6))
def test_what_is_missed_is_made_up_for_as_the_policy_has_it(plan, waits):
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
