"""Calls about workflows."""

from collections.abc import Mapping, Sequence
from typing import Any

from duetime.client.calls import Call, ask, items
from duetime.client.requests import WORKFLOWS, workflow_path
from duetime.client.workflow_types import Checked, Workflow, WorkflowPage


def put(
    name: str, steps: Sequence[Any], fields: Mapping[str, Any], namespace: str | None
) -> Call[Workflow]:
    return _put(name, steps, fields, {"namespace": namespace})


def check(
    name: str, steps: Sequence[Any], fields: Mapping[str, Any], namespace: str | None
) -> Call[Checked]:
    return _put(name, steps, fields, {"namespace": namespace, "dry_run": "true"})


def _put(
    name: str, steps: Sequence[Any], fields: Mapping[str, Any], query: Mapping[str, Any]
) -> Call[Any]:
    return ask("PUT", workflow_path(name), query=query, body={"steps": list(steps), **fields})


def get(name: str, *, version: int | None, namespace: str | None) -> Call[Workflow]:
    return ask("GET", workflow_path(name), query={"namespace": namespace, "version": version})


def page(*, namespace: str | None, limit: int | None, cursor: str | None) -> Call[WorkflowPage]:
    return ask("GET", WORKFLOWS, query={"namespace": namespace, "limit": limit, "cursor": cursor})


def every(*, namespace: str | None) -> Call[None]:
    return items(WORKFLOWS, {"namespace": namespace})


def delete(name: str, *, namespace: str | None) -> Call[None]:
    return ask("DELETE", workflow_path(name), query={"namespace": namespace})
