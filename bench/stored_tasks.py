"""Many stored tasks of every kind that a list can ask for, and the lists that do."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from duetime.core.ids import new_id
from duetime.core.lifecycle import Status
from duetime.core.occurrence import Occurrence
from duetime.core.task import Spec, Task
from duetime.core.times import DAY, HOUR, Millis, rfc3339
from duetime.sqlite.task_store import SqliteTaskStore

SPAN = 10 * DAY  # in which the tasks were created; less than the runner's retention
BATCH = 5_000
STATUSES = {7: Status.DEAD, 13: Status.RUNNING, 29: Status.CANCELLED, 31: Status.RETRYING}


class Listed(NamedTuple):
    """One list. `indexed`: docs/reference/api.md says so of its filter."""

    what: str
    query: Mapping[str, str]
    indexed: bool = True


def lists(now: Millis) -> list[Listed]:
    since, before = rfc3339(now - 5 * DAY), rfc3339(now - 4 * DAY - HOUR)
    return [
        Listed("newest", {}),
        Listed("namespace (1 in 3)", {"namespace": "shop"}),
        Listed("all namespaces", {"namespace": "*"}),
        Listed("status PENDING", {"status": "PENDING"}),
        Listed("status RUNNING", {"status": "RUNNING"}),
        Listed("status DEAD,RETRYING", {"status": "DEAD,RETRYING"}),
        Listed("status, all namespaces", {"status": "DEAD", "namespace": "*"}),
        Listed("schedule (1 in 100)", {"schedule_id": "nightly"}),
        Listed("tag team:growth (1 in 100)", {"tag": "team:growth"}),
        Listed("tag team:rare (1 in 9,973)", {"tag": "team:rare"}),
        Listed("handler (1 in 100)", {"handler": "shop.h7"}),
        Listed("tag and handler", {"tag": "team:growth", "handler": "shop.h11"}),
        Listed("target http (1 in 100)", {"target": "http"}),
        Listed("a time range", {"created_since": since, "created_before": before}),
        Listed("soonest", {"order": "soonest"}),
        Listed("summary, newest", {"fields": "summary"}),
        Listed("summary, soonest", {"fields": "summary", "order": "soonest"}),
        Listed("name (while reading)", {"name": "restock 1"}, indexed=False),
        Listed("SUCCEEDED (while reading)", {"status": "SUCCEEDED"}, indexed=False),
    ]


def fill(store: SqliteTaskStore, count: int, now: Millis) -> None:
    batch: list[Task] = []
    for task in tasks(count, now):
        batch.append(task)
        if len(batch) == BATCH:
            store.put(batch)
            batch = []
    store.put(batch)


def tasks(count: int, now: Millis) -> Iterator[Task]:
    """Yields tasks that no scanner finds, so that a runner leaves them as they are."""
    step = SPAN / count
    for n in range(count):
        at = now - SPAN + int(n * step)
        status = STATUSES.get(n % 100, Status.SUCCEEDED if n % 5 else Status.PENDING)
        due = now + HOUR + n
        yield Task(
            id=new_id(at, n),
            spec=_spec(n, due),
            status=status,
            token=f"{at}-{n}",
            due_at=due,
            wake=None,
            created_at=at,
            updated_at=at,
            budget=5,
            result='{"ok":true}' if status is Status.SUCCEEDED else None,
        )


def _spec(n: int, due: Millis) -> Spec:
    team = "rare" if n % 9_973 == 0 else "growth" if n % 100 == 3 else None
    handler = {"type": "python", "handler": f"shop.h{n * 37 % 100}"}
    run = Occurrence(schedule_id="nightly", scheduled_for=due, version=None)
    return Spec(
        target={"type": "http", "url": "https://example.com/"} if n % 100 == 17 else handler,
        run_at=due,
        payload={"item": n, "text": "x" * 200},
        name=f"restock {n}",
        namespace=("default", "default", "shop")[n % 3],
        tags={"team": team} if team else {},
        occurrence=run if n % 100 == 41 else None,
    )
