"""The I/O of the attempts of one HTTP worker, in the runner.

The runner takes the lease, renews it and records the outcome with the same writes, gates and
acknowledgements as for its own attempts. Only the handler runs elsewhere.
"""

from collections.abc import Sequence
from dataclasses import replace

from duetime.core.change import Answer, Unknown
from duetime.core.delivery import Message, delivery_of
from duetime.core.errors import Unavailable
from duetime.core.lifecycle import Status
from duetime.core.ports import Ports
from duetime.core.steps.lease import renew
from duetime.core.task import Progress, Task
from duetime.core.worker_calls import holder_of
from duetime.executor.attempt_loop import LEASE_TRIES
from duetime.executor.executor import OUTCOME_TRIES, Executor
from duetime.executor.runs import Admitted, Ended, Run


def is_held(task: Task | None, holder: str) -> bool:
    """Whether the attempt of this holder runs."""
    return task is not None and task.status is Status.RUNNING and task.holder == holder


class RemoteExecutor(Executor):
    def __init__(self, ports: Ports, worker: str) -> None:
        super().__init__(ports, {})
        self._ports = ports
        self._worker = worker

    def lease(self, messages: Sequence[Message]) -> list[Run]:
        """Returns the attempts that were leased; the other messages are acknowledged or sent again.
        A lease without an answer is repeated at once: a worker waits for it."""
        started: list[Run] = []
        due = [Admitted(message=message) for message in self.admit(messages)]
        for _ in range(LEASE_TRIES):
            if not due:
                break
            written = self.record_and_lease(due=due)
            started += written.started
            self._send_again(written.waiting)
            due = written.lease_retries
        for admitted in due:
            self.hand_back_with_backoff(admitted.message)
        return started

    def record(self, ended: Sequence[Ended]) -> dict[str, Answer]:
        """Records outcomes. Returns the last answer of the store to each, by holder. One that the
        store cannot write becomes a failure, as in the attempt loop."""
        answers: dict[str, Answer] = {}
        for _ in range(OUTCOME_TRIES):
            if not ended:
                break
            written = self.record_and_lease(ended=ended)
            for outcome, answer in zip(written.outcomes, written.answers, strict=True):
                answers[outcome.end.run.holder] = answer
            ended = written.record_retries
        return answers

    def renew_each(self, renewals: Sequence[tuple[Run, Progress | None]]) -> list[Answer]:
        now = self._clock.now()
        changes = [renew(run.task, now=now, progress=progress) for run, progress in renewals]
        return self._apply(changes) if changes else []

    def prepare(self, run: Run) -> Task:
        """Returns the task as its handler gets it: see TargetRunner.prepare."""
        return self._runner.prepare(run)

    def resume(self, task: Task) -> Run:
        """Returns the run of an attempt that an earlier runner has leased. Its message has died
        with that runner; to acknowledge the new one does nothing, or sends it."""
        sent = replace(
            delivery_of(task, self._clock.now()),
            attempt=task.attempt,
            written_at=task.message_written_at or 0,
        )
        message = Message(
            delivery=sent, receipt=f"resumed {task.holder}", message_id="", sent_at=sent.written_at
        )
        return self._start(Admitted(message=message), task, self._clock.monotonic())

    def end(self, run: Run, task: Task | None) -> bool:
        """Ends an attempt whose lease has run out, or acknowledges the message of one that is over.
        `task` is the task as it is stored. Returns False if the store did not answer: the attempt
        may still run."""
        try:
            stored = self._stale.repair(run.message, task)
            if isinstance(stored, Unknown) or is_held(stored, run.holder):
                return False
            if self._stale.resolve(run.message, stored):
                self._acks.delete([run.message])
        except Unavailable:
            return False
        return True

    def _send_again(self, messages: Sequence[Message]) -> None:
        """A rate limit lets these start in a moment. The worker that asks then gets them."""
        if messages:
            self._ports.lanes.send([m.delivery for m in messages], self._clock.now())
            self._acks.delete(messages)

    def _holder(self, admitted: Admitted, nonce: str) -> str:  # noqa: ARG002
        """A nonce has 64 random bits; a worker's holder has two."""
        return holder_of(self._worker, nonce + self._ports.chance.nonce())
