"""Unique tasks: of the tasks with one unique key, at most one is live.

The key is a row that names a task. A submission takes the key first, on condition that it is free,
and then stores its task, like one with an idempotency key. The key is not freed when its task ends.
The next submission finds which task the key names:

- It holds the key: `on_conflict` decides. `replace` cancels the task if it has not started.
- It can never hold the key again: the submission takes the key over, on condition that it still
  names that task. A dead task is superseded first, since it might be revived.
- It does not exist: the other submission is still to store it, or has died. This submission
  stores its own task under that id: of both, the one that stores it first wins, and the other
  finds it. So no third task can take the key in between.

Each step is a conditional write that can be repeated, so a submission may die after any of them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from duetime.core.change import Applied, Change, Refused, Unknown
from duetime.core.ids import created_at
from duetime.core.ports import Ports, UniqueKey
from duetime.core.steps.cancel import cancel_unstarted
from duetime.core.steps.supersede import KeyState, key_state, supersede
from duetime.core.task import Task
from duetime.core.times import DAY, Millis
from duetime.core.unique import OnConflict, Unique
from duetime.core.value import value
from duetime.engine.refusal import CONTENTION, FieldError, Refusal
from duetime.engine.submission import (
    NotSubmitted,
    Submitted,
    TaskRequest,
    enqueue_due,
    id_conflict,
    store_tasks,
)

MAX_ROUNDS = 10  # each but the first follows a lost race
REPLACED = "replaced"
# No submission takes this long to store its task: one that has not done so by then has died.
ABANDONED_AFTER: Millis = DAY

Answer = Submitted | NotSubmitted


@value(kw_only=True, slots=True)
class _Candidate:
    request: TaskRequest
    unique: Unique
    task_id: str  # for its own task
    instead_of: str | None = None  # the task whose key it may take over

    @property
    def key(self) -> UniqueKey:
        return UniqueKey(
            namespace=self.request.spec.namespace,
            key=self.unique.key,
            task_id=self.task_id,
            instead_of=self.instead_of,
        )


class UniqueTasks:
    def __init__(self, ports: Ports, now: Millis) -> None:
        self._ports = ports
        self._now = now

    def submit(self, wanted: Mapping[int, tuple[TaskRequest, str]]) -> dict[int, Answer]:
        """Returns the answer to each request, which comes with the id for its task. Two requests
        with one key are handled one after the other."""
        answers: dict[int, Answer] = {}
        for group in _without_repetition(wanted):
            left = group
            for _ in range(MAX_ROUNDS):
                answers |= self._round(left)
                left = {place: one for place, one in left.items() if place not in answers}
                if not left:
                    break
            answers |= {place: Unknown(CONTENTION) for place in left}
        return answers

    def _round(self, left: Mapping[int, _Candidate]) -> dict[int, Answer]:
        """Returns the answers that are final. The other candidates have lost a race, or may take
        their key over in the next round."""
        holders = self._ports.store.take_keys([one.key for one in left.values()])
        named = dict(zip(left, holders, strict=True))
        found = self._find(left, named)
        answers: dict[int, Answer] = {}
        existing: dict[int, Task] = {}
        missing: dict[int, Task] = {}
        for place, one in left.items():
            holder = named[place]
            one.instead_of = None
            if (own := found.get(one.task_id)) and (answer := self._answer_own(one, own)):
                answers[place] = answer
            elif holder in found:
                existing[place] = found[holder]
            elif holder != one.task_id and self._is_abandoned(holder):
                one.instead_of = holder
            else:
                draw = self._ports.chance.draw()
                missing[place] = one.request.task(self._ports.wake_policy, holder, self._now, draw)
        answers |= self._put(left, missing, existing)
        return answers | self._resolve(left, existing)

    def _find(self, left: Mapping[int, _Candidate], named: Mapping[int, str]) -> Mapping[str, Task]:
        """Reads the tasks that other submissions' keys name. A repeated request may have stored its
        own task, and that may have lost its key since."""
        taken = {place: one for place, one in left.items() if named[place] != one.task_id}
        ids = [i for place, one in taken.items() for i in (named[place], one.task_id)]
        return self._ports.store.get(ids) if ids else {}

    def _answer_own(self, one: _Candidate, own: Task) -> Answer | None:
        """Handles a candidate whose id is taken: by its own task, by a task without this key, or by
        another submission that found the key before this one had stored its task."""
        if one.request.made(own):
            return Submitted(task=own, replayed=True)
        if own.spec.unique is None or own.spec.unique.key != one.unique.key:
            return id_conflict(one.request)
        one.task_id = self._ports.chance.new_id(self._now)
        return None

    def _is_abandoned(self, task_id: str) -> bool:
        return created_at(task_id) < self._now - ABANDONED_AFTER

    def _put(
        self,
        left: Mapping[int, _Candidate],
        missing: Mapping[int, Task],
        existing: dict[int, Task],
    ) -> dict[int, Answer]:
        """Stores tasks. Adds those that others have stored first to `existing`."""
        answers: dict[int, Answer] = {}
        requests = [left[place].request for place in missing]
        puts = store_tasks(self._ports, list(missing.values()), requests) if missing else []
        fresh: list[Task] = []
        for (place, task), answer in zip(missing.items(), puts, strict=True):
            match answer:
                case Applied():
                    fresh.append(task)
                    answers[place] = Submitted(task=task, replayed=False)
                case Refused(Task() as stored):
                    existing[place] = stored
                case Unknown():
                    answers[place] = answer
        enqueue_due(self._ports, fresh)
        return answers

    def _resolve(
        self, left: Mapping[int, _Candidate], existing: Mapping[int, Task]
    ) -> dict[int, Answer]:
        answers: dict[int, Answer] = {}
        changes: dict[int, Change] = {}
        for place, task in existing.items():
            match self._decide(left[place], task):
                case Change() as change:
                    changes[place] = change
                case None:
                    left[place].instead_of = task.id
                case answer:
                    answers[place] = answer
        applied = self._ports.store.apply(list(changes.values())) if changes else []
        for place, done in zip(changes, applied, strict=True):
            match done:
                case Applied(task):
                    left[place].instead_of = task.id
                case Unknown():
                    answers[place] = done
        return answers

    def _decide(self, one: _Candidate, task: Task) -> Answer | Change | None:
        """Returns the answer, or the change after which the key can be taken over; None if it can
        be taken over now. If the change is refused, the task has taken a step: read it again."""
        if one.request.made(task):
            return Submitted(task=task, replayed=True)
        if task.id == one.task_id and (answer := self._answer_own(one, task)):
            return answer
        match key_state(task, one.unique.key):
            case KeyState.FREE:
                return None
            case KeyState.DEAD:
                return supersede(task, nonce=self._ports.chance.nonce())
            case KeyState.HELD:
                return self._handle_conflict(one, task)

    def _handle_conflict(self, one: _Candidate, task: Task) -> Answer | Change:
        match one.unique.on_conflict:
            case OnConflict.RETURN_EXISTING:
                return Submitted(task=task, replayed=True)
            case OnConflict.REPLACE if task.attempt == 0:
                change = cancel_unstarted(task, now=self._now, reason=REPLACED)
                return replace(change, expect=replace(change.expect, token=task.token))
            case OnConflict.REPLACE:
                return _key_conflict(task, "which has started and cannot be replaced")
            case OnConflict.REJECT:
                return _key_conflict(task)


def _without_repetition(
    wanted: Mapping[int, tuple[TaskRequest, str]],
) -> Iterator[dict[int, _Candidate]]:
    """Yields groups of candidates, in order, such that no group has two with one key."""
    groups: list[dict[int, _Candidate]] = []
    seen: dict[tuple[str, str], int] = {}
    for place, (request, task_id) in wanted.items():
        unique = request.spec.unique
        if unique is None:
            raise ValueError("only a task with a unique key")
        key = request.spec.namespace, unique.key
        number = seen[key] = seen.get(key, -1) + 1
        if number == len(groups):
            groups.append({})
        groups[number][place] = _Candidate(request=request, unique=unique, task_id=task_id)
    yield from groups


def _key_conflict(task: Task, why: str = "") -> Refusal:
    held = f"is held by task {task.id}, {why}" if why else f"is held by task {task.id}"
    error = FieldError("unique.key", held)
    detail = f"The unique key {held}. It is {task.status}."
    return Refusal(409, "unique-conflict", "The unique key is taken", detail, errors=[error])
