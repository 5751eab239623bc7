"""Models of the answers to a submission."""

from typing import Annotated, Literal

from pydantic import Field

from duetime.api.openapi.answers import AnswerModel, Problem, Task


class Hint(AnswerModel):
    """What would be better about a task that is stored as it is."""

    field: str
    """The field that it is about."""
    message: str


class NewTask(Task):
    """A task that was stored now."""

    hints: list[Hint] = Field(default=[])
    """Left out if there are none."""


class BatchAccepted(AnswerModel):
    """A task of a batch that is stored."""

    status: Literal[200, 201]
    """201, or 200 if the task was there before."""
    task: NewTask


class BatchRefused(AnswerModel):
    """A task of a batch that is not stored."""

    status: Annotated[int, Field(ge=400, le=599)]
    error: Problem


class BatchResults(AnswerModel):
    """One result for each task of a batch, in the same order."""

    results: list[BatchAccepted | BatchRefused]
