"""How far a list of workflows has been read: a name, of a list of all namespaces with its namespace
in front of it."""

from typing import NamedTuple

from duetime.core.field_values import is_word
from duetime.core.list_positions import LAST, NOT_A_CURSOR
from duetime.core.workflows.names import is_workflow_name


class WorkflowPlace(NamedTuple):
    """The workflows whose (namespace, name) is greater are still to be read."""

    namespace: str
    name: str

    @classmethod
    def of(cls, namespace: str | None, cursor: str | None) -> "WorkflowPlace":
        """Raises ValueError for a cursor that is not one of the list of this namespace, or of all
        if it is None."""
        if cursor is None:
            return cls(namespace or "", "")
        name = cursor
        if namespace is None:
            namespace, _, name = cursor.partition("/")
        if not is_word(namespace) or not (is_workflow_name(name) or name == LAST):
            raise ValueError(NOT_A_CURSOR)
        return cls(namespace, name)

    def cursor(self, namespace: str | None) -> str:
        return self.name if namespace is not None else f"{self.namespace}/{self.name}"
