"""lease, execute, record: the three steps of one attempt.

Each can be cut off before or after any call. A lease without an outcome runs out and the
attempt is ended as `lease_expired`; an outcome without a deleted message leaves a message whose
token is spent.
"""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from typing import Any

from lambdas.core.change import Answer, Applied, Change, Refused, Unknown
from lambdas.core.delivery import Message
from lambdas.core.errors import AskedForDelay
from lambdas.core.lifecycle import Step
from lambdas.core.ports import Ports
from lambdas.core.steps.lease import lease, renew
from lambdas.core.steps.record import fail, succeed, to_enqueue
from lambdas.core.task import Progress, Task
from lambdas.core.times import MINUTE, SECOND, Millis, seconds
from lambdas.core.values import value
from lambdas.enqueue import enqueue
from lambdas.executor.context import Context, Previous
from lambdas.executor.messages import Letters, Messages
from lambdas.executor.runs import Admitted, Ended, Run, check_result, failed, stopped
from lambdas.executor.settling import AFTER_LEASE, Settling, keeps_attempt
from lambdas.executor.stopping import Stopped
from lambdas.executor.targets import TargetFailed, Targets

log = logging.getLogger(__name__)

EARLY: Millis = 2 * SECOND  # what comes earlier than this is handed back
RESERVE: Millis = 10 * SECOND  # for the lease and the outcome, beside an attempt's own time
HELD_FOR: Millis = 10 * MINUTE  # how long the message of a long run is kept from coming again
HOLD_EVERY: Millis = 3 * MINUTE  # every queue hides a message for longer than this by itself


@value(kw_only=True, slots=True)
class Advanced:
    begun: list[Run] = field(default_factory=list)
    unrecorded: list[Ended] = field(default_factory=list)  # not answered: to be tried again
    unleased: list[Admitted] = field(default_factory=list)  # likewise


