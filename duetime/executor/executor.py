"""lease, execute, record: the three steps of one attempt.

Each can be cut off before or after any call. A lease without an outcome runs out and the
attempt is ended as `lease_expired`; an outcome without a deleted message leaves a message whose
token is spent.
"""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from math import inf
from typing import Any, NamedTuple

from lambdas import task_log
from lambdas.core.change import Answer, Applied, Change, Refused, Unknown, Unwritable
from lambdas.core.delivery import Message
from lambdas.core.errors import AskedForDelay, BadResult, Snooze, Unavailable
from lambdas.core.lifecycle import Step
from lambdas.core.ports import Ports
from lambdas.core.results import encode_result
from lambdas.core.steps.lease import lease, renew
from lambdas.core.steps.record import fail, started, succeed, to_enqueue
from lambdas.core.task import Progress, Task
from lambdas.core.times import MINUTE, SECOND, Millis, seconds
from lambdas.core.values import value
from lambdas.enqueue import enqueue
from lambdas.executor.context import Context, Previous
from lambdas.executor.messages import Letters, Messages
from lambdas.executor.runs import (
    Admitted,
    Ended,
    Run,
    failed,
    stopped,
    unrecordable,
    unreported,
)
from lambdas.executor.settling import AFTER_LEASE, Settling, keeps_attempt
from lambdas.executor.stopping import Stopped
from lambdas.executor.targets import TargetFailed, Targets

log = logging.getLogger(__name__)

EARLY: Millis = 2 * SECOND  # what comes earlier than this is handed back
OUTCOME_TRIES = 3  # of one over which the store fails, before its attempt counts as failed
RESERVE: Millis = 10 * SECOND  # for the lease and the outcome, beside an attempt's own time
HELD_FOR: Millis = 10 * MINUTE  # how long the message of a long run is kept from coming again
UNREAD_AGAIN = 5.0  # seconds until a run that could not read its previous run tries again
HOLD_EVERY: Millis = 3 * MINUTE  # every queue hides a message for longer than this by itself


@value(kw_only=True, slots=True)
class Advanced:
    begun: list[Run] = field(default_factory=list)
    unrecorded: list[Ended] = field(default_factory=list)  # not answered: to be tried again
    unleased: list[Admitted] = field(default_factory=list)  # likewise


class _Outcome(NamedTuple):
    end: Ended
    change: Change  # what records it


