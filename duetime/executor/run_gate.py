"""The run gate: decides whether a step of a workflow run may still start.

It comes before every lease of a step. A step does not start if its run has been cancelled or is
over, or if the run has given it up for a newer task. The gate reads the run after the message has
arrived, and a cancellation is written before the tasks are looked at, so one of the two sees the
other. The redrive of a dead step checks nothing: it is stopped here.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace

from duetime.core.change import Applied, Change, Refused, Unknown
from duetime.core.delivery import Delivery
from duetime.core.errors import Unavailable
from duetime.core.ports import Ports
from duetime.core.steps.cancel import cancel
from duetime.core.task import Task
from duetime.core.times import Millis
from duetime.core.workflows.definition import Definition
from duetime.core.workflows.reconcile import admits
from duetime.core.workflows.run import Run
from duetime.engine.followups import run_follow_ups
from duetime.engine.workflows.callbacks import new_token
from duetime.engine.workflows.definitions import definitions_of, run_store
from duetime.engine.workflows.inputs import StepSource, sources_in
from duetime.engine.workflows.progress import position_of
from duetime.engine.workflows.steps import STOPPED
from duetime.executor.message_acks import MessageAcks
from duetime.executor.runs import Admitted, after_gate

log = logging.getLogger(__name__)


class RunGate:
    def __init__(self, ports: Ports, acks: MessageAcks) -> None:
        self._ports = ports
        self._acks = acks

    def admit(self, due: Sequence[Admitted]) -> list[Admitted]:
        """Returns what may be leased, with what the gate has read for it: the attempt needs it, to
        fill in references. The messages of the others are acknowledged here."""
        arrivals = [a for a in due if a.gated and a.message.delivery.step is not None]
        sources: Mapping[str, StepSource] = {}
        try:
            stopped, undecided, sources = self._decide(arrivals)
            refused, unknown = self._stop(stopped)
        except Unavailable as error:
            log.warning("run gate failed: %s", error, extra={"step": "lease"})
            stopped, undecided, refused, unknown = [], arrivals, [], []
        for admitted in (*undecided, *unknown):
            self._acks.hand_back_with_backoff(admitted.message)
        out = [a for a in (*stopped, *undecided) if a not in refused]
        self._acks.delete([a.message for a in out if a not in undecided and a not in unknown])
        return [
            self._with_source(admitted, source)
            if (source := sources.get(admitted.message.delivery.task_id))
            else admitted
            for admitted in after_gate(due, out=out, refused=refused)
        ]

    def _with_source(self, admitted: Admitted, source: StepSource) -> Admitted:
        """Also draws the token of a callback: its hash becomes the holder of the lease."""
        if source.step.callback is None:
            return replace(admitted, source=source)
        token = new_token(admitted.message.delivery.task_id, self._ports.chance)
        return replace(admitted, source=source, callback_token=token)

    def _decide(
        self, arrivals: Sequence[Admitted]
    ) -> tuple[list[Admitted], list[Admitted], Mapping[str, StepSource]]:
        """Returns the arrivals that may not start, those whose run cannot be read here, and the
        sources of the others."""
        store = run_store(self._ports)
        refs = [a.message.delivery.step for a in arrivals]
        runs = store.get(list({ref.run_id for ref in refs if ref}))
        missing = [ref.run_id for ref in refs if ref and ref.run_id not in runs]
        existing = store.exist(missing) if missing else set()
        definitions = definitions_of(self._ports, runs.values())
        stopped, unreadable = [], []
        for admitted, ref in zip(arrivals, refs, strict=True):
            run = runs.get(ref.run_id) if ref else None
            definition = definitions.get(run.spec.digest) if run else None
            if ref is None or (run is None and ref.run_id not in existing):
                stopped.append(admitted)
            elif run is None or definition is None:
                unreadable.append(admitted)
            elif not self._admits(definition, run, admitted):
                stopped.append(admitted)
        named = {a.message.delivery.task_id: ref for a, ref in zip(arrivals, refs, strict=True)}
        found = {task_id: ref for task_id, ref in named.items() if ref}
        return stopped, unreadable, sources_in(self._ports, found, runs, definitions)

    def _admits(self, definition: Definition, run: Run, admitted: Admitted) -> bool:
        delivery = admitted.message.delivery
        position = position_of(definition, run, delivery.step)
        return position is not None and admits(definition, run, position, delivery.task_id)

    def _stop(self, stopped: Sequence[Admitted]) -> tuple[list[Admitted], list[Admitted]]:
        """Cancels the tasks. Returns those that were not cancelled, since they run already or have
        ended: their lease is refused, which says what becomes of the message. And those without an
        answer: such a task may be dead, and its message on its way to the dead-letter queue."""
        if not stopped:
            return [], []
        now = self._ports.clock.now()
        tasks = self._ports.store.get([a.message.delivery.task_id for a in stopped])
        there = [a for a in stopped if a.message.delivery.task_id in tasks]
        answers = self._ports.store.apply(
            [_cancel(tasks[a.message.delivery.task_id], a.message.delivery, now) for a in there]
        )
        ended = [answer.stored for answer in answers if isinstance(answer, Applied)]
        run_follow_ups(self._ports, ended)
        pairs = list(zip(there, answers, strict=True))
        refused = [admitted for admitted, answer in pairs if isinstance(answer, Refused)]
        return refused, [admitted for admitted, answer in pairs if isinstance(answer, Unknown)]


def _cancel(task: Task, delivery: Delivery, now: Millis) -> Change:
    """Cancels the task on condition that it still has the token of the message: a dead task that
    was revived since it was read has another, and gets another message."""
    change = cancel(task, now=now, reason=STOPPED)
    return replace(change, expect=replace(change.expect, token=delivery.token))
