"""/v1/runs: start, read, list, cancel and retry runs of workflows."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from duetime.api.capabilities import Capabilities
from duetime.api.etags import with_etag
from duetime.api.http import (
    FieldError,
    Problem,
    Request,
    Response,
    Router,
    invalid,
    not_found,
    problem_of,
)
from duetime.api.idempotency import with_key
from duetime.api.paging import list_response, page_response
from duetime.api.query import Query
from duetime.api.run_views import item_json, run_json, run_view
from duetime.api.task_models import read_body
from duetime.api.trace_headers import TRACEPARENT, trace_of_run
from duetime.api.workflow_models import RunRequest, read_run
from duetime.core.ids import is_id
from duetime.core.ports import Ports
from duetime.core.value import value
from duetime.core.workflows.codec import digest_of, encode_definition
from duetime.core.workflows.definition import MAX_STEPS, Definition
from duetime.core.workflows.ports import RunListing, RunPage, RunStore
from duetime.core.workflows.retry import TAKEN_BACK, RetryRefused
from duetime.core.workflows.run import Run, RunSpec, RunStatus, waited_run_id
from duetime.core.workflows.validation import levels
from duetime.engine.idempotency import body_hash
from duetime.engine.refusal import Refusal
from duetime.engine.workflows.definition_check import definition_errors
from duetime.engine.workflows.definitions import (
    definitions_by_digest,
    definitions_of,
    run_store,
)
from duetime.engine.workflows.named import NamedDefinition, UnknownWorkflow, find_definition
from duetime.engine.workflows.outputs import item_tasks, step_tasks
from duetime.engine.workflows.requests import CreatedRun, cancel_stored, create_run, retry_stored

if TYPE_CHECKING:
    from duetime.engine.quotas import QuotaGate


class RetryRunIn(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    steps: Annotated[list[str], Field(min_length=1, max_length=MAX_STEPS)] | None = None


@value(frozen=True, slots=True)
class Runs:
    ports: Ports
    capabilities: Capabilities
    quotas: "QuotaGate | None" = None

    def add_to(self, router: Router) -> None:
        router.add("POST", "/v1/runs", self.start)
        router.add("GET", "/v1/runs", self.page)
        router.add("GET", "/v1/runs/{id}", self.get)
        router.add("DELETE", "/v1/runs/{id}", self.cancel)
        router.add("POST", "/v1/runs/{id}/retry", self.retry)
        router.add("GET", "/v1/runs/{id}/steps/{name}/items", self.items)

    def start(self, request: Request, _: Mapping[str, str]) -> Response:
        query = Query(request)
        dry_run = query.flag("dry_run", default=False)
        query.done()
        body = with_key(request, request.json())
        wanted = self._read(body)
        named, definition = self._definition(wanted)
        if dry_run:
            return Response(status=200, body={"order": levels(definition)})
        trace = trace_of_run(named.name if named else None, request.headers.get(TRACEPARENT))
        spec = _spec(wanted, named, definition, body, trace)
        created = create_run(self.ports, definition, spec, self.quotas)
        if isinstance(created, Refusal):
            raise problem_of(created)
        return self._created(created)

    def get(self, request: Request, parameters: Mapping[str, str]) -> Response:
        Query(request).done()
        return with_etag(request, Response(status=200, body=self._view(self._find(parameters))))

    def page(self, request: Request, _: Mapping[str, str]) -> Response:
        query = Query(request)
        listing = RunListing(
            namespace=query.namespace_or_all(),
            status=query.one_of("status", RunStatus),
            workflow=query.word("workflow"),
            tag=query.text("tag"),
            limit=query.limit(),
            cursor=query.text("cursor"),
        )
        query.done()

        def render(page: RunPage) -> tuple[list[dict[str, Any]], str | None]:
            return [run_json(run) for run in page.runs], page.cursor

        return page_response(self._store.page, listing, render)

    def items(self, request: Request, parameters: Mapping[str, str]) -> Response:
        """Lists the items of a map, in order. A map that has not started has none yet."""
        query = Query(request)
        limit, start = query.limit(), query.number("cursor", 0)
        query.done()
        run = self._map_run(self._find(parameters), parameters["name"])
        if run is None:
            return list_response([], None)
        end = min(start + limit, len(run.states))
        tasks = item_tasks(self.ports, run, start, end)
        items = [item_json(run, start + place, task) for place, task in enumerate(tasks)]
        return list_response(items, str(end) if end < len(run.states) else None)

    def cancel(self, request: Request, parameters: Mapping[str, str]) -> Response:
        Query(request).done()
        run = self._find(parameters)
        cancelled = cancel_stored(self.ports, run)
        if cancelled is None:
            raise _is_over(self._find(parameters))
        return Response(status=202, body=self._view(self._find(parameters)))

    def retry(self, request: Request, parameters: Mapping[str, str]) -> Response:
        Query(request).done()
        given = read_body(RetryRunIn, request.json()) if request.body.strip() else RetryRunIn()
        run = self._find(parameters)
        if run.spec.parent_task_id is not None:
            raise _retried_by_its_task(run, run.spec.parent_task_id)
        if given.steps is not None:
            _check_steps(self._definition_of(run), run, given.steps)
        retried = retry_stored(self.ports, run, given.steps)
        if isinstance(retried, RetryRefused):
            raise _not_retried(run, retried.reason)
        return Response(status=200, body=self._view(self._find(parameters)))

    @property
    def _store(self) -> RunStore:
        return run_store(self.ports)

    def _read(self, body: Any) -> RunRequest:
        can = self.capabilities
        now = self.ports.clock.now()
        return read_run(body, now, can.time_limits, can.target_errors, can.step_with_defaults)

    def _definition(self, wanted: RunRequest) -> tuple[NamedDefinition | None, Definition]:
        """Returns what a run follows: a version of a workflow, or steps of its own."""
        if wanted.definition is not None:
            errors = definition_errors(self.ports, wanted.namespace, wanted.definition)
            if errors:
                raise invalid(errors)
            return None, wanted.definition
        try:
            named = find_definition(self._store, wanted.namespace, _text(wanted))
        except UnknownWorkflow as unknown:
            raise invalid([FieldError("workflow", str(unknown))]) from None
        found = definitions_by_digest(self.ports, [named.digest])
        if named.digest not in found:
            message = f"the definition of version {named.version} is gone: put the workflow again"
            raise invalid([FieldError("workflow", message)])
        return named, found[named.digest]

    def _find(self, parameters: Mapping[str, str]) -> Run:
        run_id = parameters["id"]
        run = self._store.get([run_id]).get(run_id) if is_id(run_id) else None
        if run is None:
            raise not_found(f"run {run_id}")
        return run

    def _definition_of(self, run: Run) -> Definition:
        found = definitions_of(self.ports, [run]).get(run.spec.digest)
        if found is None:
            raise not_found(f"definition of run {run.id}")
        return found

    def _view(self, run: Run) -> dict[str, Any]:
        return run_view(self.ports, self._definition_of(run), run)

    def _created(self, created: CreatedRun) -> Response:
        """Reads the run again: with one step that is done at once, it has gone on meanwhile."""
        run = self._find({"id": created.run.id})
        headers = {"location": f"/v1/runs/{run.id}", "content-type": "application/json"}
        status = 200 if created.replayed else 201
        return Response(status=status, body=self._view(run), headers=headers)

    def _map_run(self, run: Run, name: str) -> Run | None:
        if run.spec.map is not None and run.spec.map.step == name:
            return run
        definition = self._definition_of(run)
        if run.spec.map is not None or name not in definition.position:
            raise not_found(f"step {name!r} in run {run.id}")
        if definition.step(name).map is None:
            raise not_found(f"map in step {name!r}")
        task = step_tasks(self.ports, definition, run, [name]).get(name)
        if task is None:
            return None
        run_id = waited_run_id(task.id, task.created_at)
        return self._store.get([run_id]).get(run_id)


def _text(wanted: RunRequest) -> str:
    return f"{wanted.workflow}@{wanted.version}" if wanted.version else str(wanted.workflow)


def _spec(
    wanted: RunRequest,
    named: NamedDefinition | None,
    definition: Definition,
    body: Any,
    trace: str | None,
) -> RunSpec:
    given = wanted.fail_fast
    return RunSpec(
        namespace=wanted.namespace,
        digest=named.digest if named else digest_of(encode_definition(definition)),
        run_at=wanted.run_at,
        timeout=wanted.timeout or definition.timeout,
        input=wanted.input,
        workflow=named.name if named else None,
        version=named.version if named else None,
        name=wanted.name,
        tags={**definition.tags, **wanted.tags},
        priority=wanted.priority or definition.priority,
        fail_fast=definition.fail_fast if given is None else given,
        idempotency_key=wanted.idempotency_key,
        body_hash=body_hash(body) if wanted.idempotency_key else None,
        trace=trace,
    )


def _check_steps(definition: Definition, run: Run, names: list[str]) -> None:
    unknown = [
        FieldError(f"steps.{place}", f"there is no step {name!r}")
        for place, name in enumerate(names)
        if name not in definition.position
    ]
    if unknown:
        raise invalid(unknown)
    kept = [
        FieldError(f"steps.{place}", f"step {name!r} has not failed")
        for place, name in enumerate(names)
        if run.states[definition.position[name]] not in TAKEN_BACK
    ]
    if kept and run.status is RunStatus.FAILED:
        title = "Only steps that failed or were stopped can be retried"
        raise Problem(409, "state-conflict", title, errors=kept)


def _is_over(run: Run) -> Problem:
    detail = f"Run {run.id} is {run.status} and cannot be cancelled."
    return Problem(409, "state-conflict", "The run is over", detail)


def _not_retried(run: Run, reason: str) -> Problem:
    detail = f"Run {run.id} cannot be retried: {reason}."
    return Problem(409, "state-conflict", "The run cannot be retried", detail)


def _retried_by_its_task(run: Run, task_id: str) -> Problem:
    detail = f"Task {task_id} has started run {run.id}. Retry that task, or the run it belongs to."
    return Problem(409, "state-conflict", "The run cannot be retried by itself", detail)
