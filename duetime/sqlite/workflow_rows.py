"""Definitions, workflows and their versions as rows."""

from collections.abc import Sequence
from sqlite3 import Connection
from typing import Any

from duetime.core.change import Applied, Refused
from duetime.core.codec import to_json
from duetime.core.packing import FAST, pack, unpack
from duetime.core.retention import RENEWED_AFTER
from duetime.core.times import Millis
from duetime.core.workflows.definition import Workflow
from duetime.core.workflows.list_positions import WorkflowPlace
from duetime.core.workflows.ports import WorkflowAnswer

COLUMNS = "namespace, name, version, digest, created_at, updated_at, revision, deleted"


def put_definition(
    connection: Connection, digest: str, text: str, needed_until: Millis | None
) -> None:
    connection.execute(
        "INSERT INTO definitions VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET needed_until ="
        " CASE WHEN excluded.needed_until > needed_until THEN excluded.needed_until END"
        " WHERE needed_until < ifnull(excluded.needed_until, needed_until + 1)",
        (digest, pack(text, FAST), needed_until),
    )


def is_kept(connection: Connection, digest: str, needed_until: Millis | None) -> bool:
    """Whether a definition is stored, and is kept long enough."""
    return bool(
        connection.execute(
            "SELECT 1 FROM definitions WHERE digest = ?"
            " AND (needed_until IS NULL OR needed_until + ? >= ?)",
            (digest, RENEWED_AFTER, needed_until),
        ).fetchone()
    )


def remove_definitions(connection: Connection, before: Millis) -> None:
    connection.execute("DELETE FROM definitions WHERE needed_until < ?", (before,))


def read_definitions(connection: Connection, digests: Sequence[str]) -> dict[str, str]:
    rows = connection.execute(
        "SELECT digest, definition FROM definitions"
        " WHERE digest IN (SELECT value FROM json_each(?))",
        (to_json(digests),),
    ).fetchall()
    return {digest: unpack(text) for digest, text in rows}


def put_workflow(connection: Connection, workflow: Workflow) -> WorkflowAnswer:
    stored = read_workflow(connection, workflow.namespace, workflow.name)
    if stored == workflow:
        return Applied(workflow)
    if workflow.revision != (stored.revision if stored else 0) + 1:
        return Refused(stored)
    connection.execute(
        f"INSERT OR REPLACE INTO workflows ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        _row(workflow),
    )
    connection.execute(
        "INSERT OR REPLACE INTO workflow_versions VALUES (?, ?, ?, ?)",
        (workflow.namespace, workflow.name, workflow.version, workflow.digest),
    )
    return Applied(workflow)


def read_workflow(connection: Connection, namespace: str, name: str) -> Workflow | None:
    row = connection.execute(
        f"SELECT {COLUMNS} FROM workflows WHERE namespace = ? AND name = ?", (namespace, name)
    ).fetchone()
    return _workflow(row) if row else None


def read_digest(connection: Connection, namespace: str, name: str, version: int) -> str | None:
    row = connection.execute(
        "SELECT digest FROM workflow_versions WHERE namespace = ? AND name = ? AND version = ?",
        (namespace, name, version),
    ).fetchone()
    return row[0] if row else None


def read_workflows(
    connection: Connection, namespace: str | None, above: WorkflowPlace, limit: int
) -> list[Workflow]:
    """Returns the first workflows of a namespace, or of all, past a place."""
    within = "" if namespace is None else "AND namespace = ?"
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM workflows WHERE (namespace, name) > (?, ?) {within} AND NOT deleted"
        " ORDER BY namespace, name LIMIT ?",
        (*above, *([] if namespace is None else [namespace]), limit),
    ).fetchall()
    return [_workflow(row) for row in rows]


def _row(of: Workflow) -> tuple[Any, ...]:
    named = (of.namespace, of.name, of.version, of.digest)
    return (*named, of.created_at, of.updated_at, of.revision, int(of.deleted))


def _workflow(row: Sequence[Any]) -> Workflow:
    namespace, name, version, digest, created_at, updated_at, revision, deleted = row
    return Workflow(
        namespace=namespace,
        name=name,
        version=version,
        digest=digest,
        created_at=created_at,
        updated_at=updated_at,
        revision=revision,
        deleted=bool(deleted),
    )
