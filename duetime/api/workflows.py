"""/v1/workflows: named definitions, in versions."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from duetime.api.capabilities import Capabilities
from duetime.api.http import (
    CONTENTION,
    FieldError,
    Request,
    Response,
    Router,
    invalid,
    not_found,
    unavailable,
)
from duetime.api.paging import list_response, refusing_bad_cursors
from duetime.api.query import Query
from duetime.api.workflow_models import read_definition
from duetime.api.workflow_views import definition_view, workflow_json
from duetime.core.change import Applied, Unknown
from duetime.core.ports import Ports
from duetime.core.value import value
from duetime.core.workflows.codec import digest_of, encode_definition
from duetime.core.workflows.definition import Definition, Workflow
from duetime.core.workflows.names import WORKFLOW_NAME_RULE, is_workflow_name
from duetime.core.workflows.ports import RunStore
from duetime.core.workflows.validation import levels
from duetime.engine.workflows.definition_check import definition_errors
from duetime.engine.workflows.definitions import definitions_by_digest, run_store

WRITE_TRIES = 5  # each lost to another change of the same workflow


@value(frozen=True, slots=True)
class Workflows:
    ports: Ports
    capabilities: Capabilities

    def add_to(self, router: Router) -> None:
        router.add("GET", "/v1/workflows", self.page)
        router.add("PUT", "/v1/workflows/{name}", self.put)
        router.add("GET", "/v1/workflows/{name}", self.get)
        router.add("DELETE", "/v1/workflows/{name}", self.delete)

    def put(self, request: Request, parameters: Mapping[str, str]) -> Response:
        """Makes the next version, unless the definition is that of the current one."""
        query = Query(request)
        namespace = query.word("namespace", "default")
        dry_run = query.flag("dry_run", default=False)
        query.done()
        name = _name(parameters)
        definition = self._read(namespace, name, request.json())
        if dry_run:
            return Response(status=200, body={"order": levels(definition)})
        text = encode_definition(definition)
        self._store.put_definition(digest_of(text), text)  # before the version that names it
        return self._put_version(namespace, name, digest_of(text), definition)

    def get(self, request: Request, parameters: Mapping[str, str]) -> Response:
        query = Query(request)
        namespace = query.word("namespace", "default")
        version = _version(query)
        query.done()
        workflow = self._find(namespace, parameters)
        if version is not None and version != workflow.version:
            digest = self._store.version_digest(namespace, workflow.name, version)
            if digest is None:
                raise not_found(f"version {version} of workflow {workflow.name!r}")
            workflow = replace(workflow, version=version, digest=digest)
        definition = definitions_by_digest(self.ports, [workflow.digest]).get(workflow.digest)
        if definition is None:
            raise not_found(f"definition of version {workflow.version} of {workflow.name!r}")
        return Response(status=200, body=_json(workflow, definition))

    def page(self, request: Request, _: Mapping[str, str]) -> Response:
        query = Query(request)
        namespace, limit, cursor = query.namespace_or_all(), query.limit(), query.text("cursor")
        query.done()
        with refusing_bad_cursors():
            page = self._store.workflows(namespace, limit, cursor)
        definitions = definitions_by_digest(self.ports, {w.digest for w in page.workflows})
        items = [workflow_json(found, definitions.get(found.digest)) for found in page.workflows]
        return list_response(items, page.cursor)

    def delete(self, request: Request, parameters: Mapping[str, str]) -> Response:
        """Runs under way keep their definition. The row stays, so that versions go on counting if
        the workflow is put again."""
        query = Query(request)
        namespace = query.word("namespace", "default")
        query.done()
        for _ in range(WRITE_TRIES):
            workflow = self._find(namespace, parameters)
            if self._write(_changed(workflow, self.ports, deleted=True)) is not None:
                return Response(status=204, headers={})
        raise unavailable(CONTENTION)

    @property
    def _store(self) -> RunStore:
        return run_store(self.ports)

    def _read(self, namespace: str, name: str, body: Any) -> Definition:
        can = self.capabilities
        definition = read_definition(
            body, can.time_limits, can.target_errors, can.step_with_defaults
        )
        if errors := definition_errors(self.ports, namespace, definition, name):
            raise invalid(errors)
        return definition

    def _put_version(
        self, namespace: str, name: str, digest: str, definition: Definition
    ) -> Response:
        """Another PUT of the same workflow may win the race: then the version is counted again from
        what that one has left."""
        for _ in range(WRITE_TRIES):
            before = self._store.workflow(namespace, name)
            exists = before is not None and not before.deleted
            if before is not None and exists and before.digest == digest:
                return Response(status=200, body=_json(before, definition))
            stored = self._write(self._next(before, namespace, name, digest))
            if stored is not None:
                return _put_response(stored, definition, created=not exists)
        raise unavailable(CONTENTION)

    def _next(self, before: Workflow | None, namespace: str, name: str, digest: str) -> Workflow:
        now = self.ports.clock.now()
        if before is None:
            return Workflow(
                namespace=namespace,
                name=name,
                version=1,
                digest=digest,
                created_at=now,
                updated_at=now,
                revision=1,
            )
        created_at = now if before.deleted else before.created_at
        fields = {"version": before.version + 1, "digest": digest, "created_at": created_at}
        return _changed(before, self.ports, deleted=False, **fields)

    def _write(self, workflow: Workflow) -> Workflow | None:
        """Returns None if another writer has won."""
        answer = self._store.put_workflow(workflow)
        if isinstance(answer, Unknown):
            raise unavailable(answer.reason)
        return answer.stored if isinstance(answer, Applied) else None

    def _find(self, namespace: str, parameters: Mapping[str, str]) -> Workflow:
        name = _name(parameters)
        workflow = self._store.workflow(namespace, name)
        if workflow is None or workflow.deleted:
            raise not_found(f"workflow {name!r} in namespace {namespace}")
        return workflow


def _changed(workflow: Workflow, ports: Ports, **fields: Any) -> Workflow:
    now = ports.clock.now()
    return replace(workflow, updated_at=now, revision=workflow.revision + 1, **fields)


def _json(workflow: Workflow, definition: Definition) -> dict[str, Any]:
    return workflow_json(workflow, None) | definition_view(definition)


def _put_response(workflow: Workflow, definition: Definition, *, created: bool) -> Response:
    body = _json(workflow, definition)
    if not created:
        return Response(status=200, body=body)
    location = {"location": f"/v1/workflows/{workflow.name}", "content-type": "application/json"}
    return Response(status=201, body=body, headers=location)


def _version(query: Query) -> int | None:
    """Returns None for the current one."""
    version = query.number("version", -1)
    if version == 0:
        raise invalid([FieldError("version", "must be at least 1")])
    return None if version < 0 else version


def _name(parameters: Mapping[str, str]) -> str:
    name = parameters["name"]
    if not is_workflow_name(name):
        raise invalid([FieldError("name", WORKFLOW_NAME_RULE)])
    return name
