"""What must hold of schedules, whatever happens. Sees every write of a row and every start."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from lambdas.core.events import StatusChange, status_change
from lambdas.core.lifecycle import Status
from lambdas.core.occurrence import Occurrence, OverlapPolicy
from lambdas.core.schedules.decisions import MISFIRE, OVERLAP
from lambdas.core.schedules.history import Place, history
from lambdas.core.schedules.ledger import Expected, LedgerRow
from lambdas.core.schedules.plan import MisfirePolicy, Plan
from lambdas.core.schedules.ports import ScheduleStore
from lambdas.core.schedules.schedule import LATE, Schedule, ScheduleStatus, Span
from lambdas.core.schedules.times import after
from lambdas.core.task import Task
from lambdas.core.times import MINUTE, SECOND, Millis
from tests.simulation.engine import Engine, Process
from tests.simulation.faults import Faults

TO_LEASE: Millis = 5 * SECOND  # from the gate's look at the clock, while calls go unanswered
LONGEST_HOLD: Millis = 6 * MINUTE  # of an executor between the gate and the lease
SETTLES: Millis = 8 * MINUTE  # after the faults: by then whatever was stuck has been found

Fail = Callable[[str, str], None]  # what is wrong, and with whom


@dataclass(frozen=True, slots=True)
class Version:
    number: int
    plan: Plan
    status: ScheduleStatus
    since: Millis  # by the clock of whoever wrote it
    began: Millis  # by the world's


@dataclass
class ScheduleLaws:
    engine: Engine
    faults: Faults
    fail: Fail
    tasks: dict[str, Task]
    standing: dict[str, Schedule] = field(default_factory=dict)
    versions: dict[str, list[Version]] = field(default_factory=lambda: defaultdict(list))
    deleted: set[str] = field(default_factory=set)
    leaving: set[str] = field(default_factory=set)  # somebody wants them deleted
    revived: set[str] = field(default_factory=set)
    late: set[str] = field(default_factory=set)
    backed_up_until: Millis = 0  # nobody was there to empty the lanes
    on_end: Callable[[StatusChange], object] = lambda change: None
    _started: dict[tuple[str, Millis], str] = field(default_factory=dict)
    _of: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))  # its tasks
    _named: dict[str, Millis] = field(default_factory=dict)  # when a task was named as active
    _ended: dict[str, Millis] = field(default_factory=dict)
    _in_line: set[str] = field(default_factory=set)  # tasks that waited for others, or were let in
    _heads: set[str] = field(default_factory=set)  # tasks whose turn in a span came
    _late: dict[str, set[Span]] = field(default_factory=lambda: defaultdict(set))
    _made_up: dict[tuple[str, int], Millis] = field(default_factory=dict)  # the latest, by version

    # what is written

    def replaced(self, process: Process, schedule: Schedule) -> None:
        before = self.standing.get(schedule.id)
        self.standing[schedule.id] = schedule
        process.note("schedule", schedule.id, _told(schedule))
        if before is None or before.version != schedule.version:
            number, now = schedule.version, self.engine.now
            began = Version(number, schedule.plan, schedule.status, schedule.since, now)
            self.versions[schedule.id].append(began)
        elif before.next_at and schedule.next_at and schedule.next_at < before.next_at:
            self._fail("its next fire time went back", schedule.id)
        self._in_line |= {task_id for task_id in (schedule.active, *schedule.waiting) if task_id}
        self._heads |= {span.running for span in schedule.spans if span.running}
        self._late[schedule.id] |= {span for span in schedule.spans if span.id == LATE}
        if schedule.active:
            self._named.setdefault(schedule.active, self._named_at(process, schedule))

    def _named_at(self, process: Process, schedule: Schedule) -> Millis:
        """An executor that is held up between its look at the clock and its write names a run for
        a time that has passed; others believe it."""
        held_up = process.disturbed_at > self.engine.now - LONGEST_HOLD
        return (schedule.active_since if held_up else None) or self.engine.now

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
        late = self.engine.now - task.created_at > MINUTE  # put by a writer that was frozen
        if late:
            self.late.add(task.id)
        elif made_by is not None and made_by.plan.delay is not None:
            apart = self.revived | self.late
            others = [self.tasks[i] for i in of_it if i not in apart]
            if any(not t.status.finished and _version(t) == version for t in others):
                self.fail("a delay has two runs at once", task.id)
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
        if change is not None and (change.owes or change.schedule_id):
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
        """Another run was going on when it was due; it does not count that both came late. Or it
        waited, and a later run took its place, perhaps in the same write."""
        waited = task.id in self._in_line or self._later_waits(occurrence)
        if occurrence.overlap is OverlapPolicy.CANCEL and waited:
            return
        others = [i for i in self._of[occurrence.schedule_id] if i != task.id and i in self._named]
        slack = 2 * self.faults.skew + SECOND
        if not any(
            self._named[i] <= task.due_at + slack
            and self._ended.get(i, self.engine.now) >= task.due_at - slack
            for i in others
        ):
            self.fail("skipped for overlap, and nothing was going on", task.id)

    def _later_waits(self, occurrence: Occurrence) -> bool:
        schedule = self.standing[occurrence.schedule_id]
        line = [self.tasks[i] for i in (schedule.active, *schedule.waiting) if i]
        return any(
            o.scheduled_for > occurrence.scheduled_for for t in line if (o := t.spec.occurrence)
        )

    def _check_missed(self, process: Process, task: Task, occurrence: Occurrence) -> None:
        plan = self._plan(occurrence)
        if plan is None:
            return
        at = occurrence.scheduled_for
        if self._calm(at):
            self.fail("it was in time, and was taken for missed", task.id)
        if plan.misfire.policy is MisfirePolicy.RUN_ALL:
            self.fail("all missed runs are wanted, and one was dropped", task.id)
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
        """A run starts in time, or because the misfire policy lets it, or because it waited."""
        plan = self._plan(occurrence)
        if plan is None or process.disturbed_at > self.engine.now - LONGEST_HOLD:
            return
        late_by = process.clock.now() - occurrence.scheduled_for
        queued = occurrence.overlap in (OverlapPolicy.QUEUE, OverlapPolicy.CANCEL)
        if late_by <= plan.lateness + TO_LEASE or (queued and task.id in self._in_line):
            return
        if plan.misfire.policy is MisfirePolicy.SKIP:
            self.fail(f"started {late_by} ms late, and missed runs are skipped", task.id)
        elif plan.makes_up_in_order and plan.delay is None and task.id not in self._heads:
            self.fail(f"started {late_by} ms late, before its turn", task.id)
        elif not plan.makes_up_in_order and plan.delay is None:
            self._check_pace(plan, task, occurrence)
        if plan.misfire.policy is MisfirePolicy.RUN_ONCE and plan.delay is None:
            key = occurrence.schedule_id, occurrence.version or 0
            if self._made_up.get(key, 0) > occurrence.scheduled_for:
                self.fail("started after a later missed run", task.id)
            self._made_up[key] = occurrence.scheduled_for

    def _check_pace(self, plan: Plan, task: Task, occurrence: Occurrence) -> None:
        """A late run that may overlap others was put late on purpose, or starts at the pace of a
        span that covers it, counted from the first fire time of the span."""
        at = occurrence.scheduled_for
        if task.due_at > at + plan.lateness:
            return
        slack = 2 * self.faults.skew
        spans = [s for s in self._late[occurrence.schedule_id] if s.covers(at)]
        starts = [s.due_at + s.interval * len(_until(plan, s.next_at - 1, at - 1)) for s in spans]
        if not any(start <= self.engine.now + slack for start in starts):
            self.fail("started late, and before its time at the pace", task.id)

    def _check_version(self, task: Task, occurrence: Occurrence) -> None:
        """A change that comes while an executor is held up between gate and lease is too late."""
        known = self.versions[occurrence.schedule_id]
        later = [version for version in known if version.number > occurrence.version]
        if later and later[0].began < self.engine.now - LONGEST_HOLD:
            self.fail("started long after its schedule had been changed", task.id)

    def _check_overlap(self, task: Task, occurrence: Occurrence) -> None:
        for other_id in self._of[occurrence.schedule_id]:
            other = self.tasks[other_id]
            goes_on = other.status in (Status.RUNNING, Status.RETRYING)
            bound = other.spec.occurrence.overlap is not OverlapPolicy.ALLOW
            if other_id != task.id and goes_on and bound and other_id not in self.revived:
                self.fail(f"started while {other_id} goes on", task.id)

    # when nothing fails any more

    def still_goes_on(self, schedule_id: str) -> None:
        """Just before it is stopped: an active one is about to fire, or waits for a run."""
        schedule = self.standing[schedule_id]
        if schedule.status is not ScheduleStatus.ACTIVE or schedule_id in self.leaving:
            return
        awaited = self.tasks.get(schedule.awaited or "")
        waits = awaited is not None and (awaited.owes or not awaited.status.finished)
        makes_up = any(span.own for span in schedule.spans)
        if schedule.next_at is None and not waits and not makes_up:
            self._fail("it is active, and will never fire again", schedule_id)
        held_up = self.backed_up_until + SETTLES > self.engine.now  # overdue ones wait for room
        if schedule.next_at and schedule.next_at < self.engine.now - MINUTE and not held_up:
            self._fail("its fire time has passed, and nobody has seen to it", schedule_id)

    def judge(self, store: ScheduleStore) -> None:
        for schedule_id in self.standing.keys() - self.leaving:
            told = history(lambda below, most, i=schedule_id: store.ledger(i, below, most), Place())
            self._judge_ledger(schedule_id, [one.row for one in told])
            self._judge_runs(schedule_id)

    def _judge_ledger(self, schedule_id: str, told: list[LedgerRow]) -> None:
        own = {row.fire_time: row for row in told if not row.backfill}
        if len(own) != sum(not row.backfill for row in told):
            self._fail("a fire time is told twice", schedule_id)
        for row in told:
            if row.outcome is Expected.FIRED and row.task_id not in self.tasks:
                self._fail(f"{row.fire_time} is told as fired, and was not", schedule_id)
        for task_id in self._of[schedule_id]:
            task = self.tasks[task_id]
            at = task.spec.occurrence.scheduled_for
            ran = task.attempt > 0 and task.spec.occurrence.version is not None
            ran = ran and task_id not in self.late  # others may have passed over it by then
            if ran and (at not in own or own[at].outcome is not Expected.FIRED):
                self.fail("it ran, and the ledger does not know", task.id)
        for at in self._expected(schedule_id):
            if at not in own:
                self._fail(f"{at} is not in the ledger", schedule_id)
            elif own[at].outcome is Expected.SKIPPED_MISFIRE and self._calm(at):
                self._fail(f"{at} was missed, and nothing was the matter", schedule_id)

    def _judge_runs(self, schedule_id: str) -> None:
        most = self.standing[schedule_id].plan.max_runs
        ran = [i for i in self._of[schedule_id] if _version(self.tasks[i]) is not None]
        ran = [i for i in ran if self.tasks[i].attempt > 0]
        if most is not None and len(ran) > most + len(self.versions[schedule_id]) - 1:
            self._fail(f"{len(ran)} runs, and at most {most} were wanted", schedule_id)

    def _expected(self, schedule_id: str) -> set[Millis]:
        """By the rules in the versions in which they held. Where it ends, a count of runs tells."""
        schedule, versions = self.standing[schedule_id], self.versions[schedule_id]
        if schedule.plan.max_runs is not None:
            return set()
        ends = [*(version.since for version in versions[1:]), schedule.since]
        expected: set[Millis] = set()
        for version, end in zip(versions, ends, strict=True):
            if version.plan.delay is None:
                expected |= set(_until(version.plan, version.since, end))
        if schedule.status is not ScheduleStatus.ACTIVE:  # told when it is resumed
            expected = {at for at in expected if at < (schedule.next_at or at + 1)}
        return expected

    def _calm(self, at: Millis) -> bool:
        """After an outage of a day slow ticks need a while to read what lies behind."""
        calm_at = self.faults.over_at
        settled = SETTLES + self.faults.lasts // 100
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


def _told(schedule: Schedule) -> str:
    def ahead(at: Millis | None) -> str:
        return "-" if at is None else str(at)

    return (
        f"r{schedule.revision} v{schedule.version} {schedule.status} next={ahead(schedule.next_at)}"
        f" active={schedule.active} waiting={schedule.waiting} awaited={schedule.awaited}"
        f" runs={schedule.runs} spans={[_span(span) for span in schedule.spans]}"
    )


def _span(span: Span) -> str:
    return f"{span.id}:{span.next_at}-{span.until} {span.running}"
