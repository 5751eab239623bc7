"""The interface of the run store. See duetime.core.ports for the others."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from duetime.core.change import Applied, Refused, Unknown
from duetime.core.times import Millis
from duetime.core.value import value
from duetime.core.wakes import Wake
from duetime.core.workflows.definition import Workflow
from duetime.core.workflows.run import Run, RunStatus

RunAnswer = Applied[Run] | Refused[Run] | Unknown
WorkflowAnswer = Applied[Workflow] | Refused[Workflow] | Unknown


@value(frozen=True, kw_only=True, slots=True)
class RunListing:
    """Which runs to list, newest first. The runs of maps are in no list."""

    namespace: str | None = "default"  # None: all
    status: RunStatus | None = None
    workflow: str | None = None
    tag: str | None = None  # "team" or "team:growth"
    limit: int = 50
    cursor: str | None = None

    def wants(self, run: Run) -> bool:
        spec = run.spec
        return (
            self.namespace in (None, spec.namespace)
            and self.status in (None, run.status)
            and self.workflow in (None, spec.workflow)
            and (self.tag is None or _has_tag(spec.tags, self.tag))
        )


def _has_tag(tags: Mapping[str, str], wanted: str) -> bool:
    return any(wanted in (name, f"{name}:{value}") for name, value in tags.items())


@value(frozen=True, kw_only=True, slots=True)
class RunPage:
    runs: Sequence[Run]
    cursor: str | None


@value(frozen=True, kw_only=True, slots=True)
class WorkflowPage:
    workflows: Sequence[Workflow]
    cursor: str | None


class RunStore(Protocol):
    """Runs, and the definitions that they follow. The wakes of runs (kind RUN) are in the same
    wake index as those of tasks."""

    def put(self, runs: Sequence[Run]) -> list[RunAnswer]:
        """Stores each run whose revision is one more than the stored one, or is 1 if none is
        stored. A repeated write whose first answer was lost is Applied. The spec of a stored run
        never changes, so a write of it costs the same whatever its input."""
        ...

    def get(self, run_ids: Sequence[str]) -> dict[str, Run]:
        """Returns the runs that exist, after every write that was answered. A run that cannot be
        read is omitted and logged."""
        ...

    def exist(self, run_ids: Sequence[str]) -> set[str]:
        """Returns the ids that exist, readable or not."""
        ...

    def set_aside(self, found: Wake, later: Wake) -> None:
        """Moves the wake of a run, if it has not moved, without reading the run."""
        ...

    def page(self, listing: RunListing) -> RunPage: ...

    def ended(self, before: Millis, limit: int) -> Sequence[str]:
        """Returns the ids of runs that have been SUCCEEDED or CANCELLED since before that time, if
        this store does not remove them by itself (DynamoDB does, by their TTL)."""
        ...

    def remove(self, run_ids: Sequence[str]) -> None:
        """Removes runs of any revision."""
        ...

    def put_definition(self, digest: str, text: str, needed_until: Millis | None = None) -> None:
        """Stores the text of a definition. `needed_until` is when the last run that has it ends at
        the latest; None keeps it for good, as that of a version of a workflow. Repeating it never
        shortens the time. See `duetime.core.retention`."""
        ...

    def remove_definitions(self, before: Millis) -> None:
        """Removes the definitions that no run has needed since before that time, if this store does
        not remove them by itself."""
        ...

    def definitions(self, digests: Sequence[str]) -> Mapping[str, str]:
        """Returns the texts that exist."""
        ...

    def put_workflow(self, workflow: Workflow) -> WorkflowAnswer:
        """Stores a workflow by its revision, as `put` does, and its version's digest."""
        ...

    def workflow(self, namespace: str, name: str) -> Workflow | None:
        """Returns a workflow, also a deleted one."""
        ...

    def version_digest(self, namespace: str, name: str, version: int) -> str | None: ...

    def workflows(self, namespace: str | None, limit: int, cursor: str | None) -> WorkflowPage:
        """Lists the workflows of a namespace by name, without the deleted ones; for None those of
        all namespaces, one after the other. Raises ValueError for a cursor of another list. A page
        of all namespaces may be short."""
        ...
