"""The trace context that a submission comes with: the header of W3C Trace Context, or the field
`trace` of the task, which wins. It is kept while traces are on: it is of no use otherwise."""

from duetime import tracing
from duetime.core.task import WORKFLOW
from duetime.core.trace_context import is_traceparent, pack
from duetime.core.value import replace
from duetime.engine.submission import TaskRequest

TRACEPARENT = "traceparent"


def with_trace(wanted: TaskRequest, header: str | None = None) -> TaskRequest:
    """Ignores a header that cannot be read, as the recommendation says."""
    trace = wanted.spec.trace
    if tracing.spans() is None:
        return replace(wanted, spec=replace(wanted.spec, trace=None)) if trace else wanted
    if trace is None and header is not None and is_traceparent(header):
        return replace(wanted, spec=replace(wanted.spec, trace=pack(header)))
    return wanted


def trace_of_run(workflow: str | None, header: str | None) -> str | None:
    """Returns the trace context of a run: that of its submission, or of a span that is started for
    it here. None while traces are off."""
    spans = tracing.spans()
    if spans is None:
        return None
    if header is not None and is_traceparent(header):
        return pack(header)
    named = {"workflow": workflow} if workflow else {}
    return spans.submitted({"type": WORKFLOW, **named}, None)
