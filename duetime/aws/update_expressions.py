"""Changes (see core.change) as the parameters of one conditional UpdateItem."""

from collections.abc import Sequence
from typing import Any

from duetime.aws import schema
from duetime.aws.dead_letters import death_attributes
from duetime.aws.related_rows import removal_clause
from duetime.aws.task_items import Attributes, encode_fields, suspension_value
from duetime.core.change import Change, Expect
from duetime.core.lifecycle import Status, Step
from duetime.core.times import Millis
from duetime.core.value import value

NO_STATUS = "NONE"  # no item has it: a change that expects no status is refused


@value(frozen=True, kw_only=True, slots=True)
class Update:
    parameters: dict[str, Any]
    overflow: dict[str, str]  # the long texts, stored before the update


def update(change: Change, shards: int, retention: Millis) -> Update:
    attributes, overflow = encode_fields(change.sets)
    attributes |= _death(change, shards)
    if "spec" in change.sets:
        attributes[schema.REPLACED] = {"BOOL": True}
    condition, values = _condition(change.expect)
    computed: list[str] = []
    if _ends_for_good(change):
        clause, spans = removal_clause(change.sets["updated_at"], retention)
        computed.append(clause)
        values |= spans
    if change.keeps_attempt:  # DynamoDB reads the right side before it writes
        computed.append(f"{schema.PREVIOUS} = {schema.CURRENT}")
    expression, written = assignments(attributes, computed)
    parameters = {
        "Key": {schema.PK: {"S": schema.task_pk(change.task_id)}, schema.SK: {"S": schema.TASK}},
        "ConditionExpression": condition,
        "UpdateExpression": expression,
        "ExpressionAttributeValues": values | written,
    }
    return Update(parameters=parameters, overflow=overflow)


def assignments(attributes: Attributes, computed: Sequence[str] = ()) -> tuple[str, dict[str, Any]]:
    """Returns an expression that sets or removes these attributes, and its values."""
    present = {name: value for name, value in attributes.items() if value is not None}
    sets = [f"{name} = :{name}" for name in present]
    removes = [name for name in attributes if name not in present]
    expression = _clause("SET", [*sets, *computed]) + _clause("REMOVE", removes)
    return expression, {f":{name}": value for name, value in present.items()}


def _death(change: Change, shards: int) -> Attributes:
    """Bury adds a task to the index of dead tasks; revive and discard remove it."""
    match change.step:
        case Step.BURY:
            return {**death_attributes(change.task_id, change.sets["updated_at"], shards)}
        case Step.REVIVE | Step.DISCARD:
            return {schema.DEAD_BUCKET: None, schema.DEATH: None}
    return {}


def _ends_for_good(change: Change) -> bool:
    status = change.sets.get("status")
    return status is not None and status.final


def _condition(expect: Expect) -> tuple[str, dict[str, Any]]:
    values: dict[str, Any] = {}
    terms: list[str] = []

    def equal(name: str, value: dict[str, str]) -> None:
        terms.append(f"{name} = :is_{name}")
        values[f":is_{name}"] = value

    if expect.statuses is not None:
        terms.append(_one_of(expect.statuses, values))
    if expect.token is not None:
        equal(schema.TOKEN, {"S": expect.token})
    if expect.wake is not None:
        equal(schema.WAKE_BUCKET, {"S": expect.wake.bucket})
        equal(schema.WAKE_KEY, {"S": expect.wake.key})
    if expect.holder is not None:
        equal(schema.HOLDER, {"S": expect.holder})
    if expect.attempt is not None:
        equal(schema.ATTEMPT, {"N": str(expect.attempt)})
    if expect.lease_until is not None:
        equal(schema.LEASE_UNTIL, {"N": str(expect.lease_until)})
    if expect.suspended is not None:
        equal(schema.SUSPENDED, suspension_value(expect.suspended))
    if expect.unexpired_at is not None:
        terms.append(_unexpired(expect.unexpired_at, values))
    return " AND ".join(terms), values


def _one_of(statuses: frozenset[Status], values: dict[str, Any]) -> str:
    names = []
    for number, status in enumerate(sorted(statuses) or [NO_STATUS]):
        names.append(f":in_{number}")
        values[names[-1]] = {"S": str(status)}
    return f"{schema.STATUS} IN ({', '.join(names)})"


def _unexpired(now: int, values: dict[str, Any]) -> str:
    """The task has started once, or has not expired: it can expire only before its first start."""
    values |= {":now": {"N": str(now)}, ":none": {"N": "0"}}
    expires_at = schema.EXPIRES_AT
    return (
        f"({schema.ATTEMPT} > :none OR attribute_not_exists({expires_at}) OR {expires_at} > :now)"
    )


def _clause(verb: str, parts: Sequence[str]) -> str:
    return f"{verb} {', '.join(parts)} " if parts else ""