class Executor:
    def __init__(self, ports: Ports, targets: Targets, letters: Letters | None = None) -> None:
        self._ports = ports
        self._store = ports.store
        self._clock = ports.clock
        self._targets = targets
        self._messages = Messages(ports.lanes, letters)
        self._settling = Settling(ports, self._messages)

    def admit(self, messages: Sequence[Message], until: Millis | None = None) -> list[Message]:
        """Hand back what comes too early to wait for, and what could not end before `until`, a
        time of the monotonic clock; the rest is to be leased when it is due."""
        now, left = self._clock.now(), _left(until, self._clock.monotonic())
        admitted = []
        for message in self._messages.without_letters(messages):
            early = message.delivery.due_at - now
            needs = max(early, 0) + seconds(message.delivery.timeout) + RESERVE
            if early > EARLY:
                self._messages.hand_back(message, early - SECOND)
            elif needs > left:
                self._messages.give_back(message)
            else:
                admitted.append(message)
        return admitted

    def advance(self, *, ended: Sequence[Ended] = (), due: Sequence[Admitted] = ()) -> Advanced:
        """Record what is over and lease what is due, together: the writes share one trip. One
        that is not answered may have been made; repeated as it is, it knows its own traces."""
        now, asked_at = self._clock.now(), self._clock.monotonic()
        due = self._let_in([a for a in due if a.change or self._is_due(a.message, now)])
        outcomes = self._outcomes(ended, now)
        leases = [admitted.change or self._lease(admitted, now) for admitted in due]
        answers = self._apply([outcome.change for outcome in outcomes] + leases)
        advanced = Advanced()
        self._recorded(outcomes, answers[: len(outcomes)], advanced)
        self._leased(due, leases, answers[len(outcomes) :], advanced, asked_at)
        return advanced

    def give_back(self, message: Message) -> None:
        self._messages.give_back(message)

    def lose(self, end: Ended) -> None:
        """An outcome that the store would not take. By the time the message comes again, the
        lease surely has run out."""
        log.error("outcome lost", extra=_fields(end.run))
        self._messages.hand_back(end.run.message, AFTER_LEASE)

    def execute(self, run: Run) -> Ended:
        """Run the target. Whatever it raises is the attempt's failure, never the executor's."""
        token = task_log.begin(run.task)
        try:
            return self._execute(run)
        finally:
            task_log.end(token)

    def _execute(self, run: Run) -> Ended:
        try:
            return self._attempt(run)
        except BaseException:  # noqa: BLE001 - without an outcome its slot would never be free
            return unreported(run)

    def _attempt(self, run: Run) -> Ended:
        try:
            task = self._filled_in(run)
            target = self._targets[task.spec.target["type"]]
            run.context.starts(self._clock.monotonic())
            result = encode_result(target(task, run.context))
        except Stopped as error:
            log.info("handler stopped", exc_info=error, extra=_fields(run, "execute"))
            return stopped(run, error, self._clock.monotonic())
        except BaseException as error:
            if not isinstance(error, TargetFailed | AskedForDelay | BadResult):
                log.info("attempt failed", exc_info=error, extra=_fields(run, "execute"))
            return failed(run, error)
        return Ended(run=run, result=result)

    def renew(self, runs: Iterable[Run], progress: Progress | None = None) -> None:
        """Keep the leases, and tell the handlers whose lease is lost or whose task is cancelled."""
        runs = list(runs)
        now, asked_at = self._clock.now(), self._clock.monotonic()
        changes = [renew(run.task, now=now, progress=progress) for run in runs]
        for run, answer in zip(runs, self._apply(changes), strict=True):
            match answer:
                case Refused():
                    run.context.stop(lost=True)
                case Applied(task):
                    run.context.renewed_at = asked_at
                    if task.cancel_requested:
                        run.context.stop(asked=True)
                case Unknown(reason):  # see Books.guard
                    log.info("lease not renewed: %s", reason, extra=_fields(run, "renew"))
        self._hold([r for r in runs if asked_at - r.context.held_at >= HOLD_EVERY], asked_at)

    def _hold(self, runs: Sequence[Run], now: Millis) -> None:
        """A long run outlasts the time for which its queue hides the message."""
        if runs and self._messages.hold([run.message for run in runs], HELD_FOR):
            for run in runs:
                run.context.held_at = now

    def _apply(self, changes: Sequence[Change]) -> list[Answer]:
        """One change over which the store fails must not hold up the others: repeated, those
        that were made know their own traces."""
        try:
            return self._store.apply(changes)
        except Exception:
            log.exception("batch not written: repeated one by one", extra={"step": "record"})
        return [self._apply_alone(change) for change in changes]

    def _apply_alone(self, change: Change) -> Answer:
        try:
            [answer] = self._store.apply([change])
        except Exception as error:
            attempt = change.sets.get("attempt", change.expect.attempt)
            fields = {"step": change.step.value, "task_id": change.task_id, "attempt": attempt}
            log.exception("change not written", extra=fields)
            return Unwritable(repr(error))
        return answer

    def _outcomes(self, ended: Sequence[Ended], now: Millis) -> list[_Outcome]:
        """What is over, with the change that records it. An outcome of which no change can be
        made is recorded as a failure of its attempt."""
        outcomes = []
        for end in ended:
            outcome = self._outcome(end, now) or self._outcome(unrecordable(end), now)
            if outcome is None:
                self.lose(end)
            else:
                outcomes.append(outcome)
        return outcomes

    def _outcome(self, end: Ended, now: Millis) -> _Outcome | None:
        try:
            return _Outcome(end, end.change or self._record(end, now))
        except Exception:
            log.exception("outcome not recordable", extra=_fields(end.run))
            return None

    def _recorded(
        self, outcomes: Sequence[_Outcome], answers: Sequence[Answer], advanced: Advanced
    ) -> None:
        """Send what is to be tried again soon, and settle the messages."""
        spent: list[Message] = []
        dead: list[Message] = []
        again: list[Task] = []
        for (end, change), answer in zip(outcomes, answers, strict=True):
            message = end.run.message
            match answer:
                case Unwritable() if end.tries + 1 >= OUTCOME_TRIES:
                    as_failure = replace(unrecordable(end), tries=end.tries + 1)
                    advanced.unrecorded.append(as_failure)
                case Unknown(reason):
                    log.warning("outcome not recorded: %s", reason, extra=_fields(end.run))
                    advanced.unrecorded.append(replace(end, change=change, tries=end.tries + 1))
                case Refused(standing):
                    log.warning("outcome refused: the lease passed on", extra=_fields(end.run))
                    if self._settling.is_spent(message, standing):
                        spent.append(message)
                case Applied() if change.step is Step.BURY:
                    dead.append(message)
                case Applied(task):
                    spent.append(message)
                    if to_enqueue(change, task):
                        again.append(task)
        enqueue(self._ports, again)
        self._messages.delete(spent)
        self._messages.bury(dead)

    def _leased(
        self,
        due: Sequence[Admitted],
        leases: Sequence[Change],
        answers: Sequence[Answer],
        advanced: Advanced,
        asked_at: Millis,
    ) -> None:
        """Begin the attempts that were leased; settle the messages that start nothing."""
        spent: list[Message] = []
        for admitted, change, answer in zip(due, leases, answers, strict=True):
            began = admitted.asked_at if admitted.change else asked_at
            match answer:
                case Applied(task) if keeps_attempt(self._store, task):
                    advanced.begun.append(self._begin(admitted.message, task, began))
                case Applied() | Unknown():
                    tries = admitted.tries + 1
                    again = replace(admitted, change=change, asked_at=began, tries=tries)
                    advanced.unleased.append(again)
                case Refused(task):
                    if self._settling.is_spent(admitted.message, task):
                        spent.append(admitted.message)
        self._messages.delete(spent)

    def _let_in(self, due: list[Admitted]) -> list[Admitted]:
        """Most tasks are no occurrences of schedules, and need not know of the gate."""
        if not any(admitted.message.delivery.occurrence for admitted in due):
            return due
        from lambdas.executor.gate import Gate

        return Gate(self._ports, self._messages).let_in(due)

    def _is_due(self, message: Message, now: Millis) -> bool:
        """It was, a moment ago; but a clock can be set back."""
        early = message.delivery.due_at - now
        if early > 0:
            self._messages.hand_back(message, early)
        return early <= 0

    def _begin(self, message: Message, task: Task, began: Millis) -> Run:
        context = Context(
            task,
            lambda progress: self.renew([run], progress),
            lambda: self._previous(task),
            began=began,
        )
        run = Run(task=task, message=message, context=context)
        return run

    def _filled_in(self, run: Run) -> Task:
        occurrence = run.task.spec.occurrence
        if occurrence is None or not occurrence.open:
            return run.task
        from lambdas.executor.previous import filled_in

        try:
            previous = run.context.previous
        except Unavailable as error:  # the target has not been called: the attempt does not count
            reason = f"the previous run could not be read: {error}"
            raise Snooze(UNREAD_AGAIN, reason) from error
        return filled_in(run.task, previous)

    def _previous(self, task: Task) -> Previous | None:
        if task.spec.occurrence is None:
            return None
        from lambdas.executor.previous import previous_run

        return previous_run(self._ports, task.spec.occurrence)

    def _lease(self, admitted: Admitted, now: Millis) -> Change:
        return lease(admitted.message.delivery, now=now, holder=self._ports.chance.nonce())

    def _record(self, end: Ended, now: Millis) -> Change:
        task = started(end.run.task, after=end.run.context.started_after or 0, now=now)
        if end.failure is None:
            return succeed(task, result=end.result, now=now)
        return fail(
            self._ports.rules,
            task,
            end.failure,
            now=now,
            draw=self._ports.chance.draw(),
            cancelled=end.run.context.cancel_asked,
        )


def _left(until: Millis | None, now: Millis) -> float:
    return inf if until is None else until - now


def _fields(run: Run, step: str = "record") -> dict[str, Any]:
    return {"step": step, "task_id": run.task.id, "attempt": run.task.attempt}
