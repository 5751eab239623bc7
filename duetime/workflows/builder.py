"""A workflow as it is written in Python."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

from duetime.client.errors import BadArgument
from duetime.core.json_values import NotJson
from duetime.core.workflows.names import STEP_NAME_RULE, is_step_name
from duetime.handlers.defaults import to_seconds, with_defaults
from duetime.handlers.handler import Handler, StepCall
from duetime.workflows.references import (
    Reference,
    compiled,
    compiled_part,
    owner_of,
    path_of,
    references_in,
)
from duetime.workflows.steps import (
    Step,
    StepOptions,
    WorkflowOptions,
    option_fields,
    used_steps,
)

if TYPE_CHECKING:
    from duetime.client.workflow_types import Checked, RunFields
    from duetime.client.workflow_types import Workflow as StoredWorkflow
    from duetime.workflows.runs import RunSubmission
    from duetime.workflows.steps import Delay

Work = Handler[..., Any] | StepCall | Mapping[str, Any]  # what a step runs

NOT_GIVEN: Any = object()
FILLED_IN = ("needs", "when", "ordering_key", "limits")  # options that may have references
OF_A_STEP = (
    "priority",
    "pool",
    "retry",
    "timeout",
    "tags",
    "limits",
)  # of the defaults of a handler


def workflow(
    name: str, /, *, namespace: str | None = None, **options: Unpack[WorkflowOptions]
) -> "Workflow":
    """Returns a new workflow, to add steps to::

        with workflow("etl", timeout="1h") as w:
            extract = w.step("extract", extract_orders, payload={"day": w.input.day})
            load = w.step("load", load_rows, payload={"rows": extract.result.rows})

        w.put()
        run = w.submit(input={"day": "2027-01-04"})

    `options` are `fail_fast`, `timeout`, `priority` and `tags`; see WorkflowOptions."""
    fields: dict[str, Any] = {**options}
    if "timeout" in fields:
        fields["timeout"] = to_seconds(fields["timeout"])
    return Workflow(name, namespace, fields)


class Workflow:
    """A graph of steps. `with` is for reading: it groups the lines that add the steps."""

    def __init__(self, name: str, namespace: str | None, fields: Mapping[str, Any]) -> None:
        self.name = name
        self.namespace = namespace
        self._fields = fields
        self._steps: dict[str, Step] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        reason: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return None

    @property
    def input(self) -> Any:
        """The input of the run."""
        return Reference(self, ("input",))

    @property
    def item(self) -> Any:
        """The item of a map, in the payload of the map's step."""
        return Reference(self, ("item",))

    @property
    def index(self) -> Any:
        """The number of the item of a map, from 0."""
        return Reference(self, ("index",))

    @property
    def run(self) -> Any:
        """`w.run.id`, and in a `finally_` step `w.run.status`."""
        return Reference(self, ("run",))

    @property
    def callback_url(self) -> Any:
        """Where to post the result of the step, in the payload of a step with a callback."""
        return Reference(self, ("callback", "url"))

    @property
    def callback_token(self) -> Any:
        return Reference(self, ("callback", "token"))

    def step(
        self,
        name: str,
        what: Work,
        *,
        payload: Any = NOT_GIVEN,
        **options: Unpack[StepOptions],
    ) -> Step:
        """Adds a step that runs a handler or a target, and returns it.

        Args:
            what: A handler; a handler with its values, which type checkers check:
                `extract_orders.call(day=w.input.day)`; or a target such as
                {"type": "http", "url": "https://example.com"}.
            payload: Of a handler or a target; its values may be references. Raises BadPayload if
                the others do not fit the parameters of the handler.
            options: See StepOptions."""
        what, payload = _unpacked(name, what, payload)
        return self._add(name, _work(name, what, payload), (what, payload), options)

    def map(
        self,
        name: str,
        what: Work,
        *,
        items: Reference | Sequence[Any] | int,
        max_concurrency: int | None = None,
        tolerated_failures: int | None = None,
        payload: Any = NOT_GIVEN,
        **options: Unpack[StepOptions],
    ) -> Step:
        """Adds a step that runs once for each item, at most `max_concurrency` at a time.

        Args:
            items: A list, a number, or a reference such as `extract.result.urls`.
            tolerated_failures: How many items may fail before the step has failed.
            payload: Of each item; by default the item itself, `w.item`, unless `what` is a call:
                `resize.call(url=w.item.url)`."""
        over = {
            "items": _json(f"{name}.items", items),
            "max_concurrency": max_concurrency,
            "tolerated_failures": tolerated_failures,
        }
        what, payload = _unpacked(name, what, payload)
        given = self.item if payload is NOT_GIVEN else payload
        fields = _work(name, what, given)
        fields["map"] = {key: value for key, value in over.items() if value is not None}
        return self._add(name, fields, (what, given, items), options)

    def wait(
        self,
        name: str,
        *,
        seconds: "Delay | None" = None,
        until: datetime | str | None = None,
        **options: Unpack[StepOptions],
    ) -> Step:
        """Adds a step that only waits: for a time after its needs have ended, or until a time."""
        if (seconds is None) == (until is None):
            raise BadArgument(name, f"step {name!r}: give seconds or until")
        if seconds is not None:
            wait: dict[str, Any] = {"seconds": to_seconds(seconds)}
        else:
            _refuse_references(name, {"until": until})
            wait = {"until": _json(f"{name}.until", until)}
        return self._add(name, {"wait": wait}, until, options)

    def nested(
        self,
        name: str,
        workflow: "str | Workflow",
        *,
        input: Any = NOT_GIVEN,
        **options: Unpack[StepOptions],
    ) -> Step:
        """Adds a step that runs another workflow, and ends as that run does. `workflow` is its name
        ("etl" or "etl@3"), or a workflow in Python, which need not be put."""
        inner = workflow if isinstance(workflow, str) else workflow.definition()
        fields: dict[str, Any] = {"workflow": inner}
        if input is not NOT_GIVEN:
            fields["input"] = _json(f"{name}.input", input)
        return self._add(name, fields, None if input is NOT_GIVEN else input, options)

    def callback(
        self,
        name: str,
        what: Work,
        *,
        within: "Delay" = 86_400,
        payload: Any = NOT_GIVEN,
        **options: Unpack[StepOptions],
    ) -> Step:
        """Adds a step that runs a target, and then waits up to `within` for a callback. Its
        payload gives the other side `w.callback_url`. It is `w.step(…, callback=within)`."""
        what, payload = _unpacked(name, what, payload)
        fields = _work(name, what, payload)
        return self._add(name, fields, (what, payload), {**options, "callback": within})

    def definition(self) -> dict[str, Any]:
        """Returns the JSON of the workflow, as `PUT /v1/workflows/{name}` takes it."""
        fields = _json(self.name, dict(self._fields))
        return {**fields, "steps": [step.definition() for step in self._steps.values()]}

    def put(self) -> "StoredWorkflow":
        """Stores the workflow with the current client: its first or next version, or nothing new if
        it has not changed."""
        from duetime.workflows import runs

        return runs.put(self)

    def check(self) -> "Checked":
        """Asks the API whether it would take the workflow, and returns its steps in order."""
        from duetime.workflows import runs

        return runs.check(self)

    def submit(self, **fields: Unpack["RunFields"]) -> "RunSubmission":
        """Starts a run of the workflow as it was put last, with the current client:
        `w.submit(input={"day": "2027-01-04"})`."""
        from duetime.workflows import runs

        return runs.submit(self, fields)

    async def aput(self) -> "StoredWorkflow":
        from duetime.workflows import runs

        return await runs.aput(self)

    async def acheck(self) -> "Checked":
        from duetime.workflows import runs

        return await runs.acheck(self)

    async def asubmit(self, **fields: Unpack["RunFields"]) -> "RunSubmission":
        from duetime.workflows import runs

        return await runs.asubmit(self, fields)

    def __repr__(self) -> str:
        return f"<workflow {self.name!r}>"

    def _add(self, name: str, fields: dict[str, Any], given: Any, options: Any) -> Step:
        if not is_step_name(name):
            raise BadArgument("name", f"step {name!r}: the name {STEP_NAME_RULE}")
        if name in self._steps:
            raise BadArgument("name", f"there are two steps with the name {name!r}")
        _refuse_references(name, options)
        own = _json(name, option_fields(options))
        whole = with_defaults({**fields, **own}, fields.pop("_defaults", {}))
        whole.pop("_defaults", None)
        parts = (given, {key: value for key, value in options.items() if key != "needs"})
        self._check_references(name, parts, whole)
        step = Step(self, name, whole)
        step.need(options.get("needs", ()))
        if not options.get("finally_"):  # it runs after every other step anyway
            used = used_steps(parts, whole)
            step.need(self._steps[one] for one in used if one in self._steps)
        self._steps[name] = step
        return step

    def _check_references(self, name: str, parts: Any, fields: Mapping[str, Any]) -> None:
        for reference in references_in(parts):
            owner, path = owner_of(reference), path_of(reference)
            if owner is not self:
                other = getattr(owner, "name", None)
                what = f"{'.'.join(path)} of the workflow {other!r}"
                raise BadArgument(name, f"step {name!r} cannot use {what}")
            if path[0] in ("item", "index") and "map" not in fields:
                raise BadArgument(name, f"step {name!r}: w.{path[0]} is for the steps of w.map")
            if path[0] == "callback" and "callback" not in fields:
                raise BadArgument(name, f"step {name!r} has no callback: give it callback=86400")


