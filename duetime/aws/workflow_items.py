"""Workflows as DynamoDB items, the row of each version, and definitions."""

from typing import Any

from duetime.aws import schema
from duetime.aws.overflow import text_row
from duetime.aws.table import KEY_IS_FREE, Table
from duetime.aws.task_items import Item
from duetime.core.retention import DEFINITION_EXTRA, RENEWED_AFTER
from duetime.core.times import SECOND, Millis
from duetime.core.workflows.definition import Workflow

TOO_SHORT = f"{KEY_IS_FREE} OR {schema.REMOVE_AFTER} < :enough"


def put_definition(
    table: Table, digest: str, text: str, needed_until: Millis | None, retention: Millis
) -> Millis | None:
    """Puts a definition, or renews it. One that is kept for good, or long enough, is left alone.
    Returns until when runs may need it before it must be renewed; None: for good."""
    row = text_row(schema.definition_pk(digest), schema.DEFINITION, text)
    if needed_until is None:
        table.put(row)
        return None
    extra = retention + DEFINITION_EXTRA
    until = (needed_until + extra) // SECOND
    enough = {":enough": {"N": str(until - RENEWED_AFTER // SECOND)}}
    row[schema.REMOVE_AFTER] = {"N": str(until)}
    stored, _ = table.put_if(row, TOO_SHORT, enough)
    kept = (stored or row).get(schema.REMOVE_AFTER)
    return None if kept is None else int(kept["N"]) * SECOND - extra + RENEWED_AFTER


def workflow_item(workflow: Workflow) -> dict[str, dict[str, Any]]:
    """A deleted workflow has no listing bucket, so no list finds it."""
    item: dict[str, dict[str, Any]] = {
        schema.PK: {"S": schema.workflow_pk(workflow.namespace, workflow.name)},
        schema.SK: {"S": schema.WORKFLOW},
        schema.VERSION: {"N": str(workflow.version)},
        schema.DIGEST: {"S": workflow.digest},
        schema.CREATED_AT: {"N": str(workflow.created_at)},
        schema.UPDATED_AT: {"N": str(workflow.updated_at)},
        schema.REVISION: {"N": str(workflow.revision)},
    }
    if workflow.deleted:
        return item | {schema.DELETED: {"BOOL": True}}
    return item | {schema.LISTING_BUCKET: {"S": workflow_bucket(workflow.namespace)}}


def version_item(workflow: Workflow) -> dict[str, dict[str, Any]]:
    return {
        schema.PK: {"S": schema.workflow_pk(workflow.namespace, workflow.name)},
        schema.SK: {"S": schema.version_sk(workflow.version)},
        schema.DIGEST: {"S": workflow.digest},
    }


def workflow_bucket(namespace: str) -> str:
    """One bucket for all workflows of a namespace: few are created."""
    return f"{namespace}#workflows"


def decode_workflow(item: Item) -> Workflow:
    _, namespace, name = item[schema.PK]["S"].split("#", 2)
    return Workflow(
        namespace=namespace,
        name=name,
        version=int(item[schema.VERSION]["N"]),
        digest=item[schema.DIGEST]["S"],
        created_at=int(item[schema.CREATED_AT]["N"]),
        updated_at=int(item[schema.UPDATED_AT]["N"]),
        revision=int(item[schema.REVISION]["N"]),
        deleted=schema.DELETED in item,
    )
