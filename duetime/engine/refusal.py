"""Why a submission is refused. The API answers it as a problem, the executor raises it in the
handler that submits."""

from collections.abc import Sequence
from typing import Any, NamedTuple

# A refusal repeats what it refuses, but only as much of it as a person reads.
MAX_EXCERPT = 200
CONTENTION = "concurrent writes won every attempt"  # the reason when a write gives up


class FieldError(NamedTuple):
    field: str
    message: str
    position: int | None = None  # where in the text the error begins, from 1

    def json(self) -> dict[str, Any]:
        fields = {"field": excerpt(self.field), "message": excerpt(self.message)}
        return fields if self.position is None else {**fields, "position": self.position}


class Refusal(Exception):
    """A task that is not stored. `status` is the HTTP status of the problem, `kind` its type;
    without a `detail`, the errors of the fields say why. `retry_after` is in seconds."""

    def __init__(
        self,
        status: int,
        kind: str,
        title: str,
        detail: str | None = None,
        *,
        errors: Sequence[FieldError] = (),
        retry_after: int | None = None,
    ) -> None:
        super().__init__(title)
        self.status = status
        self.kind = kind
        self.title = title
        self.detail = detail
        self.errors = errors
        self.retry_after = retry_after


def invalid(errors: Sequence[FieldError]) -> Refusal:
    return Refusal(422, "invalid", "The request is not valid", errors=errors)


def excerpt(text: str, max_length: int = MAX_EXCERPT) -> str:
    """Makes a text of a request safe to repeat in an answer: bounded, and valid Unicode."""
    cut = text if len(text) <= max_length else f"{text[:max_length]}…"
    return cut.encode(errors="replace").decode()
