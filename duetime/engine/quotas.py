"""Quotas in front of a submission. What is over a quota is refused, and nothing of it is stored."""

from collections.abc import Mapping, Sequence
from math import ceil

from duetime.core.ports import TaskStore
from duetime.core.quotas import NANOS_PER_SECOND, Nanos, Quota, Quotas, QuotaStore, Rate
from duetime.core.value import value
from duetime.engine.refusal import Refusal
from duetime.engine.submission import NotSubmitted, Submitted, TaskRequest

# Tasks leave when their retention ends: a full namespace has room in hours rather than seconds, and
# a client that repeats submissions by itself gives up.
FULL_RETRY_AFTER = 300

Wanted = Mapping[int, tuple[TaskRequest, str]]


@value(frozen=True, kw_only=True, slots=True)
class QuotaGate:
    quotas: Quotas
    store: QuotaStore

    def answers(self, wanted: Wanted, tasks: TaskStore) -> dict[int, Submitted | NotSubmitted]:
        """Returns the answers to the requests that are over their quotas: a refusal, or the stored
        task if the request repeats an earlier one. The other requests may be carried out."""
        refused: dict[int, Refusal] = {}
        places: dict[str, list[int]] = {}
        for place, (request, _) in wanted.items():
            places.setdefault(request.spec.namespace, []).append(place)
        for namespace, in_order in places.items():
            if quota := self.quotas.of(namespace):
                refused |= self._refused(namespace, quota, in_order)
        if not refused:
            return {}
        return {**refused, **_repeated({place: wanted[place] for place in refused}, tasks)}

    def refusal(self, namespace: str, item: str) -> Refusal | None:
        """Returns why a single submission of another item than a task is over the quota."""
        quota = self.quotas.of(namespace)
        refused = self._refused(namespace, quota, [0], item) if quota else {}
        return refused.get(0)

    def _refused(
        self, namespace: str, quota: Quota, places: Sequence[int], item: str = "task"
    ) -> Mapping[int, Refusal]:
        """The first requests pass, as many as the quota allows."""
        refused: dict[int, Refusal] = {}
        if quota.stored_tasks is not None:
            room = self.store.admit(namespace, quota.stored_tasks, len(places))
            refused |= dict.fromkeys(places[room:], _full(namespace, quota.stored_tasks, item))
            places = places[:room]
        if places and (rate := quota.rate):
            grant = self.store.take(namespace, rate, len(places))
            for number, place in enumerate(places[grant.granted :]):
                wait = grant.wait + min(number, rate.burst - 1) * rate.interval
                refused[place] = _too_fast(namespace, quota, rate, wait, item)
        return refused


def _repeated(refused: Wanted, tasks: TaskStore) -> dict[int, Submitted]:
    """A repeated request gets its task, whatever the quota: a client that saw no answer must not
    take a stored task for refused."""
    repeatable = {
        place: (request, task_id)
        for place, (request, task_id) in refused.items()
        if request.id is not None or request.key is not None
    }
    if not repeatable:
        return {}
    found = tasks.get([task_id for _, task_id in repeatable.values()])
    return {
        place: Submitted(task=found[task_id], replayed=True)
        for place, (request, task_id) in repeatable.items()
        if task_id in found and request.made(found[task_id])
    }


def _full(namespace: str, limit: int, item: str) -> Refusal:
    detail = (
        f"Namespace {namespace!r} has reached its quota: stored_tasks {limit:,}. The {item} is not"
        " stored. Tasks leave when their retention ends, or by a purge; or raise the quota."
    )
    return _refusal("The namespace is full", detail, FULL_RETRY_AFTER)


def _too_fast(namespace: str, quota: Quota, rate: Rate, wait: Nanos, item: str) -> Refusal:
    seconds = max(ceil(wait / NANOS_PER_SECOND), 1)
    detail = (
        f"Namespace {namespace!r} has reached its quota: submissions_per_second"
        f" {quota.submissions_per_second:,.10g}, burst {rate.burst:,}. The {item} is not stored."
        f" Send it again in {seconds} s; or raise the quota."
    )
    return _refusal("Too many submissions", detail, seconds)


def _refusal(title: str, detail: str, retry_after: int) -> Refusal:
    return Refusal(429, "quota", title, detail, retry_after=retry_after)
