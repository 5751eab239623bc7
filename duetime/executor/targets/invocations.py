"""The targets `lambda` and `stepfunctions`: they start a function or a state machine."""

import json
from base64 import b64encode
from typing import Any

from duetime.core.arns import parse_arn
from duetime.core.codec import to_json
from duetime.core.results import DEPTH_LIMIT, is_deeper
from duetime.core.service_calls import ServiceCall, ServiceCallFailed
from duetime.core.task import Task
from duetime.executor.targets import TargetFailed
from duetime.executor.targets.services import Adapter, Answer
from duetime.handlers.context import Context

LONGEST_INVOCATION = 900  # seconds that a function may run
KEPT_ANSWER = 60_000  # bytes of a function's answer that are kept whole
CUT_ANSWER = 10_000  # characters that are kept of a longer one


def _invoke(task: Task, context: Context) -> ServiceCall:
    target = task.spec.target
    sync = target.get("invocation", "sync") == "sync"
    parameters: dict[str, Any] = {
        "FunctionName": target["function"],
        "InvocationType": "RequestResponse" if sync else "Event",
        "Payload": to_json(_event(task, context)).encode(),
    }
    if sync:  # Lambda passes it to the function in a synchronous invocation only
        parameters["ClientContext"] = _client_context(context)
    return ServiceCall(
        service="lambda",
        operation="invoke",
        parameters=parameters,
        region=parse_arn(target["function"]).region,
        longest=LONGEST_INVOCATION if sync else 10,
        repeatable=not sync,
    )


def _event(task: Task, context: Context) -> Any:
    payload = task.spec.payload
    if not task.spec.target.get("envelope"):
        return payload
    return {"task_id": context.idempotency_key, "attempt": context.attempt, "payload": payload}


def _client_context(context: Context) -> str:
    ours = {"task_id": context.idempotency_key, "attempt": context.attempt}
    return b64encode(to_json({"custom": {"duetime": ours}}).encode()).decode()


def _function_result(_: Task, answer: Answer) -> dict[str, Any]:
    status = answer["StatusCode"]
    if status == 202:
        return {"status": status}
    text = answer["Payload"].read().decode(errors="replace")
    if answer.get("FunctionError"):
        raise _function_failed(text)
    return {"status": status, "body": _readable(text)}


def _function_failed(text: str) -> TargetFailed:
    """A function that failed is retried, like a handler that raised."""
    error = _readable(text)
    if not isinstance(error, dict):
        return TargetFailed("FunctionError", text[:1_000])
    kind, message = error.get("errorType"), error.get("errorMessage")
    return TargetFailed(str(kind or "FunctionError")[:256], str(message or text)[:1_000])


def _readable(text: str) -> Any:
    """Decodes JSON that can be stored, else returns text."""
    if len(text.encode()) > KEPT_ANSWER:
        return text[:CUT_ANSWER]
    if is_deeper(text, DEPTH_LIMIT - 1):  # the result around it adds a level
        return text[:CUT_ANSWER]
    try:
        value = json.loads(text)
        to_json(value).encode()
    except ValueError:
        return text[:CUT_ANSWER]
    return value


def _start_execution(task: Task, context: Context) -> ServiceCall:
    target = task.spec.target
    payload = {} if task.spec.payload is None else task.spec.payload
    parameters = {
        "stateMachineArn": target["state_machine"],
        "name": context.idempotency_key,
        "input": to_json(payload),
    }
    return ServiceCall(
        service="stepfunctions",
        operation="start_execution",
        parameters=parameters,
        region=parse_arn(target["state_machine"]).region,
    )


def _execution_result(_: Task, answer: Answer) -> dict[str, Any]:
    return {"execution": answer["executionArn"]}


def _already_started(task: Task, error: ServiceCallFailed) -> dict[str, Any] | None:
    """An earlier attempt started the execution, and it has ended since."""
    if error.code != "ExecutionAlreadyExists":
        return None
    machine = parse_arn(task.spec.target["state_machine"])
    name = machine.name.partition(":")[0]  # without a version or an alias
    place = f"arn:{machine.partition}:states:{machine.region}:{machine.account}"
    return {"execution": f"{place}:execution:{name}:{task.id}"}


LAMBDA = Adapter(call=_invoke, result=_function_result)
STEPFUNCTIONS = Adapter(call=_start_execution, result=_execution_result, accept=_already_started)
