"""The lifetime of one task under concurrent roles and faults.

Two scanners act on outdated reads; messages are lost, doubled and refused; executors freeze, come
back and record too late; users cancel and change it; the only runner restarts; time jumps. After
every step the invariants must hold, and from every state the scanner alone must be able to end the
task.
"""

from dataclasses import dataclass, field, replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from duetime.core.change import Change
from duetime.core.delivery import Delivery, delivery_of
from duetime.core.ids import new_id
from duetime.core.lifecycle import Outcome, Status, Step
from duetime.core.retry import RetryPolicy
from duetime.core.steps.cancel import cancel, expire, request_cancel
from duetime.core.steps.claim import claim, release, set_aside
from duetime.core.steps.defer import Deferral, defer
from duetime.core.steps.lease import lease, renew
from duetime.core.steps.record import Failure, fail, leaves_delivery, succeed
from duetime.core.steps.submit import submit
from duetime.core.steps.watch import check_wake, recover_orphan
from duetime.core.task import Spec, Task, TaskError
from duetime.core.times import DAY, HOUR, MINUTE, SECOND
from duetime.core.wake_policy import Draw, WakePolicy
from duetime.core.wakes import WakeKind, bucket_of, minute_of, shard_of
from tests.factories import NOW

WAKE_POLICY = WakePolicy(shards=4)
TASK_ID = new_id(NOW, 7)
BROKEN = TaskError(type="HTTPError", message="503")

jumps = st.sampled_from(
    [1, SECOND, 4 * SECOND, 10 * SECOND, 46 * SECOND, MINUTE, 4 * MINUTE, 16 * MINUTE, HOUR, DAY]
)
fates = st.sampled_from(
    ["taken", "taken and doubled", "sent", "lost", "refused", "sent, but unknown"]
)
specs = st.builds(
    Spec,
    target=st.just({"type": "http"}),
    run_at=st.sampled_from([0, 3 * SECOND, 5 * MINUTE, HOUR]).map(lambda wait: NOW + wait),
    expires_at=st.sampled_from([None, None, None, NOW + 2 * HOUR]),
    retry=st.builds(
        RetryPolicy,
        max_attempts=st.integers(1, 3),
        base_delay=st.sampled_from([0.0, 1.0, 600.0]),
        jitter=st.sampled_from([0.0, 0.5]),
    ),
)


@dataclass
class Table:
    """A store with one task. It applies a change if its expectation holds."""

    task: Task
    steps: list[Step] = field(default_factory=list)

    def apply(self, change: Change) -> Task | None:
        if not change.expect.holds(self.task):
            return None
        self.task = change.applied_to(self.task)
        self.steps.append(change.step)
        assert change.already_in(self.task)  # a repeated write recognises its own values
        return self.task


