"""The I/O of the three steps of an attempt: lease, execute (see TargetRunner), record.

The attempt loop decides when each is due. Each step can be cut off before or after any call. A
lease without an outcome ends, and so does its attempt, as `lease_expired`. An outcome without a
deleted message leaves a message whose token is spent.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from math import inf
from typing import TYPE_CHECKING, Any

from duetime.core.change import Answer, Applied, Change, Refused, Unknown, Unwritable
from duetime.core.delivery import Delivery, Message
from duetime.core.lifecycle import Step
from duetime.core.ports import Ports
from duetime.core.steps.lease import lease, renew
from duetime.core.steps.long_run import outlasts_message
from duetime.core.steps.record import fail, needs_enqueue, started, succeed
from duetime.core.steps.suspend import suspend
from duetime.core.task import Progress, Task
from duetime.core.times import MINUTE, SECOND, Millis, seconds
from duetime.core.value import replace
from duetime.engine.enqueue import enqueue
from duetime.executor.attempt_io import MAX_EARLY, RecordedEnd, Written
from duetime.executor.change_writes import write_changes
from duetime.executor.children import Children, ChildSubmission
from duetime.executor.immediate_follow_ups import run_follow_ups_at_once
from duetime.executor.message_acks import DeadLetterIds, MessageAcks
from duetime.executor.new_tasks import Leased, NewTasks
from duetime.executor.runs import Admitted, Ended, Run, log_fields, new_run, unrecordable
from duetime.executor.stale_messages import LEASE_OVER_AFTER, StaleMessages, keeps_attempt
from duetime.executor.target_runner import TargetRunner
from duetime.executor.targets import Targets
from duetime.handlers.context import Previous

if TYPE_CHECKING:
    from duetime.executor.handler_processes.pool import HandlerProcesses

log = logging.getLogger(__name__)

OUTCOME_TRIES = 3  # writes of an outcome that raise, before the attempt counts as failed
RESERVE: Millis = 10 * SECOND  # for the lease and the outcome, beside the timeout of the attempt
HOLD_EVERY: Millis = 3 * MINUTE  # a lane without a pool hides a message for longer by itself
HELD_FOR: Millis = 10 * MINUTE  # how long each hold hides the message of a long run


class Executor:
    """The I/O of attempts; it holds no state of them.

    Args:
        ports: The store, the lanes and the clock.
        targets: The target for each type.
        dead_letters: The ids of known dead letters, if the caller keeps them for longer than this
            executor (see MessageAcks).
        children: How the tasks are submitted that handlers submit.
        callback_url: Where the API answers, for the callbacks of steps.
        on_progress: Called with each task whose handler has reported progress, as it is stored.
        hold_every: How often the message of a run is hidden again.
        held_for: For how long it is hidden then.
        processes: Those that run plain handlers; without them, worker threads do."""

    def __init__(
        self,
        ports: Ports,
        targets: Targets,
        dead_letters: DeadLetterIds | None = None,
        children: ChildSubmission | None = None,
        callback_url: str | None = None,
        on_progress: Callable[[Task], object] | None = None,
        hold_every: Millis = HOLD_EVERY,
        held_for: Millis = HELD_FOR,
        processes: "HandlerProcesses | None" = None,
    ) -> None:
        self._ports = ports
        self._child_submission = children or ChildSubmission()
        self._store = ports.store
        self._clock = ports.clock
        self._on_progress = on_progress
        self._hold_every = hold_every
        self._held_for = held_for
        self._runner = TargetRunner(ports, targets, callback_url, processes)
        self._acks = MessageAcks(ports.lanes, dead_letters)
        self._stale = StaleMessages(ports, self._acks)

    def admit(self, messages: Sequence[Message], until: Millis | None = None) -> list[Message]:
        """Hand back messages that are too early to wait for, and those whose attempt could not end
        before `until`, a monotonic time. Returns the messages to lease when they are due."""
        now, left = self._clock.now(), _left(until, self._clock.monotonic())
        admitted = []
        for message in self._acks.without_dead_letters(messages):
            early = message.delivery.visible_at - now
            needs = max(early, 0) + seconds(message.delivery.timeout) + RESERVE
            if early > MAX_EARLY:
                self._acks.hand_back(message, early - SECOND)
            elif needs > left:
                self._acks.hand_back_with_backoff(message)
            else:
                admitted.append(message)
        return admitted

    def record_and_lease(
        self,
        *,
        ended: Sequence[Ended] = (),
        due: Sequence[Admitted] = (),
        new: Sequence[NewTasks] = (),
    ) -> Written:
        """Record the runs that have ended, lease the messages that are due and store new tasks with
        their leases, in one round trip. A write without an answer may have been made. Repeated
        unchanged, it recognises its own earlier effect."""
        written = Written()
        self._slow_down(ended)
        now = self._clock.now()
        due = self._pass_gates(
            [a for a in due if a.change or self._is_due(a.message, now)], written
        )
        now, asked_at = self._clock.now(), self._clock.monotonic()
        outcomes = self._outcomes(ended, now)
        leases = self._leases(due, now)
        leased = [self._lease_new(one, now, asked_at) for one in new]
        answers = self._apply([outcome.change for outcome in outcomes] + leases)
        for one in new:
            one.finish()
        written.outcomes, written.answers = outcomes, answers[: len(outcomes)]
        self._after_record(outcomes, written.answers, written)
        self._after_lease(due, leases, answers[len(outcomes) :], written, asked_at)
        for one, its in zip(new, leased, strict=True):
            self._begin_new(one, its, written)
        return written

    def hand_back(self, messages: Sequence[Message]) -> None:
        for message in messages:
            self._acks.hand_back(message, 0)

    def hand_back_with_backoff(self, message: Message) -> None:
        self._acks.hand_back_with_backoff(message)

    def abandon_outcome(self, end: Ended) -> None:
        """Give up on an outcome that the store does not accept. The message returns after the
        lease has surely ended."""
        log.error("outcome lost", extra=log_fields(end.run))
        self._acks.hand_back(end.run.message, LEASE_OVER_AFTER)

    def run_target(self, run: Run) -> Ended:
        """Run the target, in a worker thread. The caller hands the end to `record_and_lease`."""
        return self._runner.run(run)

    def hand_over(self, run: Run, on_end: Callable[[Ended], object]) -> bool:
        return self._runner.hand_over(run, on_end)

    def renew(self, runs: Iterable[Run], progress: Progress | None = None) -> None:
        """Renew the leases. A handler whose lease is lost or whose task is cancelled is asked to
        stop."""
        runs = list(runs)
        now, renewed_at = self._clock.now(), self._clock.monotonic()
        changes = [renew(run.task, now=now, progress=progress) for run in runs]
        for run, answer in zip(runs, self._apply(changes), strict=True):
            match answer:
                case Refused():
                    run.control.lose_lease()
                case Applied(task):
                    run.control.renewed_at = renewed_at
                    if progress is not None and self._on_progress is not None:
                        self._on_progress(task)
                    if task.cancel_requested:
                        run.control.request_stop("cancelled")
                case Unknown(reason):  # see AttemptLoop.check_leases
                    log.info("lease not renewed: %s", reason, extra=log_fields(run, "renew"))
        hidden = [r for r in runs if not outlasts_message(r.task.spec)]
        long = [r for r in hidden if renewed_at - r.control.message_held_at >= self._hold_every]
        self._hold(long, renewed_at)

    def _hold(self, runs: Sequence[Run], now: Millis) -> None:
        """A long run takes longer than its queue hides the message by itself."""
        if runs and self._acks.hold([run.message for run in runs], self._held_for):
            for run in runs:
                run.control.message_held_at = now

    def _apply(self, changes: Sequence[Change]) -> list[Answer]:
        return write_changes(self._store, changes) if changes else []

    def _outcomes(self, ended: Sequence[Ended], now: Millis) -> list[RecordedEnd]:
        """Returns each run that has ended with the change that records it. An outcome that no
        change can express is recorded as a failure of its attempt."""
        outcomes = []
        for end in ended:
            outcome = self._outcome(end, now) or self._outcome(unrecordable(end), now)
            if outcome is None:
                self.abandon_outcome(end)
            else:
                outcomes.append(outcome)
        return outcomes

    def _outcome(self, end: Ended, now: Millis) -> RecordedEnd | None:
        try:
            return RecordedEnd(end, end.change or self._record(end, now))
        except Exception:
            log.exception("outcome not built", extra=log_fields(end.run))
            return None

    def _after_record(
        self, outcomes: Sequence[RecordedEnd], answers: Sequence[Answer], written: Written
    ) -> None:
        """Free the slots of the attempts, send the tasks that are retried soon, and acknowledge the
        messages."""
        spent: list[Message] = []
        dead: list[Message] = []
        retried: list[Task] = []
        ended: list[tuple[Message, Task]] = []
        for (end, change), answer in zip(outcomes, answers, strict=True):
            message = end.run.message
            if isinstance(answer, Applied):
                task = answer.stored
                if message.delivery.limits:
                    ended.append((message, task))
                (dead if change.step is Step.BURY else spent).append(message)
                if needs_enqueue(change, task):
                    retried.append(task)
                continue
            match answer:
                case Unwritable() if end.tries + 1 >= OUTCOME_TRIES:
                    as_failure = replace(unrecordable(end), tries=end.tries + 1)
                    written.record_retries.append(as_failure)
                case Unknown(reason):
                    log.warning("outcome not recorded: %s", reason, extra=log_fields(end.run))
                    written.record_retries.append(replace(end, change=change, tries=end.tries + 1))
                case Refused(stored):
                    log.warning("outcome refused: lease lost", extra=log_fields(end.run))
                    if self._stale.resolve(message, stored):
                        spent.append(message)
        kept = [] if self._stale.free_slots(ended) else [message for message, _ in ended]
        enqueue(self._ports, retried)
        recorded = [answer.stored for answer in answers if isinstance(answer, Applied)]
        run_follow_ups_at_once(self._ports, recorded)
        self._acks.delete([message for message in spent if message not in kept])
        self._acks.bury([message for message in dead if message not in kept])

    def _after_lease(
        self,
        due: Sequence[Admitted],
        leases: Sequence[Change],
        answers: Sequence[Answer],
        written: Written,
        asked_at: Millis,
    ) -> None:
        """Start the attempts that were leased, and acknowledge the messages that start nothing."""
        spent: list[Message] = []
        for admitted, change, answer in zip(due, leases, answers, strict=True):
            leased_at = admitted.leased_at if admitted.change else asked_at
            match answer:
                case Applied(task) if keeps_attempt(self._store, task):
                    written.started.append(self._start(admitted, task, leased_at))
                case Applied() | Unknown():
                    tries = admitted.tries + 1
                    retry = replace(admitted, change=change, leased_at=leased_at, tries=tries)
                    written.lease_retries.append(retry)
                case Refused(task):
                    if self._stale.resolve(admitted.message, task):
                        spent.append(admitted.message)
        spent += [r.message for r in written.started if outlasts_message(r.task.spec)]
        self._acks.delete(spent)

    def _lease_new(self, new: NewTasks, now: Millis, asked_at: Millis) -> Leased:
        holders = self._ports.chance.nonces(new.slots)
        return new.lease(now=now, asked_at=asked_at, holders=holders)

    def _begin_new(self, new: NewTasks, leased: Leased, written: Written) -> None:
        """Start the attempts that were stored with their tasks."""
        if new.stored:
            pairs = zip(leased.messages, leased.tasks, strict=True)
            written.started += [
                self._start(Admitted(message=message), task, leased.asked_at)
                for message, task in pairs
            ]
            new.started = len(leased.tasks)
        elif new.error is not None:
            written.lease_retries += leased.admitted()

    def _slow_down(self, ended: Sequence[Ended]) -> None:
        """Pause the rate limits whose targets have asked for it. Most outcomes ask for nothing."""
        if not any(end.failure and end.run.task.spec.limits for end in ended):
            return
        from duetime.executor.slow_down import slow_down

        slow_down(self._ports, ended)

    def _pass_gates(self, due: list[Admitted], written: Written) -> list[Admitted]:
        """Returns what may be leased. Most tasks have no schedule, no limits and no run, so the
        gates are imported only for one that has."""
        if not any(_is_gated(a.message.delivery) for a in due):
            return due
        from duetime.executor.gates import pass_gates

        passed = pass_gates(self._ports, self._acks, due)
        written.waiting += passed.waiting
        return passed.due

    def _is_due(self, message: Message, now: Millis) -> bool:
        """The message was due when the loop looked, but the clock may have been set back since."""
        early = message.delivery.visible_at - now
        if early > 0:
            self._acks.hand_back(message, early)
        return early <= 0

    def _start(self, admitted: Admitted, task: Task, leased_at: Millis) -> Run:
        return new_run(
            admitted,
            task,
            leased_at,
            renew=self.renew,
            previous=lambda: self._previous(task),
            read_results=lambda step, start: self._results(task, step, start),
            children=Children(self._ports, task, self._child_submission),
        )

    def _previous(self, task: Task) -> Previous | None:
        if task.spec.occurrence is None:
            return None
        from duetime.executor.previous_run import previous_run

        return previous_run(self._ports, task.spec.occurrence)

    def _results(self, task: Task, step: str, start: int) -> list[Any]:
        from duetime.engine.workflows.map_results import results_page

        return results_page(self._ports, task, step, start)

    def _leases(self, due: Sequence[Admitted], now: Millis) -> list[Change]:
        nonces = iter(self._ports.chance.nonces(sum(1 for a in due if a.change is None)))
        return [
            a.change or lease(a.message.delivery, now=now, holder=self._holder(a, next(nonces)))
            for a in due
        ]

    def _holder(self, admitted: Admitted, nonce: str) -> str:
        if admitted.callback_token is None:
            return nonce
        from duetime.engine.workflows.callbacks import token_hash

        return token_hash(admitted.callback_token)

    def _record(self, end: Ended, now: Millis) -> Change:
        control, task = end.run.control, end.run.task
        attempt = started(task, after=control.started_after or 0, now=now, trace=control.trace)
        if end.suspension is not None:  # a cancel request is seen when its run would start
            draw, task = self._ports.chance.draw(), replace(task, current=attempt)
            return suspend(self._ports.wake_policy, task, end.suspension, now=now, draw=draw)
        if end.failure is None:
            return succeed(task, result=end.result, now=now, attempt=attempt)
        return fail(
            self._ports.wake_policy,
            replace(task, current=attempt),
            end.failure,
            now=now,
            draw=self._ports.chance.draw(),
            cancelled=control.cancel_requested,
        )


def _is_gated(delivery: Delivery) -> bool:
    return bool(delivery.occurrence or delivery.limits or delivery.step)


def _left(until: Millis | None, now: Millis) -> float:
    return inf if until is None else until - now
