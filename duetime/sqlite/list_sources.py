"""The indexes along which a list of tasks can be read, and the conditions of its filter."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any

from duetime.core.codec import to_json
from duetime.core.lanes import Lane, Queue
from duetime.core.lifecycle import TO_START, Status
from duetime.core.listings import ListOrder
from duetime.core.task_filter import TaskFilter
from duetime.core.value import value

# Statuses that share a partial index. Most stored tasks have SUCCEEDED, which has none: the list
# itself is its index. The keys do not contain the status, so they do not move within a group.
STATUS_GROUPS: Mapping[str, tuple[Status, ...]] = {
    "pending": (Status.PENDING,),
    "under_way": (Status.ENQUEUED, Status.RUNNING, Status.RETRYING, Status.WAITING),
    "unsuccessful": (Status.DEAD, Status.CANCELLED, Status.EXPIRED),
}

TAGGED = (
    "EXISTS (SELECT 1 FROM tags AS g WHERE g.namespace = t.namespace AND g.tag = ?"
    " AND g.day = t.day AND g.id = t.id)"
)
# What has no column is read from the spec, whose text leaves out defaults. The store checks a task
# whose spec is in another row, since it is long, once it has been read.
IN_SPEC = "CASE WHEN json_valid(t.spec) THEN {} ELSE 1 END"
PRIORITY = f"coalesce(json_extract(t.spec, '$.priority'), '{Lane.MEDIUM.value}')"
LANE = f"iif(t.promoted IS NULL, {PRIORITY}, substr(t.promoted, 1, instr(t.promoted, ',') - 1))"
# The text of an attempt ends with a comma if it has no error: see duetime.core.codec.
LAST_FAILURE = "iif(t.current IS NULL OR t.current LIKE '%,', t.previous, t.current)"


@value(frozen=True, kw_only=True, slots=True)
class Condition:
    """One condition of a filter, in SQL about the task `t`."""

    name: str
    sql: str
    values: tuple[Any, ...] = ()


@value(frozen=True, kw_only=True, slots=True)
class Arm:
    """A range of one index, in the order of the list. A row of `tags` has only a task's key."""

    index: str | None  # of tasks; None: the table `tags`
    where: str
    values: tuple[Any, ...]


@value(frozen=True, kw_only=True, slots=True)
class Source:
    """Arms that have every wanted task once, and the conditions that their rows meet."""

    arms: Sequence[Arm]
    covers: frozenset[str] = field(default_factory=frozenset)


def conditions_of(wanted: TaskFilter) -> list[Condition]:
    """Returns the conditions of a filter; the one on the namespace is part of every arm."""
    found = [Condition(name=f"tag {tag}", sql=TAGGED, values=(tag,)) for tag in wanted.tags]

    def add(name: str, sql: str, *values: Any) -> None:
        found.append(Condition(name=name, sql=sql, values=values))

    for name, sql, given in (
        ("schedule", "t.schedule_id = ?", wanted.schedule_id),
        ("parent", "t.parent_id = ?", wanted.parent_id),
        ("since", "t.created_at >= ?", wanted.created_since),
        ("before", "t.created_at < ?", wanted.created_before),
        ("below", "t.id < ?", wanted.below),
        ("due since", "t.due_at >= ?", wanted.due_since),
        ("due before", "t.due_at < ?", wanted.due_before),
        ("key", IN_SPEC.format("json_extract(t.spec, '$.idempotency_key') IS ?"), wanted.with_key),
    ):
        if given is not None:
            add(name, sql, given)
    if wanted.statuses:
        add("status", f"t.status IN ({_listed(sorted(wanted.statuses))})")
    if wanted.name is not None:
        add("name", "substr(t.name, 1, ?) = ?", len(wanted.name), wanted.name)
    if wanted.handler is not None:
        add("handler", "t.target = ?", f"python:{wanted.handler}")
    if wanted.target == "python":
        add("target", "t.target GLOB 'python:*'")
    elif wanted.target is not None:
        add("target", "t.target = ?", wanted.target)
    if wanted.error_type is not None:
        where = f"t.status != 'SUCCEEDED' AND instr({LAST_FAILURE}, ?) > 0"
        add("error", where, f",[{to_json(wanted.error_type)},")
    if wanted.queues:
        add("lane", *_in_queues(wanted.queues))
    return found


