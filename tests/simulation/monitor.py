"""What must always hold of tasks. The monitor sees every write and every start of a handler."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from duetime.api.http import Response
from duetime.core.change import Answer, Applied, Change
from duetime.core.delivery import MIN_REDRIVE_AGE, Delivery
from duetime.core.lifecycle import Outcome, Status, Step
from duetime.core.schedules.schedule import Schedule
from duetime.core.steps.lease import HEARTBEAT, held_by_worker
from duetime.core.task import Task
from duetime.core.times import CLOCK_SKEW, MINUTE, SECOND, Millis, seconds
from duetime.core.wakes import Wake
from duetime.core.workflows.run import Run
from duetime.executor.attempt_loop import STOP_GRACE
from tests.simulation.aging_invariants import AgingInvariants
from tests.simulation.bulk_invariants import BulkInvariants
from tests.simulation.child_workload import ChildInvariants
from tests.simulation.engine import Engine, Process
from tests.simulation.faults import Faults
from tests.simulation.limit_invariants import LimitInvariants
from tests.simulation.rate_invariants import RateInvariants
from tests.simulation.run_invariants import RunInvariants
from tests.simulation.schedule_invariants import ScheduleInvariants
from tests.simulation.unique_workload import UniqueInvariants
from tests.simulation.version_invariants import VersionInvariants
from tests.simulation.worker_invariants import WorkerInvariants

FIRST_RESEND: Millis = 2 * MINUTE  # after the due time; no message counts as lost before
MAX_RESENDS = 4  # of one delivery, within the hours of a simulation
# They may write to an ended task.
AFTER_THE_END = (Step.REVIVE, Step.SUPERSEDE, Step.DISCARD, Step.FOLLOW_UP)
# An attempt that ends so does not count.
UNCOUNTED = (Outcome.SNOOZED, Outcome.INTERRUPTED)
# They write a new token.
RENEWING = (Step.REVIVE, Step.REVOKE, Step.SUPERSEDE, Step.DEFER, Step.PROMOTE)
EVERYTHING = "everything"  # is in `asked` while all dead tasks are being redriven

# The transitions of the design, written a second time: the table in the code is under test.
TRANSITIONS = {
    "PENDING": {"ENQUEUED", "RUNNING", "CANCELLED", "EXPIRED"},
    "ENQUEUED": {"PENDING", "RUNNING", "CANCELLED", "EXPIRED"},
    "RUNNING": {"SUCCEEDED", "RETRYING", "DEAD", "CANCELLED", "WAITING"},
    "WAITING": {"SUCCEEDED", "RETRYING", "CANCELLED", "EXPIRED"},
    "RETRYING": {"RUNNING", "CANCELLED"},
    "DEAD": {"RETRYING", "CANCELLED"},
    "SUCCEEDED": set(),
    "CANCELLED": set(),
    "EXPIRED": set(),
}


class Violation(AssertionError):
    def __init__(self, what: str, task_id: str | None = None) -> None:
        super().__init__(what)
        self.task_id = task_id


@dataclass(frozen=True, slots=True)
class Move:
    at: Millis
    before: Wake | None
    after: Wake | None


@dataclass
class Monitor:
    engine: Engine
    faults: Faults
    age_after: Millis
    tasks: dict[str, Task] = field(default_factory=dict)
    succeeded: Counter[str] = field(default_factory=Counter)
    revived: Counter[str] = field(default_factory=Counter)  # by token: once for each death
    asked: set[str] = field(default_factory=set)  # tokens and ids that a user redrives
    sendings: Counter[str] = field(default_factory=Counter)  # by token
    refusals: Counter[str] = field(default_factory=Counter)
    gone: set[str] = field(default_factory=set)  # tokens of lost messages
    archived: dict[str, list[int]] = field(default_factory=dict)  # id → numbers of its attempts
    left: set[str] = field(default_factory=set)  # ids of removed tasks
    failures: list[Violation] = field(default_factory=list)
    _leases: dict[tuple[str, str], Process] = field(default_factory=dict)
    _leased_at: dict[str, Millis] = field(default_factory=dict)
    _cancelled_at: dict[str, Millis] = field(default_factory=dict)
    _begun: set[tuple[str, str]] = field(default_factory=set)
    _active: dict[str, dict[str, Process]] = field(default_factory=lambda: defaultdict(dict))
    _unreleased: dict[Process, set[str]] = field(default_factory=lambda: defaultdict(set))
    _moves: list[Move] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.schedules = ScheduleInvariants(self.engine, self.faults, self._blame, self.tasks)
        self.versions = VersionInvariants(self._blame)
        self.aging = AgingInvariants(self.age_after, self._blame)
        self.unique = UniqueInvariants(self._fail)
        self.children = ChildInvariants(self._fail, self.tasks)
        self.bulk = BulkInvariants(self._blame)
        self.limits = LimitInvariants(self.engine, self.faults, self._fail, self.tasks, self.gone)
        self.rates = RateInvariants(self.engine, self.faults, self._blame)
        self.workers = WorkerInvariants(self.engine, self._blame, self.tasks)
        self.runs = RunInvariants(self.engine, self.faults, self._blame, self.tasks)

    # the table

    def stored(self, process: Process, task: Task, answer: Answer) -> None:
        if not isinstance(answer, Applied) or task.id in self.tasks:
            return
        occurrence = task.spec.occurrence
        run = (occurrence.schedule_id, occurrence.scheduled_for) if occurrence else ()
        due_in = f"due={task.due_at - self.engine.now:+d}"
        process.note("stored", task.id, task.status, due_in, *run)
        self.tasks[task.id] = task
        self.schedules.put(task)
        self.children.stored(task)
        self.limits.stored(task)
        self.unique.check(task)
        self.runs.stored(process, task)
        self._moves.append(Move(self.engine.now, None, task.wake))
        if task.status is Status.RUNNING:
            self._stored_with_lease(process, task)

    def changed(self, process: Process, change: Change, answer: Answer) -> None:
        if not isinstance(answer, Applied):
            process.note(f"{change.step} refused", change.task_id)
            return
        before, after = self.tasks[change.task_id], answer.stored
        if before == after:
            return
        self.tasks[after.id] = after
        self._moves.append(Move(self.engine.now, before.wake, after.wake))
        process.note(change.step, after.id, f"{before.status}>{after.status}", _summary(after))
        self._check(process, change, before, after)
        self.versions.changed(change, before, after)
        self.limits.changed(process, change, before, after)
        self.aging.changed(process, change, before, after)
        self.bulk.changed(process, change, before, after)
        self.rates.changed(process, change, before, after)
        self.schedules.changed(process, before, after)
        self.unique.check(after)
        self.runs.changed(process, change, before, after)

    def replaced(self, process: Process, before: Schedule | None, after: Schedule) -> None:
        if before != after:
            wake = before.wake if before else None
            self._moves.append(Move(self.engine.now, wake, after.wake))
            self.schedules.replaced(process, after)

    def run_written(self, process: Process, before: Run | None, after: Run) -> None:
        if before != after:
            wake = before.wake if before else None
            self._moves.append(Move(self.engine.now, wake, after.wake))
            self.runs.written(process, before, after)

    def removed(self, process: Process, stored: Task | None, answer: Answer) -> None:
        """Checks a removal against the task as it was stored just before it."""
        if not isinstance(answer, Applied) or stored is None:
            return
        process.note("removed", stored.id, stored.status)
        self.left.add(stored.id)
        if not stored.status.finished or stored.has_follow_up:
            self._fail(f"a task was removed that was {stored.status}", stored)
        attempts = self.archived.get(stored.id)
        if attempts is None:
            self._fail("a task was removed before it was archived", stored)
        elif attempts != list(range(1, stored.attempt + 1)):
            self._fail(f"of {stored.attempt} attempts only {attempts} are archived", stored)

    def moves_since(self, at: Millis) -> Iterator[Move]:
        """Returns the moves of wakes since a time, the newest first."""
        for move in reversed(self._moves):
            if move.at < at:
                return
            yield move

    def repeated(self, value: Change | Task, answer: Answer, again: Answer) -> None:
        """Checks a write that the SDK sent twice: the second must recognise the first."""
        if isinstance(answer, Applied) and not isinstance(again, Applied):
            task_id = value.task_id if isinstance(value, Change) else value.id
            self._fail("a repeated write did not recognise itself", self.tasks[task_id])

    def _check(self, process: Process, change: Change, before: Task, after: Task) -> None:
        if before.status is not after.status and after.status not in TRANSITIONS[before.status]:
            self._fail(f"{before.status} became {after.status}", after)
        if before.status.finished and change.step not in AFTER_THE_END:
            self._fail(f"{change.step} wrote to a task that was {before.status}", after)
        if after.attempt < before.attempt:
            self._fail(f"attempt went back from {before.attempt} to {after.attempt}", after)
        self._check_token(change, before, after)
        if after.status is Status.RUNNING:
            if before.status is Status.RUNNING:
                self._check_held(process, change, before, after)
            else:
                self._check_lease(process, before, after)
        elif before.status is Status.RUNNING:
            self._check_outcome(process, before, after)
        if before.status is Status.DEAD and not after.status.finished:
            self._check_revival(before, after)
        if after.status is Status.SUCCEEDED and before.status is not Status.SUCCEEDED:
            self.succeeded[after.id] += 1
            if self.succeeded[after.id] > 1:
                self._fail("succeeded twice", after)

    def _check_token(self, change: Change, before: Task, after: Task) -> None:
        """A token belongs to one version of a task and one due time, and changes with each of them,
        or when it is revoked."""
        sent_again = change.step is Step.RESUME and after.status is Status.RETRYING
        renewed = change.step in RENEWING or sent_again
        same_time = before.due_at == after.due_at and not renewed
        if (before.token == after.token) != same_time:
            kept = "kept its token at another" if not same_time else "changed its token at the same"
            self._fail(f"{change.step} {kept} due time", after)

    def _check_lease(self, process: Process, before: Task, after: Task) -> None:
        now = process.clock.now()
        if now < before.due_at:
            self._fail(f"started {before.due_at - now} ms early", after)
        if after.attempt > before.budget:
            self._fail(f"attempt {after.attempt} of {before.budget}", after)
        started_at = after.current.started_at if after.current else now
        if before.attempt == 0 and (before.spec.expires_at or now + 1) <= started_at:
            self._fail("started after it had expired", after)
        if before.cancel_requested:
            self._fail("started after it was cancelled", after)
        self.versions.leased(process, after)
        self._leases[after.id, str(after.holder)] = process.acts_for
        self._leased_at[after.id] = self.engine.now
        self.workers.leased(process, after)

    def _stored_with_lease(self, process: Process, task: Task) -> None:
        """Checks a new task as if it had been stored first, and leased then. Its first attempt has
        no message that could become a dead letter."""
        before = replace(task, status=Status.ENQUEUED, attempt=0, holder=None, current=None)
        self._check_lease(process, before, task)
        self.gone.add(task.token)

    def _check_held(self, process: Process, change: Change, before: Task, after: Task) -> None:
        if before.holder != after.holder:
            self._fail("the lease changed its holder", after)
        mine = self._leases.get((after.id, str(before.holder))) is process.acts_for
        if change.step is Step.RENEW and not mine:
            self._fail(f"{process.acts_for.name} renewed another's lease", after)
        self.workers.held(change, before, after)
        if after.cancel_requested and not before.cancel_requested:
            self._cancelled_at[after.id] = self.engine.now

    def _check_outcome(self, process: Process, before: Task, after: Task) -> None:
        outcome = after.current.outcome if after.current else None
        held = (after.id, str(before.holder))
        holder, began = self._leases.get(held), held in self._begun
        self.workers.ended(process, before)
        if holder is not process.acts_for:
            self._check_ended_by_others(process, holder, before, after)
        elif began and holder.disturbed_at < self._leased_at[after.id]:
            self._check_in_time(before, after)
        if outcome in UNCOUNTED and after.budget != before.budget + 1:
            self._fail(f"an attempt that was {outcome} was used up", after)

    def _check_ended_by_others(
        self, process: Process, holder: Process | None, before: Task, after: Task
    ) -> None:
        outcome = after.current.outcome if after.current else None
        run_out = (before.lease_until or 0) + CLOCK_SKEW < process.clock.now()
        if outcome not in (Outcome.LEASE_EXPIRED, Outcome.CANCELLED) or not run_out:
            by = process.acts_for.name
            self._fail(f"{outcome} was recorded by {by}, not the holder", after)
        began = (after.id, str(before.holder)) in self._begun
        healthy = holder is not None and holder.alive and not holder.frozen
        if began and healthy and holder.disturbed_at < self._leased_at[after.id]:
            self._fail(f"{holder.name} is healthy, and was taken for dead", after)

    def _check_in_time(self, before: Task, after: Task) -> None:
        """Without faults, an attempt ends by its timeout, and soon after a cancel."""
        calm_at = self.faults.over_at
        if calm_at is None or self._leased_at[after.id] < calm_at:
            return
        longest = seconds(before.spec.timeout) + STOP_GRACE
        if self.engine.now - self._leased_at[after.id] > longest + SECOND:
            self._fail("ran on after its timeout", after)
        asked_at = self._cancelled_at[after.id] if before.cancel_requested else None
        if asked_at is not None and self.engine.now - asked_at > HEARTBEAT + SECOND:
            self._fail("ran on after it was cancelled", after)

    def _check_revival(self, before: Task, after: Task) -> None:
        self.revived[before.token] += 1
        asked = not self.asked.isdisjoint((before.token, before.id, EVERYTHING))
        if not asked and not self.runs.may_be_revived(before):
            self._fail("revived without a request", after)
        if after.budget != before.attempt + before.spec.retry.max_attempts:
            self._fail("revived with a wrong budget", after)

    # the lanes

    def sent(self, delivery: Delivery) -> None:
        token = delivery.token
        if self.tasks[delivery.task_id].status.finished:
            # The dead letter of a run that has outlasted its message. If its sender was frozen in
            # between, it looks like one that was redriven.
            if self.engine.now > delivery.written_at + MIN_REDRIVE_AGE - self.faults.skew:
                self.asked.add(token)
            return
        if delivery.occurrence is not None or self.limits.has_slots(delivery):
            return  # it may have to wait, and then gets another message
        if delivery.limits is not None:
            self._sent_under_limits(delivery)
            return
        self.sendings[token] += 1
        again = self.sendings[token] > 1 + self.refusals[token]
        if again and self.engine.now < delivery.due_at + FIRST_RESEND - 2 * 2_000:
            self._fail("a message was sent again before it could be lost", delivery=delivery)
        if self.sendings[token] > 1 + self.refusals[token] + MAX_RESENDS:
            self._fail(f"{self.sendings[token]} messages of one delivery", delivery=delivery)

    def _sent_under_limits(self, delivery: Delivery) -> None:
        """A task that has to wait gets another message, with another grant."""
        sent = self.rates.sent_again(delivery)
        if sent > 1 + self.refusals[delivery.token] + MAX_RESENDS:
            self._fail(f"{sent} messages with one grant", delivery=delivery)

    def refused(self, process: Process, delivery: Delivery) -> None:
        if self.tasks[delivery.task_id].status.finished:
            return  # its follow-up is not done: the watch sends it again
        self.refusals[delivery.token] += 1
        self._unreleased[process].add(delivery.task_id)

    def recovered(self, process: Process, change: Change, answer: Answer) -> None:
        """Notes what a restart of the runner does to a task: its message has died with the runner,
        so that it may be sent again."""
        if change.step is Step.RELEASE and isinstance(answer, Applied):
            self.refusals[answer.stored.token] += 1
        self.changed(process, change, answer)

    def gives_back(self, process: Process, change: Change) -> None:
        if change.step is Step.RELEASE:
            self._unreleased[process].discard(change.task_id)

    def answered(self, process: Process, answer: Response) -> None:
        self.settled(process)
        if answer.status == 500:
            self._fail(f"{process.name} answered 500")

    def exception(self, *message: object, **more: object) -> None:
        """Replaces the logger for errors that the API only logs once the task is stored."""
        self._fail(f"the API could not send: {message}")

    def set_aside(self, task_id: str) -> None:
        self._fail("a healthy row was set aside", self.tasks.get(task_id))

    def settled(self, process: Process) -> None:
        """Checks a process at rest: it must have released every task whose message was refused."""
        self.limits.settled(process)
        for task_id in self._unreleased.pop(process, set()):
            self._fail("a task was not released after its message was refused", self.tasks[task_id])

    def lost(self, delivery: Delivery, how: str) -> None:
        self.gone.add(delivery.token)
        self.engine.trace.add(self.engine.now, "sqs", how, (delivery.task_id, delivery.token))

    def redriven(self, delivery: Delivery) -> None:
        self.asked.add(delivery.token)
        self.engine.trace.add(self.engine.now, "operator", "redrives", (delivery.task_id,))

    def scanned_beside_a_chain(self, process: Process) -> None:
        self._fail(f"{process.name} scanned a slice beside a chain of ticks")

    # the handlers

    def began(self, process: Process, task: Task) -> None:
        for other in self._active[task.id].values():
            if other.alive and not other.frozen:
                self._fail(f"{other.name} and {process.name} run it at the same time", task)
        if (task.id, str(task.holder)) not in self._leases:
            self._fail(f"{process.name} runs it without a lease", task)
            return
        if held_by_worker(task):
            self.versions.sent(task)
        else:
            self.versions.began(task)
        self._active[task.id][str(task.holder)] = process
        self._begun.add((task.id, str(task.holder)))

    def ended(self, task: Task) -> None:
        self._active[task.id].pop(str(task.holder), None)

    def thawed(self, process: Process) -> None:
        """Checks that a thawed process has stopped the runs that it lost."""
        for task_id, runs in self._active.items():
            live = [p for p in runs.values() if p.alive and not p.frozen]
            if process in live and len(live) > 1:
                self._fail(f"{process.name} runs on after it thawed", self.tasks[task_id])

    def _blame(self, what: str, about: str) -> None:
        self.engine.trace.add(self.engine.now, "VIOLATION", what, (about,))
        self.failures.append(Violation(what, about))

    def _fail(self, what: str, task: Task | None = None, delivery: Delivery | None = None) -> None:
        task_id = task.id if task else delivery.task_id if delivery else None
        self.engine.trace.add(self.engine.now, "VIOLATION", what, (task_id,))
        self.failures.append(Violation(what, task_id))


def _summary(task: Task) -> str:
    outcome = task.current.outcome if task.current else None
    wake = f"{task.wake.kind}@{task.wake.at}" if task.wake else "-"
    return f"attempt={task.attempt} {outcome or ''} wake={wake}"
