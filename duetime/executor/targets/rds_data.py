"""The target `sql` on AWS: one statement through the RDS Data API, which commits it by itself."""

import re
from collections.abc import Mapping
from typing import Any

from duetime.core.codec import to_json
from duetime.core.service_calls import ServiceCall, ServiceCallFailed
from duetime.core.task import Task
from duetime.executor.targets import TargetFailed
from duetime.executor.targets.services import Adapter, Answer
from duetime.executor.targets.sql import Outcome, result_of, statement_of
from duetime.handlers.context import Context

LONGEST_STATEMENT = 60  # seconds; the Data API itself ends a statement after 45
_SQLSTATE = re.compile(r"SQLState: (\w{5})")


def rds_adapter(databases: Mapping[str, Mapping[str, str]]) -> Adapter:
    """`databases` has `cluster`, `secret` and `database` for each name."""

    def call(task: Task, _: Context) -> ServiceCall:
        name = task.spec.target["database"]
        if name not in databases:
            raise TargetFailed("UnknownDatabase", f"no database is configured as {name!r} here")
        statement, database = statement_of(task), databases[name]
        parameters = {
            "resourceArn": database["cluster"],
            "secretArn": database["secret"],
            "database": database["database"],
            "sql": statement.text,
            "parameters": [_parameter(name, value) for name, value in statement.values.items()],
            "includeResultMetadata": True,
        }
        return ServiceCall(
            service="rds-data",
            operation="execute_statement",
            parameters=parameters,
            region=database["cluster"].split(":")[3],
            longest=LONGEST_STATEMENT,
            repeatable=False,
        )

    return Adapter(call=call, result=_result, accept=_sorted)


def _parameter(name: str, value: Any) -> dict[str, Any]:
    field: dict[str, Any]
    match value:
        case None:
            field = {"isNull": True}
        case bool():
            field = {"booleanValue": value}
        case int():
            field = {"longValue": value}
        case float():
            field = {"doubleValue": value}
        case _:
            field = {"stringValue": value}
    return {"name": name, "value": field}


def _result(_: Task, answer: Answer) -> dict[str, Any]:
    columns = [column.get("label") or column["name"] for column in answer.get("columnMetadata", ())]
    rows = ([_value(field) for field in record] for record in answer.get("records", ()))
    changed = answer.get("numberOfRecordsUpdated", 0)
    return result_of(Outcome(columns=columns, rows=rows, changed=changed))


def _value(field: Mapping[str, Any]) -> Any:
    [(kind, value)] = field.items()
    if kind == "isNull":
        return None
    return to_json(value) if kind == "arrayValue" else value


def _sorted(_: Task, error: ServiceCallFailed) -> None:
    """Raises for a conflict of transactions: the Data API reports it as a bad request."""
    state = _SQLSTATE.search(str(error))
    if state and state[1].startswith(("08", "40", "53", "57")):
        raise TargetFailed(error.code, str(error)[:1_000]) from error