class LifeOfATask(RuleBasedStateMachine):
    @initialize(spec=specs, luck=st.sampled_from([0.0, 0.9]), fate=fates)
    def submit(self, spec, luck, fate):
        self.now = NOW
        self.luck = luck
        self.draws = 0
        self.messages: list[Delivery] = []
        self.holders: list[Task] = []  # each executor's last read of its task
        self.done: set[str] = set()  # the holders that have recorded an outcome
        self.seen: dict[int, Task] = {}  # each scanner's last read, perhaps outdated
        self.seen_by_users: dict[int, Task] = {}
        self.starts: list[tuple[int, str]] = []
        self.end: Task | None = None
        self.table = Table(submit(WAKE_POLICY, TASK_ID, spec, now=NOW, draw=self.draw()))
        self.before = self.table.task
        if self.table.task.status is Status.ENQUEUED:
            self.enqueue(fate)

    def draw(self):
        self.draws += 1
        spread = self.draws * 0.618 % 1
        return Draw(luck=self.luck, spread=spread, nonce=f"{self.draws:05d}")

    def enqueue(self, fate):
        delivery = delivery_of(self.table.task, self.now)
        if fate.startswith("sent") or fate.endswith("doubled"):
            self.messages.append(delivery)
        if fate in ("refused", "sent, but unknown"):
            self.table.apply(release(WAKE_POLICY, delivery, now=self.now))
        if fate.startswith("taken"):
            self.take(delivery)

    # Scanners

    @rule(scanner=st.integers(0, 1))
    def scanner_reads(self, scanner):
        self.seen[scanner] = self.table.task

    @precondition(lambda self: self.seen)
    @rule(data=st.data(), fate=fates, backed_up=st.booleans())
    def scanner_acts(self, data, fate, backed_up):
        scanner = data.draw(st.sampled_from(sorted(self.seen)))
        self.tick(self.seen.pop(scanner), fate, backed_up=backed_up)

    def tick(self, seen, fate, *, backed_up=False):
        """Handles a wake as the scanner does: it claims a dispatch ahead of time, from the index
        alone, and reads the task only if that is refused; it checks a watch once it is due."""
        wake = seen.wake
        if wake is None or wake.at > self.now + self.reads_ahead(wake):
            return
        if wake.kind is WakeKind.DISPATCH:
            if self.table.apply(claim(WAKE_POLICY, wake, now=self.now, draw=self.draw())):
                self.enqueue(fate)
                return
            seen = self.table.task
        if seen.wake == wake:
            self.watch(seen, fate, backed_up=backed_up)

    def reads_ahead(self, wake):
        return WAKE_POLICY.horizon if wake.kind is WakeKind.DISPATCH else 0

    def watch(self, seen, fate, *, backed_up):
        verdict = check_wake(WAKE_POLICY, seen, now=self.now, draw=self.draw(), backed_up=backed_up)
        if verdict and self.table.apply(verdict.change) and verdict.enqueues:
            self.enqueue(fate)

    @rule(fate=fates)
    def scanner_comes_at_the_next_wake(self, fate):
        if wake := self.table.task.wake:
            self.now = max(self.now, wake.at)
            self.tick(self.table.task, fate)

    # Lanes

    @precondition(lambda self: self.messages)
    @rule(data=st.data(), doubled=st.booleans())
    def lane_delivers(self, data, doubled):
        message = data.draw(st.sampled_from(self.messages))
        if not doubled:
            self.messages.remove(message)
        self.take(message)

    # Executors

    def take(self, message):
        """An executor waits for the due time, then takes the lease."""
        self.now = max(self.now, message.due_at)
        holder = f"holder-{len(self.starts)}"
        change = lease(message, now=self.now, holder=holder)
        if leased := self.table.apply(change):
            assert leased.due_at == message.due_at, "a message of an old version started it"
            self.starts.append((leased.attempt, message.token))
            self.holders.append(leased)
        elif self.table.task.expired(self.now):
            self.table.apply(expire(self.table.task, now=self.now))

    def some_holder(self, data):
        return data.draw(st.integers(0, len(self.holders) - 1))

    @precondition(lambda self: self.holders)
    @rule(data=st.data())
    def executor_renews(self, data):
        self.renew(data)

    def renew(self, data):
        at = self.some_holder(data)
        if renewed := self.table.apply(renew(self.holders[at], now=self.now)):
            self.holders[at] = renewed

    @precondition(lambda self: self.holders and self.table.task.wake)
    @rule(data=st.data(), before=st.sampled_from([10 * SECOND, 30 * SECOND, 44 * SECOND]))
    def executor_lives_until_the_next_wake(self, data, before):
        self.now = max(self.now, self.table.task.wake.at - before)
        self.renew(data)

    @precondition(lambda self: self.holders)
    @rule(data=st.data())
    def executor_succeeds(self, data):
        held = self.holders[self.some_holder(data)]
        self.record(held, succeed(held, result='"done"', now=self.now))

    @precondition(lambda self: self.holders)
    @rule(
        data=st.data(),
        permanent=st.sampled_from([False, False, True]),
        retry_after=st.sampled_from([None, 30 * SECOND, HOUR]),
        fate=fates,
    )
    def executor_fails(self, data, permanent, retry_after, fate):
        held = self.holders[self.some_holder(data)]
        failure = Failure(
            outcome=Outcome.FAILED, error=BROKEN, permanent=permanent, retry_after=retry_after
        )
        change = fail(
            WAKE_POLICY,
            held,
            failure,
            now=self.now,
            draw=self.draw(),
            cancelled=held.cancel_requested,
        )
        if self.record(held, change) and leaves_delivery(change):
            self.enqueue(fate)

    def record(self, held, change):
        """A holder that was refused, or is done, is kept: it may come back and try again."""
        ended = self.table.apply(change)
        if ended:
            assert ended.holder == held.holder
            self.done.add(held.holder)
        return ended

    # The world

    @rule(by=jumps)
    def time_passes(self, by):
        self.now += by

    @rule(event=st.sampled_from(["cancel", "purge", "purge", "restart", "set aside", "set aside"]))
    def something_happens(self, event):
        match event:
            case "cancel":
                self.cancel()
            case "purge":
                self.messages.clear()
            case "restart":
                self.restart()
            case "set aside" if self.table.task.wake:
                self.table.apply(set_aside(WAKE_POLICY, self.table.task.wake, now=self.now))

    @rule(user=st.integers(0, 1))
    def user_reads(self, user):
        self.seen_by_users[user] = self.table.task

    @precondition(lambda self: self.seen_by_users)
    @rule(data=st.data(), wait=jumps | st.none(), more=st.integers(0, 2), fate=fates)
    def user_changes_what_was_read(self, data, wait, more, fate):
        """Perhaps an outdated read; without a wait the due time stays as it is."""
        seen = self.seen_by_users.pop(data.draw(st.sampled_from(sorted(self.seen_by_users))))
        due_at = seen.due_at if wait is None else self.now + wait
        retry = replace(seen.spec.retry, max_attempts=seen.spec.retry.max_attempts + more)
        wanted = Deferral(spec=replace(seen.spec, run_at=due_at, retry=retry), due_at=due_at)
        change = defer(WAKE_POLICY, seen, wanted, now=self.now, draw=self.draw())
        if after := self.table.apply(change):
            assert (after.spec, after.due_at) == (wanted.spec, due_at)
            if after.wake.kind is WakeKind.WATCH:
                self.enqueue(fate)

    def cancel(self):
        finished = self.table.task.status.finished
        cancelled = self.table.apply(cancel(self.table.task, now=self.now))
        asked = not cancelled and self.table.apply(request_cancel(self.table.task, now=self.now))
        assert bool(cancelled or asked) == (not finished)

    def restart(self):
        self.messages.clear()
        self.holders.clear()
        self.seen.clear()
        if change := recover_orphan(WAKE_POLICY, self.table.task, now=self.now):
            assert self.table.apply(change)
            self.tick(self.table.task, "lost")
            assert self.table.task.status is not Status.RUNNING

    # Invariants after every step

    @invariant()
    def only_the_holder_on_record_has_a_living_lease(self):
        """At most one executor may believe in a valid lease, and it is the holder."""
        task = self.table.task
        for held in self.holders:
            if held.lease_until >= self.now and held.holder not in self.done:
                assert (task.status, task.holder) == (Status.RUNNING, held.holder)

    @invariant()
    def a_finished_task_never_changes(self):
        if self.end is None and self.table.task.status.finished:
            self.end = self.table.task
        assert self.end in (None, self.table.task)

    @invariant()
    def attempts_only_count_up_and_never_past_the_budget(self):
        task = self.table.task
        assert self.before.attempt <= task.attempt <= task.budget
        assert [number for number, _ in self.starts] == list(range(1, task.attempt + 1))
        self.before = task

    @invariant()
    def every_start_had_a_token_of_its_own(self):
        tokens = [token for _, token in self.starts]
        assert len(set(tokens)) == len(tokens)

    @invariant()
    def nothing_starts_early(self):
        current = self.table.task.current
        assert current is None or current.drift_ms >= 0

    @invariant()
    def an_unfinished_task_will_be_looked_at_again(self):
        task = self.table.task
        assert task.status.finished == (task.wake is None)
        if task.wake:
            assert task.wake.bucket >= bucket_of(
                minute_of(task.wake.at), shard_of(TASK_ID, WAKE_POLICY.shards)
            )

    @invariant()
    def a_running_task_has_a_holder_and_a_lease(self):
        task = self.table.task
        running = task.status is Status.RUNNING
        assert running == (task.lease_until is not None)
        assert not running or (task.holder is not None and task.current.outcome is None)
        assert task.attempt == 0 or task.current.number == task.attempt

    @invariant()
    def a_dead_task_is_out_of_attempts_or_failed_for_good(self):
        if self.table.task.status is Status.DEAD:
            assert self.table.steps[-1] is Step.BURY
            assert self.table.task.last_failure is not None

    # Liveness from every state

    def teardown(self):
        """Every executor has died and every queue is empty. The scanner alone continues, and every
        executor that it wakes dies too. The task still ends."""
        if not hasattr(self, "table"):
            return
        for _ in range(4 * self.table.task.budget + 4):
            if self.table.task.status.finished:
                return
            self.now = max(self.now, self.table.task.wake.at)
            self.tick(self.table.task, "taken")
        raise AssertionError(f"stuck: {self.table.task}")


LifeOfATask.TestCase.settings = settings(
    max_examples=8 * settings.default.max_examples, stateful_step_count=40
)
TestLifeOfATask = LifeOfATask.TestCase
