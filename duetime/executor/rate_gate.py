"""The gate of the rate limits: gives every start a time of its own, and lets it start then.

The gate reserves the times of all tasks of a batch that are under one limit with one write. A task
whose time is not now waits for it without asking again:

- up to SHORT_WAIT, in the attempt loop, with its message;
- up to LONGEST_RESEND, as a new message that carries the granted time;
- longer, as a task that is due at the granted time (see defer.defer_to_slot). So does a task that
  has a slot of a concurrency limit: it frees that, and holds nothing but its time.

A granted task reads its limit once, at its time: if a target has asked for a pause since, or the
task comes too late, it reserves again. A reservation whose answer is lost, or whose task does not
start, wastes a time; no time is ever given to two tasks.

An occurrence, a cancelled or an outdated message that has to wait is checked against its task. If
it starts nothing, it goes on to the lease, which is refused, and is resolved there.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from duetime.core.change import Answer, Applied, Unknown
from duetime.core.delivery import Delivery, Limits, Message
from duetime.core.errors import Unavailable
from duetime.core.lifecycle import Step, sources
from duetime.core.limits.definition import Limit, LimitUse, OnFull, Rate
from duetime.core.limits.ports import LimitStore, RateStore
from duetime.core.limits.rate import RateKey, SlotRequest, grant_life
from duetime.core.ports import Ports
from duetime.core.steps.cancel import cancel
from duetime.core.steps.defer import defer_to_slot
from duetime.core.task import Task
from duetime.core.times import SECOND, Millis
from duetime.core.value import value
from duetime.core.wakes import WakeKind
from duetime.engine.enqueue import enqueue
from duetime.executor.message_acks import MessageAcks
from duetime.executor.runs import Admitted

log = logging.getLogger(__name__)

SHORT_WAIT: Millis = SECOND // 5
LONGEST_RESEND: Millis = 60 * SECOND
FULL = "limit"  # the reason of a task that was cancelled since its limit was full

Release = Callable[[Sequence[tuple[Delivery, Task | None]]], object]


@value(slots=True)
class _Arrival:
    """A task under a rate limit that has arrived at the gate."""

    admitted: Admitted
    delivery: Delivery
    number: int  # of the limit, among those of the task
    key: RateKey
    rate: Rate
    on_full: OnFull
    in_slot: bool  # it has passed the slot gate, and must not keep its slot while it waits
    grant: Millis | None  # None: it needs a reservation
    slot: Millis | None = None  # None: there is none for it, or the store did not answer
    unanswered: bool = False

    @property
    def message(self) -> Message:
        return self.admitted.message

    @property
    def skips(self) -> bool:
        return self.on_full is OnFull.SKIP

    def granted_message(self, slot: Millis) -> Message:
        limits = self.delivery.limits
        granted = replace(limits, grant=slot) if limits else None
        return replace(
            self.message, delivery=replace(self.delivery, not_before=slot, limits=granted)
        )


class RateGate:
    """`release` frees the slots of tasks that have to wait for longer than SHORT_WAIT. Such a task
    gets a new token first, so that no copy of its message can start it without a slot."""

    def __init__(self, ports: Ports, acks: MessageAcks, release: Release = lambda _: None) -> None:
        self._ports = ports
        self._acks = acks
        self._release = release

    def admit(self, due: Sequence[Admitted]) -> tuple[list[Admitted], list[Message]]:
        """Returns what may be leased now, and the messages that may be leased in a moment. The
        messages of the others are acknowledged here."""
        limits, rates = self._ports.limits, self._ports.rates
        if rates is None:
            return list(due), []
        now = self._ports.clock.now()
        try:
            arrivals = _arrivals(due, limits)
            self._check_grants(arrivals, rates, now)
        except Unavailable as error:
            return self._without_limited(due, error), []
        self._reserve([one for one in arrivals if one.slot is None], rates, now)
        return self._sorted_out(due, arrivals, now)

    def _check_grants(self, arrivals: Sequence[_Arrival], rates: RateStore, now: Millis) -> None:
        """A grant is good until a while after its time. The task does not ask for it again, unless
        its limit is blocked."""
        granted = [(one, grant) for one in arrivals if (grant := _good_grant(one, now)) is not None]
        keys = list(dict.fromkeys(one.key for one, _ in granted))
        states = dict(zip(keys, rates.states(keys), strict=True)) if keys else {}
        for one, grant in granted:
            starts_at = max(grant, now)
            if states[one.key].blocked_until <= starts_at:
                one.slot = starts_at

    def _reserve(self, arrivals: Sequence[_Arrival], rates: RateStore, now: Millis) -> None:
        groups: dict[tuple[RateKey, Rate, bool], list[_Arrival]] = {}
        for one in sorted(arrivals, key=lambda one: one.delivery.due_at):
            groups.setdefault((one.key, one.rate, one.skips), []).append(one)
        requests = [
            SlotRequest(key=key, rate=rate, count=len(group), asked_at=now, at_once=skips)
            for (key, rate, skips), group in groups.items()
        ]
        answers = rates.reserve(requests) if requests else []
        for group, answer in zip(groups.values(), answers, strict=True):
            if isinstance(answer, Unknown):
                fields = {"step": "lease", "limit": group[0].key.name, "count": len(group)}
                log.warning("rate limit not asked: %s", answer.reason, extra=fields)
                for one in group:
                    one.unanswered = True
            else:
                for one, slot in zip(group, answer, strict=False):
                    one.slot = slot

    def _sorted_out(
        self, due: Sequence[Admitted], arrivals: Sequence[_Arrival], now: Millis
    ) -> tuple[list[Admitted], list[Message]]:
        waiting: list[Message] = []
        later: list[_Arrival] = []
        for one in arrivals:
            if one.slot is None or one.slot > now + SHORT_WAIT:
                later.append(one)
            elif one.slot > now:
                waiting.append(one.granted_message(one.slot))
        held = {id(one.admitted) for one in arrivals if one.slot is None or one.slot > now}
        if later:
            held -= {id(one.admitted) for one in self._hold_back(later, now)}
        return [admitted for admitted in due if id(admitted) not in held], waiting

    def _hold_back(self, later: Sequence[_Arrival], now: Millis) -> list[_Arrival]:
        """Returns those whose messages can start nothing: the lease finds out why."""
        try:
            tasks = self._ports.store.get([one.delivery.task_id for one in later])
            outdated = [one for one in later if not _may_start(tasks, one.delivery)]
            left = [one for one in later if _may_start(tasks, one.delivery)]
            done = self._act(left, tasks, now)
        except Unavailable as error:
            fields = {"step": "lease", "task_ids": [one.delivery.task_id for one in later]}
            log.warning("tasks not held back: %s", error, extra=fields)
            outdated, done = [], []
        self._acks.delete([one.message for one in done])
        resolved = {id(one) for one in (*outdated, *done)}
        for one in later:
            if id(one) not in resolved:
                self._acks.hand_back_with_backoff(one.message)
        return outdated

    def _act(
        self, left: Sequence[_Arrival], tasks: Mapping[str, Task], now: Millis
    ) -> list[_Arrival]:
        """Returns those whose messages are not needed any more."""
        given = [(one, one.slot) for one in left if one.slot is not None]
        far = [(o, slot) for o, slot in given if o.in_slot or slot > now + LONGEST_RESEND]
        soon = [pair for pair in given if pair not in far]
        slots = {one.delivery.task_id: slot for one, slot in soon}
        if slots:
            enqueue(self._ports, [tasks[task_id] for task_id in slots], slots, slots)
        skipped = [one for one in left if one.skips and one.slot is None and not one.unanswered]
        return [one for one, _ in soon] + self._defer(far, now) + self._skip(skipped, tasks, now)

    def _defer(self, far: Sequence[tuple[_Arrival, Millis]], now: Millis) -> list[_Arrival]:
        if not far:
            return []
        policy = self._ports.wake_policy
        changes = [
            defer_to_slot(
                policy, one.delivery, one.number, slot, now=now, draw=self._ports.chance.draw()
            )
            for one, slot in far
        ]
        answers = self._ports.store.apply(changes)
        self._free_slots([one for one, _ in far], answers)
        stored = [answer.stored for answer in answers if isinstance(answer, Applied)]
        enqueue(self._ports, [t for t in stored if t.wake and t.wake.kind is WakeKind.WATCH])
        return _answered([one for one, _ in far], answers)

    def _skip(
        self, skipped: Sequence[_Arrival], tasks: Mapping[str, Task], now: Millis
    ) -> list[_Arrival]:
        """Of this write and a lease by another copy of the message the first wins."""
        if not skipped:
            return []
        changes = []
        for one in skipped:
            task = tasks[one.delivery.task_id]
            change = cancel(task, now=now, reason=FULL)
            seen = replace(change.expect, token=task.token, attempt=task.attempt)
            changes.append(replace(change, expect=seen))
        answers = self._ports.store.apply(changes)
        self._free_slots(skipped, answers)
        return _answered(skipped, answers)

    def _free_slots(self, arrivals: Sequence[_Arrival], answers: Sequence[Answer]) -> None:
        """Frees the slots of deliveries that can no longer start. If this fails, the watch of the
        line finds their slots void."""
        over = [
            (one.delivery, answer.stored)
            for one, answer in zip(arrivals, answers, strict=True)
            if one.in_slot and not isinstance(answer, Unknown) and _is_over(one, answer.stored)
        ]
        if over:
            self._release(over)

    def _without_limited(self, due: Sequence[Admitted], error: Unavailable) -> list[Admitted]:
        """The limits cannot be read, so no task that names one starts."""
        log.warning("limits not read: %s", error, extra={"step": "lease"})
        for admitted in due:
            if _uses(admitted):
                self._acks.hand_back_with_backoff(admitted.message)
        return [admitted for admitted in due if not _uses(admitted)]


def _arrivals(due: Iterable[Admitted], store: LimitStore) -> list[_Arrival]:
    """Returns the tasks that are under a rate limit. A limit that does not exist any more holds no
    one back. A lease that was tried is repeated, without another time."""
    named: dict[str, dict[str, None]] = {}
    limited = [(admitted, limits) for admitted in due if (limits := _uses(admitted))]
    for _, limits in limited:
        named.setdefault(limits.namespace, {}).update((use.name, None) for use in limits.uses)
    known = {space: store.recent(space, list(names)) for space, names in named.items()}
    return [
        _Arrival(
            admitted=admitted,
            delivery=admitted.message.delivery,
            number=limits.uses.index(use),
            key=RateKey(namespace=limits.namespace, name=use.name, key=use.key),
            rate=rate,
            on_full=use.on_full,
            in_slot=_in_slot(limits.uses, known[limits.namespace]),
            grant=limits.grant,
        )
        for admitted, limits in limited
        for use, rate in rates_of(limits.uses, known[limits.namespace])
    ]


def rates_of(
    uses: Sequence[LimitUse], known: Mapping[str, Limit]
) -> Sequence[tuple[LimitUse, Rate]]:
    """Returns the use of a limit with a rate. A task has at most one; if a limit has been given a
    rate since, its first counts."""
    rated = [(use, limit.rate) for use in uses if (limit := known.get(use.name)) and limit.rate]
    return rated[:1]


def _in_slot(uses: Sequence[LimitUse], known: Mapping[str, Limit]) -> bool:
    return any((limit := known.get(use.name)) and limit.concurrency for use in uses)


def _is_over(one: _Arrival, task: Task | None) -> bool:
    """Whether the delivery can start nothing any more."""
    return task is None or task.status.finished or task.token != one.delivery.token


def _uses(admitted: Admitted) -> Limits | None:
    limits = admitted.message.delivery.limits
    return limits if limits and limits.uses and admitted.gated else None


def _good_grant(one: _Arrival, now: Millis) -> Millis | None:
    if one.grant is None or now > one.grant + grant_life(one.rate):
        return None
    return one.grant


def _may_start(tasks: Mapping[str, Task], delivery: Delivery) -> bool:
    task = tasks.get(delivery.task_id)
    return (
        task is not None
        and task.status in sources(Step.LEASE)
        and (task.token, task.attempt) == (delivery.token, delivery.attempt - 1)
    )


def _answered(arrivals: Sequence[_Arrival], answers: Sequence[Answer]) -> list[_Arrival]:
    """A refused write has found the task changed since it was read, so its message is outdated."""
    pairs = zip(arrivals, answers, strict=True)
    return [one for one, answer in pairs if not isinstance(answer, Unknown)]
