"""The targets that a deployment or a runner allows. The API refuses tasks with any other."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Final, NamedTuple

from duetime.core.value import value

# The field of each type that names what the target acts on. `http` and `python` have rules of
# their own: see AddressPolicy and the registry of handlers. A `workflow` acts by its steps.
RESOURCE_FIELDS: Final[Mapping[str, str]] = {
    "dynamodb": "table",
    "email": "from",
    "eventbridge": "bus",
    "lambda": "function",
    "sns": "topic",
    "sql": "database",
    "sqs": "queue",
    "stepfunctions": "state_machine",
}
TARGET_TYPES: Final = ("http", "python", *RESOURCE_FIELDS, "workflow")
ANY: Final = ("*",)
_ADDRESS = re.compile(r".*<(.*)>")


class Refusal(NamedTuple):
    field: str
    message: str


@value(frozen=True, kw_only=True, slots=True)
class AllowedTargets:
    """Attributes:
    patterns: For each type the allowed resources; `*` in one matches any characters.
    hint: What a user may change to allow more; `{type}` is the type of the target.
    hints: The same for some types."""

    patterns: Mapping[str, Sequence[str]]
    hint: str = "name it in targets.{type} of the stage to allow it"
    hints: Mapping[str, str] = field(default_factory=dict)

    def refusal(self, target: Mapping[str, Any]) -> Refusal | None:
        """Returns why a target is not allowed; None if it is."""
        kind = target["type"]
        named_by = RESOURCE_FIELDS.get(kind)
        if named_by is None:
            return None
        hint = self.hints.get(kind, self.hint).format(type=kind)
        patterns = self.patterns.get(kind, ())
        if not patterns:
            return Refusal("target.type", f"{kind!r} is not allowed here; {hint}")
        if not any(_matches(_bare(target[named_by]), pattern) for pattern in patterns):
            return Refusal(f"target.{named_by}", f"is not allowed here; {hint}")
        return None


ALL_TARGETS: Final = AllowedTargets(patterns=dict.fromkeys(RESOURCE_FIELDS, ANY))


def _bare(resource: str) -> str:
    """Returns `a@example.com` for `Ann <a@example.com>`."""
    address = _ADDRESS.fullmatch(resource)
    return address[1] if address else resource


def _matches(resource: str, pattern: str) -> bool:
    parts = (re.escape(part) for part in pattern.split("*"))
    return re.fullmatch(".*".join(parts), resource, re.IGNORECASE) is not None