def _in_queues(queues: Iterable[Queue]) -> tuple[str, *tuple[str | None, ...]]:
    one = f"({LANE} = ? AND json_extract(t.spec, '$.pool') IS ?)"
    given = sorted(queues, key=str)
    values = [text for queue in given for text in (queue.lane.value, queue.pool)]
    return IN_SPEC.format(f"({' OR '.join([one] * len(given))})"), *values


def sources_of(wanted: TaskFilter, order: ListOrder, namespaces: Sequence[str]) -> Sequence[Source]:
    """Returns the sources of a list, at least one."""
    if order is ListOrder.SOONEST:
        where = f"t.namespace = ? AND t.status IN ({_listed(TO_START)})"
        return [_per_namespace(namespaces, "soonest", where)]
    found = [
        *_by_origin(wanted, "schedule", "occurrences", "t.schedule_id = ?", wanted.schedule_id),
        *_by_origin(wanted, "parent", "children", "t.parent_id = ?", wanted.parent_id),
        *_by_tags(wanted, namespaces),
        *_by_target(wanted, namespaces),
        *_by_status(wanted, namespaces),
    ]
    return found or [_per_namespace(namespaces, "listing", "t.namespace = ?")]


def _by_origin(
    wanted: TaskFilter, name: str, index: str, condition: str, origin: str | None
) -> list[Source]:
    """The runs of a schedule, or the children of a task, in an index that has all namespaces."""
    if origin is None:
        return []
    where, values = [condition], [origin]
    if wanted.namespace is not None:
        where.append("t.namespace = ?")
        values.append(wanted.namespace)
    arm = Arm(index=index, where=" AND ".join(where), values=tuple(values))
    return [Source(arms=[arm], covers=frozenset({name}))]


def _by_tags(wanted: TaskFilter, namespaces: Sequence[str]) -> list[Source]:
    where = "g.namespace = ? AND g.tag = ?"
    return [
        Source(
            arms=[Arm(index=None, where=where, values=(name, tag)) for name in namespaces],
            covers=frozenset({f"tag {tag}"}),
        )
        for tag in wanted.tags
    ]


def _by_target(wanted: TaskFilter, namespaces: Sequence[str]) -> list[Source]:
    where = "t.namespace = ? AND t.target = ?"
    if wanted.handler is not None:
        target = f"python:{wanted.handler}"
        return [_per_namespace(namespaces, "targets", where, target, covers={"handler"})]
    if wanted.target is not None and wanted.target != "python":
        return [_per_namespace(namespaces, "targets", where, wanted.target, covers={"target"})]
    return []


def _by_status(wanted: TaskFilter, namespaces: Sequence[str]) -> list[Source]:
    if not wanted.statuses or Status.SUCCEEDED in wanted.statuses:
        return []
    groups = {name: set(group) for name, group in STATUS_GROUPS.items()}
    used = [name for name, group in groups.items() if group & wanted.statuses]
    parts = [
        _per_namespace(
            namespaces, name, f"t.namespace = ? AND t.status {_is_in(STATUS_GROUPS[name])}"
        )
        for name in used
    ]
    exact = all(groups[name] <= wanted.statuses for name in used)
    arms = [arm for part in parts for arm in part.arms]
    return [Source(arms=arms, covers=frozenset({"status"}) if exact else frozenset())]


def _per_namespace(
    namespaces: Sequence[str], index: str, where: str, *values: str, covers: set[str] | None = None
) -> Source:
    arms = [Arm(index=index, where=where, values=(name, *values)) for name in namespaces]
    return Source(arms=arms, covers=frozenset(covers or ()))


def _is_in(statuses: Sequence[Status]) -> str:
    """Returns the condition of a partial index as the schema writes it, so that SQLite can use the
    index."""
    return f"= {_listed(statuses)}" if len(statuses) == 1 else f"IN ({_listed(statuses)})"


def _listed(statuses: Sequence[Status]) -> str:
    return ", ".join(f"'{status.value}'" for status in statuses)
