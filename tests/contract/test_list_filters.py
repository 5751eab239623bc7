"""Every filter of a list, in both orders, against the rule in core: TaskFilter.wants."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from duetime.core.change import Applied
from duetime.core.ids import new_id
from duetime.core.lanes import Lane, Queue
from duetime.core.lifecycle import TO_START, Status
from duetime.core.listings import ListOrder
from duetime.core.occurrence import Occurrence
from duetime.core.ports import TaskStore
from duetime.core.steps.cancel import cancel
from duetime.core.steps.defer import Deferral, defer
from duetime.core.task import Attempt, Promotion, Task, TaskError
from duetime.core.task_filter import TaskFilter
from duetime.core.times import DAY, HOUR, MINUTE, SECOND
from tests.contract.test_listing import flat, read_all
from tests.factories import NOW, WAKE_POLICY, a_draw, a_listing, a_spec, a_task, an_id

MIDNIGHT = NOW - NOW % DAY
SCHEDULE = "01M7HSBBM00000000000SCHED0"
PARENT = new_id(NOW - 9 * DAY, 1)  # it was removed
HTTP = {"type": "http", "url": "https://shop.example/"}
RESTOCK = {"type": "python", "handler": "shop.restock"}
REPORT = {"type": "python", "handler": "reports.daily"}
GROWTH, OPS = {"team": "growth", "tier": "1"}, {"team": "ops"}


def some_tasks() -> list[Task]:
    """One task for every few hours, whose other fields vary at different rates."""
    statuses = [s for s in Status if s is not Status.WAITING]
    return [_a_task(n, statuses[n % len(statuses)]) for n in range(48)]


def _a_task(n: int, status: Status) -> Task:
    spec = a_spec(
        target=(HTTP, RESTOCK, REPORT)[n % 3],
        run_at=NOW + n * 7 * MINUTE,
        namespace=("default", "shop")[n % 5 == 0],
        name=(None, "restock salt", "restock", "Restock", "100% _x")[n % 5],
        tags=({}, GROWTH, OPS, {"team:growth": ""})[n % 4],
        occurrence=_occurrence() if n % 6 == 1 else None,
        parent_id=PARENT if n % 6 == 2 else None,
        payload="x" * (3_000 if n % 7 == 0 else 10),
        priority=(Lane.MEDIUM, Lane.LOW, Lane.HIGH)[n % 11 % 3],
        pool="batch" if n % 4 == 1 else None,
        idempotency_key=f"order-{n % 3}" if n % 2 else None,
    )
    task = a_task(spec=spec, now=NOW - n * HOUR, id=new_id(NOW - n * HOUR, n))
    wake = None if status.finished else task.wake
    result = f'"{"r" * 400}"' if status is Status.SUCCEEDED else None
    return replace(
        task,
        status=status,
        wake=wake,
        result=result,
        promoted=Promotion(lane=Lane.HIGH, at=NOW) if n % 13 == 3 else None,
        current=_attempt(2, (None, TIMED_OUT, HTTP_503)[n % 5 % 3]) if n % 3 else None,
        previous=_attempt(1, (HTTP_503, None)[n % 2]) if n % 4 else None,
    )


def _attempt(number: int, error: TaskError | None) -> Attempt:
    return Attempt(number=number, started_at=NOW, drift_ms=3, error=error)


TIMED_OUT = TaskError(type="TimedOut", message='late: ,["Http503","x"]')
HTTP_503 = TaskError(type="Http503", message="50,000 tries", traceback="shop.py:12\nTimedOut")
IN_LOW, IN_BATCH = Queue(Lane.LOW), Queue(Lane.MEDIUM, "batch")


def _occurrence() -> Occurrence:
    return Occurrence(schedule_id=SCHEDULE, scheduled_for=NOW, version=1)


FILTERS: list[dict[str, Any]] = [
    {},
    {"namespace": None},
    {"namespace": "shop"},
    *({"statuses": frozenset({status})} for status in Status),
    {"statuses": frozenset({Status.PENDING, Status.RUNNING})},
    {"statuses": frozenset({Status.SUCCEEDED, Status.RETRYING}), "namespace": None},
    {"statuses": frozenset({Status.DEAD, Status.ENQUEUED}), "namespace": None},
    {"schedule_id": SCHEDULE},
    {"schedule_id": SCHEDULE, "namespace": None, "tags": ("team",)},
    {"parent_id": PARENT},
    {"parent_id": PARENT, "namespace": None, "tags": ("team",)},
    {"parent_id": PARENT, "schedule_id": SCHEDULE},
    {"tags": ("team",)},
    {"tags": ("team:growth",), "namespace": None},
    {"tags": ("team:ops",), "statuses": frozenset({Status.DEAD, Status.SUCCEEDED})},
    {"tags": ("team:growth", "tier"), "target": "http"},
    {"tags": ("nowhere",)},
    {"name": "restock"},
    {"name": "100% _"},
    {"handler": "shop.restock"},
    {"handler": "shop.restock", "tags": ("team",), "statuses": frozenset({Status.PENDING})},
    {"target": "http"},
    {"target": "python", "namespace": None},
    {"target": "sqs"},
    {"target": "http", "handler": "shop.restock"},
    {"created_since": NOW - 20 * HOUR},
    {"created_before": NOW - 20 * HOUR},
    {"created_since": MIDNIGHT - DAY, "created_before": MIDNIGHT},
    {"created_since": NOW - 30 * HOUR, "created_before": NOW - 3 * HOUR, "name": "restock"},
    {"before": NOW - 10 * HOUR, "namespace": None},
    {"queues": frozenset({IN_LOW})},
    {"queues": frozenset({IN_BATCH, Queue(Lane.HIGH)}), "namespace": None},
    {"queues": frozenset({Queue(Lane.HIGH, "batch")}), "handler": "reports.daily"},
    {"error_type": "TimedOut", "namespace": None},
    {"error_type": "Http503"},
    {"error_type": "Http", "namespace": None},
    {"with_key": "order-1", "namespace": None},
    {"with_key": "order-2", "queues": frozenset({IN_LOW, Queue(Lane.MEDIUM)})},
    {"due_since": NOW + HOUR, "due_before": NOW + 3 * HOUR},
    {"due_before": NOW + 2 * HOUR, "namespace": None},
]


# The rest are checked on SQLite, which has an index for most of them: tests/sqlite/test_listing.py.
SOME: list[dict[str, Any]] = [
    {"namespace": None},
    {"namespace": "shop"},
    {"statuses": frozenset({Status.DEAD, Status.ENQUEUED}), "tags": ("team",), "namespace": None},
    {"created_since": NOW - 30 * HOUR, "created_before": NOW - 3 * HOUR, "name": "restock"},
    {"before": NOW - 10 * HOUR, "handler": "shop.restock"},
    {"queues": frozenset({IN_LOW, IN_BATCH}), "namespace": None},
    {"error_type": "Http503", "due_since": NOW + HOUR, "namespace": None},
    {"with_key": "order-1", "due_before": NOW + 4 * HOUR, "namespace": None},
]


def newest_first(tasks: Sequence[Task]) -> list[Task]:
    return sorted(tasks, key=lambda task: (task.created_at // DAY, task.id), reverse=True)


def soonest_first(tasks: Sequence[Task]) -> list[Task]:
    return sorted(tasks, key=lambda task: (task.due_at, task.id))


@pytest.fixture(scope="module")
def tasks() -> list[Task]:
    return some_tasks()


def check_newest(store: TaskStore, tasks: Sequence[Task], wanted: dict[str, Any], limit: int):
    expected = newest_first([task for task in tasks if TaskFilter(**wanted).wants(task)])
    pages = read_all(store, limit=limit, **wanted)
    assert flat(pages) == expected, (wanted, limit)
    assert max(len(page) for page in pages) <= limit


def check_soonest(store: TaskStore, tasks: Sequence[Task], wanted: dict[str, Any], limit: int):
    due_from = NOW + 30 * MINUTE
    matching = [task for task in tasks if TaskFilter(**wanted).wants(task)]
    ahead = [t for t in matching if t.status in TO_START and t.due_at > due_from]
    pages = read_all(store, order=ListOrder.SOONEST, due_from=due_from, limit=limit, **wanted)
    assert flat(pages) == soonest_first(ahead), (wanted, limit)


def test_list_has_what_each_filter_wants(store: TaskStore, tasks: list[Task]):
    store.put(tasks)
    for wanted in SOME:
        check_newest(store, tasks, wanted, limit=7)
        check_soonest(store, tasks, wanted, limit=3)


def test_summary_has_no_result_and_is_otherwise_the_task(store: TaskStore, tasks: list[Task]):
    store.put(tasks)

    found = flat(read_all(store, namespace=None, summary=True))

    assert {t.result for t in found} == {None}
    assert found == newest_first([replace(task, result=None) for task in tasks])


def test_order_of_ids_within_a_day_does_not_depend_on_the_backend(store: TaskStore):
    """A backfilled run has an id from long ago, but is listed on the day of its creation."""
    backfilled = a_task(id=an_id(NOW - 300 * DAY), now=NOW - MINUTE)
    others = [a_task(now=NOW), a_task(now=NOW - HOUR), a_task(now=NOW - DAY)]
    store.put([backfilled, *others])

    assert flat(read_all(store, limit=2)) == [*others[:2], backfilled, others[2]]
    since = flat(read_all(store, created_since=NOW - 2 * MINUTE, limit=1))
    assert since == [others[0], backfilled]


def test_tasks_that_come_and_go_between_pages_do_not_disturb_a_list(store: TaskStore):
    tasks = [a_task(spec=a_spec(run_at=NOW + DAY), now=NOW - n * HOUR) for n in range(9)]
    store.put(tasks)
    pending = frozenset({Status.PENDING})
    first = store.page(a_listing(statuses=pending, limit=3))
    gone = [cancel(tasks[at], now=NOW) for at in (2, 5)]  # the last one seen, and one to come
    assert all(isinstance(answer, Applied) for answer in store.apply(gone))
    store.put([a_task(spec=a_spec(run_at=NOW + DAY), now=NOW + MINUTE)])

    rest = read_all(store, statuses=pending, limit=3, start=first.cursor)

    assert [*first.tasks, *flat(rest)] == [*tasks[:5], *tasks[6:]]


def test_cursor_of_another_filter_continues_at_its_place(store: TaskStore, tasks: list[Task]):
    store.put(tasks)
    first = store.page(a_listing(limit=5))
    last = first.tasks[-1]
    wanted = TaskFilter(tags=("team",), namespace=None)

    rest = flat(read_all(store, tags=("team",), namespace=None, limit=4, start=first.cursor))

    expected = newest_first([task for task in tasks if wanted.wants(task)])
    place = (last.created_at // DAY, last.id)
    assert rest == [t for t in expected if (t.created_at // DAY, t.id) < place]


def test_changed_tags_are_found_and_the_former_ones_are_not(store: TaskStore):
    task = a_task(spec=a_spec(tags=GROWTH, run_at=NOW + DAY))
    store.put([task])
    wanted = Deferral(spec=replace(task.spec, tags={"team": "ops", "tier": "1"}), due_at=NOW + DAY)

    [answer] = store.apply([defer(WAKE_POLICY, task, wanted, now=NOW, draw=a_draw())])

    assert isinstance(answer, Applied)
    found = {tag: flat(read_all(store, tags=(tag,))) for tag in ("team:growth", "team:ops", "tier")}
    assert found == {"team:growth": [], "team:ops": [answer.stored], "tier": [answer.stored]}


@pytest.mark.parametrize("order", list(ListOrder))
def test_cursor_of_another_order_is_refused(store: TaskStore, tasks: list[Task], order: ListOrder):
    store.put(tasks)
    [other] = set(ListOrder) - {order}
    cursor = store.page(a_listing(order=other, limit=1)).cursor
    assert cursor is not None

    with pytest.raises(ValueError, match="cursor"):
        store.page(a_listing(order=order, cursor=cursor))


def test_soonest_list_says_how_far_it_looked(store: TaskStore):
    tasks = [a_task(spec=a_spec(run_at=NOW + (n + 1) * HOUR), now=NOW) for n in range(3)]
    store.put(tasks)

    first = store.page(a_listing(order=ListOrder.SOONEST, due_from=NOW, limit=2))
    second = store.page(a_listing(order=ListOrder.SOONEST, cursor=first.cursor, limit=2))

    assert [*first.tasks, *second.tasks] == tasks
    assert (first.looked_from, first.looked_until) == (NOW, tasks[1].due_at)
    assert (second.looked_from, second.looked_until) == (tasks[1].due_at, None)


def test_soonest_list_has_tasks_that_were_sent_and_are_not_due_yet(store: TaskStore):
    """Their wakes are watches, after the due time."""
    sent = [a_task(spec=a_spec(run_at=NOW + n * 30 * SECOND), now=NOW) for n in range(1, 5)]
    late = a_task(spec=a_spec(run_at=NOW - HOUR), now=NOW - HOUR)
    ahead = a_task(spec=a_spec(run_at=NOW + HOUR), now=NOW)
    store.put([*sent, late, ahead])

    pages = read_all(store, order=ListOrder.SOONEST, due_from=NOW, limit=2)

    assert flat(pages) == [*sent, ahead]
