"""The definitions that names such as `etl` and `etl@3` lead to."""

from duetime.core.errors import PermanentError
from duetime.core.known_names import known_names
from duetime.core.value import value
from duetime.core.workflows.names import name_and_version
from duetime.core.workflows.ports import RunStore
from duetime.engine.refusal import excerpt

MAX_KNOWN = 100  # names that a refusal looks for a similar one in


@value(frozen=True, kw_only=True, slots=True)
class NamedDefinition:
    name: str | None  # None: it is inline, and has no version
    version: int | None
    digest: str


class UnknownWorkflow(PermanentError):
    """There is no such workflow, or no such version of it; the message says so."""


def find_definition(store: RunStore, namespace: str, text: str) -> NamedDefinition:
    """Returns what a name leads to now. Raises UnknownWorkflow."""
    name, version = name_and_version(text)
    workflow = store.workflow(namespace, name)
    if workflow is None or workflow.deleted:
        raise UnknownWorkflow(_unknown(store, namespace, name))
    if version is None or version == workflow.version:
        return NamedDefinition(name=name, version=workflow.version, digest=workflow.digest)
    digest = store.version_digest(namespace, name, version)
    if digest is None:
        latest = f"the current one is {workflow.version}"
        raise UnknownWorkflow(f"workflow {name!r} has no version {version}; {latest}")
    return NamedDefinition(name=name, version=version, digest=digest)


def _unknown(store: RunStore, namespace: str, name: str) -> str:
    page = store.workflows(namespace, MAX_KNOWN, None)
    known = known_names(name, [workflow.name for workflow in page.workflows])
    return f"there is no workflow {name!r} in namespace {excerpt(namespace, 60)!r}; {known}"