class Executor:
    def __init__(self, ports: Ports, targets: Targets, letters: Letters | None = None) -> None:
        self._ports = ports
        self._store = ports.store
        self._clock = ports.clock
        self._targets = targets
        self._messages = Messages(ports.lanes, letters)
        self._settling = Settling(ports, self._messages)

    def admit(self, messages: Sequence[Message], until: Millis | None = None) -> list[Message]:
        """Hand back what comes too early to wait for, and what could not end before `until`;
        the rest is to be leased when it is due."""
        now = self._clock.now()
        admitted = []
        for message in self._messages.without_letters(messages):
            early = message.delivery.due_at - now
            needs = max(early, 0) + seconds(message.delivery.timeout) + RESERVE
            if early > EARLY:
                self._messages.hand_back(message, early - SECOND)
            elif until is not None and now + needs > until:
                self._messages.give_back(message)
            else:
                admitted.append(message)
        return admitted

    def advance(self, *, ended: Sequence[Ended] = (), due: Sequence[Admitted] = ()) -> Advanced:
        """Record what is over and lease what is due, together: the writes share one trip. One
        that is not answered may have been made; repeated as it is, it knows its own traces."""
        now = self._clock.now()
        due = self._let_in([a for a in due if self._is_due(a.message, now)])
        outcomes = [end.change or self._outcome(end, now) for end in ended]
        leases = [admitted.change or self._lease(admitted, now) for admitted in due]
        answers = self._store.apply(outcomes + leases)
        advanced = Advanced()
        self._recorded(ended, outcomes, answers[: len(outcomes)], advanced)
        self._leased(due, leases, answers[len(outcomes) :], advanced)
        return advanced

    def give_back(self, message: Message) -> None:
        self._messages.give_back(message)

    def lose(self, end: Ended) -> None:
        """An outcome that the store would not take. By the time the message comes again, the
        lease surely has run out."""
        log.error("outcome lost: the store does not answer", extra=_fields(end.run))
        self._messages.hand_back(end.run.message, AFTER_LEASE)

    def execute(self, run: Run) -> Ended:
        """Run the target. Whatever it raises is the attempt's failure, never the executor's."""
        try:
            task = self._filled_in(run)
            target = self._targets[task.spec.target["type"]]
            result = target(task, run.context)
            check_result(result)
        except Stopped as error:
            log.info("handler stopped", exc_info=error, extra=_fields(run, "execute"))
            return stopped(run, error, self._clock.now())
        except BaseException as error:
            if not isinstance(error, TargetFailed | AskedForDelay):
                log.info("attempt failed", exc_info=error, extra=_fields(run, "execute"))
            return failed(run, error)
        return Ended(run=run, result=result)

    def renew(self, runs: Iterable[Run], progress: Progress | None = None) -> None:
        """Keep the leases, and tell the handlers whose lease is lost or whose task is cancelled."""
        runs = list(runs)
        now = self._clock.now()
        changes = [renew(run.task, now=now, progress=progress) for run in runs]
        for run, answer in zip(runs, self._store.apply(changes), strict=True):
            match answer:
                case Refused():
                    run.context.stop(lost=True)
                case Applied(task):
                    run.context.renewed_at = now
                    if task.cancel_requested:
                        run.context.stop(asked=True)
                case Unknown(reason):  # see Books.guard
                    log.info("lease not renewed: %s", reason, extra=_fields(run, "renew"))
        self._hold([run for run in runs if now - run.context.held_at >= HOLD_EVERY], now)

    def _hold(self, runs: Sequence[Run], now: Millis) -> None:
        """A long run outlasts the time for which its queue hides the message."""
        if runs and self._messages.hold([run.message for run in runs], HELD_FOR):
            for run in runs:
                run.context.held_at = now

    def _recorded(
        self,
        ended: Sequence[Ended],
        outcomes: Sequence[Change],
        answers: Sequence[Answer],
        advanced: Advanced,
    ) -> None:
        """Send what is to be tried again soon, and settle the messages."""
        spent: list[Message] = []
        dead: list[Message] = []
        again: list[Task] = []
        for end, change, answer in zip(ended, outcomes, answers, strict=True):
            message = end.run.message
            match answer:
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
    ) -> None:
        """Begin the attempts that were leased; settle the messages that start nothing."""
        spent: list[Message] = []
        for admitted, change, answer in zip(due, leases, answers, strict=True):
            match answer:
                case Applied(task) if keeps_attempt(self._store, task):
                    advanced.begun.append(self._begin(admitted.message, task))
                case Applied() | Unknown():
                    again = replace(admitted, change=change, tries=admitted.tries + 1)
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

    def _begin(self, message: Message, task: Task) -> Run:
        context = Context(
            task, lambda progress: self.renew([run], progress), lambda: self._previous(task)
        )
        run = Run(task=task, message=message, context=context)
        return run

    def _filled_in(self, run: Run) -> Task:
        occurrence = run.task.spec.occurrence
        if occurrence is None or not occurrence.open:
            return run.task
        from lambdas.executor.previous import filled_in

        return filled_in(run.task, run.context.previous)

    def _previous(self, task: Task) -> Previous | None:
        if task.spec.occurrence is None:
            return None
        from lambdas.executor.previous import previous_run

        return previous_run(self._ports, task.spec.occurrence)

    def _lease(self, admitted: Admitted, now: Millis) -> Change:
        return lease(admitted.message.delivery, now=now, holder=self._ports.chance.nonce())

    def _outcome(self, end: Ended, now: Millis) -> Change:
        if end.failure is None:
            return succeed(end.run.task, result=end.result, now=now)
        return fail(
            self._ports.rules,
            end.run.task,
            end.failure,
            now=now,
            draw=self._ports.chance.draw(),
            cancelled=end.run.context.cancel_asked,
        )


def _fields(run: Run, step: str = "record") -> dict[str, Any]:
    return {"step": step, "task_id": run.task.id, "attempt": run.task.attempt}
