"""What must always hold of schedules. Sees every write of a schedule and every start of a run."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from duetime.core.events import StatusChange, status_change
from duetime.core.lifecycle import Status
from duetime.core.occurrence import Occurrence, OverlapPolicy
from duetime.core.schedules.fire_times import after
from duetime.core.schedules.ledger import LedgerOutcome, LedgerRow
from duetime.core.schedules.ledger_history import Place, history
from duetime.core.schedules.plan import MisfirePolicy, Plan
from duetime.core.schedules.ports import ScheduleStore
from duetime.core.schedules.schedule import LATE, Schedule, ScheduleStatus, Span
from duetime.core.schedules.start_decisions import MISFIRE, OVERLAP
from duetime.core.task import Task
from duetime.core.times import MINUTE, SECOND, Millis
from tests.simulation.engine import Engine, Process
from tests.simulation.faults import Faults

TO_LEASE: Millis = 5 * SECOND  # from the gate's reading of the clock, with unanswered calls
LONGEST_DELAY: Millis = 6 * MINUTE  # of an executor between the gate and the lease
RECOVERY: Millis = 8 * MINUTE  # after the faults, until everything that was stuck is found

Fail = Callable[[str, str], None]  # what is wrong, and the id of its task or schedule


@dataclass(frozen=True, slots=True)
class Version:
    number: int
    plan: Plan
    status: ScheduleStatus
    since: Millis  # by the clock of the process that wrote it
    began: Millis  # by the engine's clock


@dataclass
class ScheduleInvariants:
    engine: Engine
    faults: Faults
    fail: Fail
    tasks: dict[str, Task]
    current: dict[str, Schedule] = field(default_factory=dict)
    versions: dict[str, list[Version]] = field(default_factory=lambda: defaultdict(list))
    deleted: set[str] = field(default_factory=set)
    leaving: set[str] = field(default_factory=set)  # schedules that a user deletes
    revived: set[str] = field(default_factory=set)
    late: set[str] = field(default_factory=set)
    backed_up_until: Millis = 0  # no executors until then
    on_end: Callable[[StatusChange], object] = lambda change: None
    _started: dict[tuple[str, Millis], str] = field(default_factory=dict)
    _of: dict[str, list[str]] = field(
        default_factory=lambda: defaultdict(list)
    )  # task ids by schedule
    _named: dict[str, Millis] = field(default_factory=dict)  # when a task was named as active
    _ended: dict[str, Millis] = field(default_factory=dict)
    _in_line: set[str] = field(default_factory=set)  # tasks that waited, or that the gate admitted
    _heads: set[str] = field(default_factory=set)  # tasks whose turn in a span came
    _late: dict[str, set[Span]] = field(default_factory=lambda: defaultdict(set))
    _made_up: dict[tuple[str, int], Millis] = field(default_factory=dict)  # the latest, by version

    # writes

    def replaced(self, process: Process, schedule: Schedule) -> None:
        before = self.current.get(schedule.id)
        self.current[schedule.id] = schedule
        process.note("schedule", schedule.id, _summary(schedule))
        if before is None or before.version != schedule.version:
            number, now = schedule.version, self.engine.now
            began = Version(number, schedule.plan, schedule.status, schedule.since, now)
            self.versions[schedule.id].append(began)
        elif before.next_at and schedule.next_at and schedule.next_at < before.next_at:
            self._fail("the next fire time went back", schedule.id)
        self._in_line |= {task_id for task_id in (schedule.active, *schedule.waiting) if task_id}
        self._heads |= {span.running for span in schedule.spans if span.running}
        self._late[schedule.id] |= {span for span in schedule.spans if span.id == LATE}
        if schedule.active:
            self._named.setdefault(schedule.active, self._named_at(process, schedule))

    def _named_at(self, process: Process, schedule: Schedule) -> Millis:
        """Returns when the schedule began to name its active run.

        An executor that is delayed between its reading of the clock and its write names the run
        with a past time, and other processes go by that time."""
        delayed = process.disturbed_at > self.engine.now - LONGEST_DELAY
        return (schedule.active_since if delayed else None) or self.engine.now

    def set_aside(self, schedule_id: str) -> None:
        if schedule_id not in self.leaving:
            self._fail("a healthy schedule was set aside", schedule_id)

    def put(self, task: Task) -> None:
        occurrence = task.spec.occurrence
        if occurrence is None:
            return
        of_it = self._of[occurrence.schedule_id]
        version = occurrence.version
        made_by = next(
            (v for v in self.versions[occurrence.schedule_id] if v.number == version), None
        )
        late = self.engine.now - task.created_at > MINUTE  # the process that put it was frozen
        if late:
            self.late.add(task.id)
        elif made_by is not None and made_by.plan.delay is not None:
            apart = self.revived | self.late
            others = [self.tasks[i] for i in of_it if i not in apart]
            if any(not t.status.finished and _version(t) == version for t in others):
                self.fail("a delay has two runs at the same time", task.id)
        of_it.append(task.id)

    def changed(self, process: Process, before: Task, after_it: Task) -> None:
        if before.status is Status.DEAD and not after_it.status.finished:
            self.revived.add(after_it.id)
            self._ended.pop(after_it.id, None)
        if not before.status.finished and after_it.status.finished:
            self._end(process, after_it)
        if after_it.attempt == 1 and before.attempt == 0:
            self._start(process, after_it)

    def _end(self, process: Process, task: Task) -> None:
        self._ended[task.id] = self.engine.now
        change = status_change(None, task)
        if change is not None and (change.has_follow_up or change.schedule_id):
            self.on_end(change)
        occurrence = task.spec.occurrence
        if occurrence is None or task.status is not Status.CANCELLED:
            return
        if task.reason in (OVERLAP, MISFIRE) and occurrence.version is None:
            self.fail(f"a run outside the rule was dropped: {task.reason}", task.id)
        if task.reason == OVERLAP and task.attempt == 0:
            self._check_overlapped(task, occurrence)
        if task.reason == MISFIRE:
            self._check_missed(process, task, occurrence)

    def _check_overlapped(self, task: Task, occurrence: Occurrence) -> None:
        """Checks that another run was going on when this one was due, even if both came late. Or
        this one waited, and a later run took its place, perhaps in the same write. The later run
        may be of another version, whose policy is to cancel what waits."""
        waited, later = task.id in self._in_line, self._later_in_line(occurrence)
        if occurrence.overlap is OverlapPolicy.CANCEL and (waited or later):
            return
        if waited and any(one.overlap is OverlapPolicy.CANCEL for one in later):
            return
        others = [i for i in self._of[occurrence.schedule_id] if i != task.id and i in self._named]
        slack = 2 * self.faults.skew + SECOND
        if not any(
            self._named[i] <= task.due_at + slack
            and self._ended.get(i, self.engine.now) >= task.due_at - slack
            for i in others
        ):
            self.fail("skipped for overlap, but no other run was going on", task.id)

    def _later_in_line(self, occurrence: Occurrence) -> list[Occurrence]:
        schedule = self.current[occurrence.schedule_id]
        line = [self.tasks[i].spec.occurrence for i in (schedule.active, *schedule.waiting) if i]
        return [o for o in line if o and o.scheduled_for > occurrence.scheduled_for]

    def _check_missed(self, process: Process, task: Task, occurrence: Occurrence) -> None:
        plan = self._plan(occurrence)
        if plan is None:
            return
        at = occurrence.scheduled_for
        # The relay's clock sets the due time of a delay's run, one executor waits for it, and
        # another decides: three clocks that differ can use up a short grace.
        if self._calm(at) and plan.lateness > 3 * self.faults.skew + 2 * SECOND:
            self.fail("was in time, but was taken for missed", task.id)
        if plan.misfire.policy is MisfirePolicy.RUN_ALL:
            self.fail("the policy runs all missed runs, but this one was dropped", task.id)
        late_by = process.clock.now() - at
        if plan.misfire.policy is MisfirePolicy.SKIP and late_by <= plan.lateness:
            self.fail(f"taken for missed after {late_by} ms", task.id)

    def _plan(self, occurrence: Occurrence) -> Plan | None:
        versions = self.versions[occurrence.schedule_id]
        return next((v.plan for v in versions if v.number == occurrence.version), None)

    def _start(self, process: Process, task: Task) -> None:
        occurrence = task.spec.occurrence
        if occurrence is None:
            return
        if occurrence.version is not None:
            self._check_fire_time(task, occurrence)
            self._check_version(task, occurrence)
            self._check_in_time(process, task, occurrence)
        if occurrence.overlap is not OverlapPolicy.ALLOW:
            self._check_overlap(task, occurrence)

    def _check_fire_time(self, task: Task, occurrence: Occurrence) -> None:
        key = occurrence.schedule_id, occurrence.scheduled_for
        if self._started.setdefault(key, task.id) != task.id:
            self.fail(f"the fire time of {self._started[key]} starts twice", task.id)

    def _check_in_time(self, process: Process, task: Task, occurrence: Occurrence) -> None:
        """Checks that a late run starts by the misfire policy, or because it waited."""
        plan = self._plan(occurrence)
        if plan is None or process.disturbed_at > self.engine.now - LONGEST_DELAY:
            return
        late_by = process.clock.now() - occurrence.scheduled_for
        queued = occurrence.overlap in (OverlapPolicy.QUEUE, OverlapPolicy.CANCEL)
        if late_by <= plan.lateness + TO_LEASE or (queued and task.id in self._in_line):
            return
        if plan.misfire.policy is MisfirePolicy.SKIP:
            self.fail(f"started {late_by} ms late, but the policy skips missed runs", task.id)
        elif plan.catches_up_in_order and plan.delay is None and task.id not in self._heads:
            self.fail(f"started {late_by} ms late, before its turn", task.id)
        elif not plan.catches_up_in_order and plan.delay is None:
            self._check_pace(plan, task, occurrence)
        if plan.misfire.policy is MisfirePolicy.RUN_ONCE and plan.delay is None:
            key = occurrence.schedule_id, occurrence.version or 0
            if self._made_up.get(key, 0) > occurrence.scheduled_for:
                self.fail("started after a later missed run", task.id)
            self._made_up[key] = occurrence.scheduled_for

    def _check_pace(self, plan: Plan, task: Task, occurrence: Occurrence) -> None:
        """Checks that a late run that may overlap others was put late on purpose, or starts at the
        pace of a span that covers it, counted from the first fire time of the span."""
        at = occurrence.scheduled_for
        if task.due_at > at + plan.lateness:
            return
        slack = 2 * self.faults.skew
        spans = [s for s in self._late[occurrence.schedule_id] if s.covers(at)]
        starts = [s.due_at + s.interval * len(_until(plan, s.next_at - 1, at - 1)) for s in spans]
        if not any(start <= self.engine.now + slack for start in starts):
            self.fail("started late, but earlier than its pace allows", task.id)

    def _check_version(self, task: Task, occurrence: Occurrence) -> None:
        """Checks the version, except for a change while the executor was delayed between gate and
        lease: that change comes too late."""
        known = self.versions[occurrence.schedule_id]
        later = [version for version in known if version.number > occurrence.version]
        if later and later[0].began < self.engine.now - LONGEST_DELAY:
            self.fail("started long after its schedule had been changed", task.id)

    def _check_overlap(self, task: Task, occurrence: Occurrence) -> None:
        for other_id in self._of[occurrence.schedule_id]:
            other = self.tasks[other_id]
            goes_on = other.status in (Status.RUNNING, Status.RETRYING)
            bound = other.spec.occurrence.overlap is not OverlapPolicy.ALLOW
            if other_id != task.id and goes_on and bound and other_id not in self.revived:
                self.fail(f"started while {other_id} goes on", task.id)

    # without faults

    def still_goes_on(self, schedule_id: str) -> None:
        """Checks, just before its stop, that an active schedule will fire or waits for a run."""
        schedule = self.current[schedule_id]
        if schedule.status is not ScheduleStatus.ACTIVE or schedule_id in self.leaving:
            return
        awaited = self.tasks.get(schedule.awaited or "")
        waits = awaited is not None and (awaited.has_follow_up or not awaited.status.finished)
        makes_up = any(span.own for span in schedule.spans)
        if schedule.next_at is None and not waits and not makes_up:
            self._fail("active, but it will never fire again", schedule_id)
        # Overdue runs wait for room; after an outage of a day, slow ticks still read the backlog.
        read_by = (self.faults.over_at or 0) + self.faults.lasts // 100
        delayed = max(self.backed_up_until + RECOVERY, read_by) > self.engine.now
        if schedule.next_at and schedule.next_at < self.engine.now - MINUTE and not delayed:
            self._fail("its fire time has passed, and no process has put its task", schedule_id)

    def check(self, store: ScheduleStore) -> None:
        for schedule_id in self.current.keys() - self.leaving:
            rows = history(lambda below, most, i=schedule_id: store.ledger(i, below, most), Place())
            self._check_ledger(schedule_id, [one.row for one in rows])
            self._check_runs(schedule_id)

    def _check_ledger(self, schedule_id: str, rows: list[LedgerRow]) -> None:
        own = {row.fire_time: row for row in rows if not row.backfill}
        if len(own) != sum(not row.backfill for row in rows):
            self._fail("the ledger lists a fire time twice", schedule_id)
        for row in rows:
            if row.outcome is LedgerOutcome.FIRED and row.task_id not in self.tasks:
                self._fail(
                    f"the ledger lists {row.fire_time} as fired, but it has no task", schedule_id
                )
        for task_id in self._of[schedule_id]:
            task = self.tasks[task_id]
            at = task.spec.occurrence.scheduled_for
            ran = task.attempt > 0 and task.spec.occurrence.version is not None
            ran = ran and task_id not in self.late  # others may have skipped it by then
            if ran and (at not in own or own[at].outcome is not LedgerOutcome.FIRED):
                self.fail("ran, but the ledger does not list it as fired", task.id)
        for at in self._expected(schedule_id):
            if at not in own:
                self._fail(f"{at} is not in the ledger", schedule_id)
            elif own[at].outcome is LedgerOutcome.SKIPPED_MISFIRE and self._calm(at):
                self._fail(f"{at} was missed without any fault", schedule_id)

    def _check_runs(self, schedule_id: str) -> None:
        most = self.current[schedule_id].plan.max_runs
        ran = [i for i in self._of[schedule_id] if _version(self.tasks[i]) is not None]
        ran = [i for i in ran if self.tasks[i].attempt > 0]
        if most is not None and len(ran) > most + len(self.versions[schedule_id]) - 1:
            self._fail(f"{len(ran)} runs, but max_runs is {most}", schedule_id)

    def _expected(self, schedule_id: str) -> set[Millis]:
        """Returns the fire times of each version while it was current. Not for schedules with
        max_runs: there the number of runs decides where they end."""
        schedule, versions = self.current[schedule_id], self.versions[schedule_id]
        if schedule.plan.max_runs is not None:
            return set()
        ends = [*(version.since for version in versions[1:]), schedule.since]
        expected: set[Millis] = set()
        for version, end in zip(versions, ends, strict=True):
            if version.plan.delay is None:
                expected |= set(_until(version.plan, version.since, end))
        if schedule.status is not ScheduleStatus.ACTIVE:  # listed when it is resumed
            expected = {at for at in expected if at < (schedule.next_at or at + 1)}
        return expected

    def _calm(self, at: Millis) -> bool:
        """Returns whether no fault can have affected this time. After an outage of a day, slow
        ticks need a while to read the backlog."""
        calm_at = self.faults.over_at
        settled = RECOVERY + self.faults.lasts // 100
        return calm_at is not None and at > max(calm_at, self.backed_up_until) + settled

    def _fail(self, what: str, schedule_id: str) -> None:
        self.fail(what, schedule_id)


def _version(task: Task) -> int | None:
    return task.spec.occurrence.version if task.spec.occurrence else None


def _until(plan: Plan, since: Millis, end: Millis) -> list[Millis]:
    times = []
    for at in after(plan, since):
        if at > end:
            break
        times.append(at)
    return times


def _summary(schedule: Schedule) -> str:
    def ahead(at: Millis | None) -> str:
        return "-" if at is None else str(at)

    return (
        f"r{schedule.revision} v{schedule.version} {schedule.status} next={ahead(schedule.next_at)}"
        f" active={schedule.active} waiting={schedule.waiting} awaited={schedule.awaited}"
        f" runs={schedule.runs} spans={[_span(span) for span in schedule.spans]}"
    )


def _span(span: Span) -> str:
    return f"{span.id}:{span.next_at}-{span.until} {span.running}"