def _unpacked(name: str, what: Work, payload: Any) -> tuple[Any, Any]:
    """Returns the handler and the payload of a call; any other work as it is."""
    if not isinstance(what, StepCall):
        return what, payload
    if payload is not NOT_GIVEN:
        raise BadArgument(name, f"step {name!r}: the call has its values; leave out payload")
    return what.handler, what.payload


def _refuse_references(name: str, options: Mapping[str, Any]) -> None:
    """Targets, payloads, items, inputs and keys are filled in; a `when` looks at references."""
    for option, value in options.items():
        if option not in FILLED_IN and list(references_in(value)):
            raise BadArgument(name, f"step {name!r}: {option} cannot be a reference")


def _work(name: str, what: Any, payload: Any) -> dict[str, Any]:
    """Returns the target and the payload, and under `_defaults` those of the handler."""
    if isinstance(what, Handler):
        given = what.payload() if payload is NOT_GIVEN else what.template(payload, compiled_part)
        defaults = {key: what.defaults[key] for key in OF_A_STEP if key in what.defaults}
        target = {"type": "python", "handler": what.name}
        return {"target": target, "payload": given, "_defaults": defaults}
    if not isinstance(what, Mapping) or "type" not in what:
        raise BadArgument(
            name, f"step {name!r}: {what!r} is neither a handler (see @task) nor a target"
        )
    fields = {"target": _json(f"{name}.target", what)}
    if payload is not NOT_GIVEN:
        fields["payload"] = _json(f"{name}.payload", payload)
    return fields


def _json(where: str, value: Any) -> Any:
    try:
        return compiled(value)
    except NotJson as error:
        raise BadArgument(where, f"{where}: {error}") from None
