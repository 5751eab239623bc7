"""The target `dynamodb`: puts, updates or deletes one item.

Putting, deleting and setting twice is the same as once. Adding is not, so an update that adds goes
through a transaction with the task's id as its token: DynamoDB recognises a repetition for ten
minutes."""

from collections.abc import Mapping
from typing import Any

from duetime.core.arns import parse_arn
from duetime.core.service_calls import ServiceCall, ServiceCallFailed
from duetime.core.task import Task
from duetime.executor.targets.services import Adapter, Answer, bad_payload
from duetime.handlers.context import Context

CONDITION_FAILED = "ConditionalCheckFailedException"


def _call(task: Task, context: Context) -> ServiceCall:
    target, payload = task.spec.target, task.spec.payload
    table = parse_arn(target["table"])
    if not isinstance(payload, dict):
        raise bad_payload("must be an object")
    operation, parameters = _OPERATIONS[target["action"]](target, payload)
    parameters["TableName"] = target["table"]
    if payload.get("add"):
        operation = "transact_write_items"
        parameters = {
            "TransactItems": [{"Update": parameters}],
            "ClientRequestToken": context.idempotency_key,
        }
    return ServiceCall(
        service="dynamodb", operation=operation, parameters=parameters, region=table.region
    )


def _put(target: Mapping[str, Any], payload: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    parameters: dict[str, Any] = {"Item": _attributes(payload, "item")}
    if key := target.get("if_absent"):
        parameters["ConditionExpression"] = "attribute_not_exists(#key)"
        parameters["ExpressionAttributeNames"] = {"#key": key}
    return "put_item", parameters


def _delete(_: Mapping[str, Any], payload: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    return "delete_item", {"Key": _attributes(payload, "key")}


def _update(_: Mapping[str, Any], payload: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    names: dict[str, str] = {}
    values: dict[str, Any] = {}
    clauses = []
    for verb, form in (("set", "{} = {}"), ("add", "{} {}")):
        parts = []
        for attribute, given in (payload.get(verb) or {}).items():
            name, value = f"#n{len(names)}", f":v{len(values)}"
            names[name], values[value] = attribute, to_attribute(given)
            parts.append(form.format(name, value))
        if parts:
            clauses.append(f"{verb.upper()} {', '.join(parts)}")
    removed = [f"#r{n}" for n, _ in enumerate(payload.get("remove") or ())]
    if removed:
        names.update(zip(removed, payload["remove"], strict=True))
        clauses.append(f"REMOVE {', '.join(removed)}")
    parameters: dict[str, Any] = {"Key": _attributes(payload, "key")}
    if clauses:
        parameters |= {"UpdateExpression": " ".join(clauses), "ExpressionAttributeNames": names}
    if values:
        parameters["ExpressionAttributeValues"] = values
    return "update_item", parameters


_OPERATIONS = {"put": _put, "update": _update, "delete": _delete}


def _attributes(payload: Mapping[str, Any], field: str) -> dict[str, Any]:
    given = payload.get(field)
    if not isinstance(given, dict) or not given:
        raise bad_payload(f"{field} must be an object with at least one attribute")
    return {name: to_attribute(value) for name, value in given.items()}


def to_attribute(value: Any) -> dict[str, Any]:
    """Returns a JSON value as DynamoDB stores it. An array becomes a list, never a set."""
    match value:
        case None:
            return {"NULL": True}
        case bool():
            return {"BOOL": value}
        case int() | float():
            return {"N": repr(value)}
        case str():
            return {"S": value}
        case list():
            return {"L": [to_attribute(inner) for inner in value]}
    return {"M": {name: to_attribute(inner) for name, inner in value.items()}}


def _written(_task: Task, _answer: Answer) -> dict[str, Any]:
    return {"written": True}


def _already_there(task: Task, error: ServiceCallFailed) -> dict[str, Any] | None:
    """The item that `if_absent` asks for may be the one that an earlier attempt put."""
    absent = task.spec.target.get("if_absent")
    return {"written": False} if absent and error.code == CONDITION_FAILED else None


DYNAMODB = Adapter(call=_call, result=_written, accept=_already_there)
