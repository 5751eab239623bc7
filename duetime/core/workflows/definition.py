"""A workflow: its steps, and how they depend on each other."""

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from functools import cached_property
from typing import Any

from duetime.core.lanes import Lane
from duetime.core.limits.definition import LimitUse
from duetime.core.retry import DEFAULT_RETRY, RetryPolicy
from duetime.core.step_ref import DEFAULT_RUN_TIMEOUT
from duetime.core.times import DAY, Millis
from duetime.core.value import value

MAX_STEPS = 500
MAX_EDGES = 5_000
MAX_ITEMS = 10_000  # of one map
MAX_WINDOW = 1_000  # `max_concurrency` of a map
DEFAULT_WINDOW = 100
MAX_NESTING = 2
MAX_DEFINITION = 256 * 1024  # bytes
MAX_INPUT = 256 * 1024  # bytes
DEFAULT_TIMEOUT: Millis = DEFAULT_RUN_TIMEOUT
LONGEST_TIMEOUT: Millis = 366 * DAY

PASS = "pass"  # the target of a step that only waits
MAP = "map"  # the target that runs the step once for each item
STEP = "step"  # in the stored spec of a step's task: see duetime.core.step_ref


class RunIf(StrEnum):
    """How the needs of a step must have ended for it to run."""

    ALL_SUCCEEDED = "all_succeeded"
    NONE_FAILED = "none_failed"  # and at least one succeeded; skipped needs do not count
    ANY_FAILED = "any_failed"
    ALL_FINISHED = "all_finished"


@value(frozen=True, kw_only=True, slots=True)
class MapOver:
    """A step that runs once for each item. `items` is a list, a number or a reference."""

    items: Any
    max_concurrency: int = DEFAULT_WINDOW
    tolerated_failures: int = 0


@value(frozen=True, kw_only=True, slots=True)
class WorkflowStep:
    """A step is a task with needs. Its target may be `pass` or `workflow` too; `target` and
    `payload` may contain references: see duetime.core.workflows.references."""

    name: str
    target: Mapping[str, Any]
    payload: Any = None
    retry: RetryPolicy = DEFAULT_RETRY
    timeout: float = 60.0
    priority: Lane | None = None  # None: that of the run
    pool: str | None = None
    limits: tuple[LimitUse, ...] = ()
    ordering_key: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    run_if: RunIf = RunIf.ALL_SUCCEEDED
    when: Any = None  # a pattern on the input, the results and the statuses; see core.patterns
    allow_failure: bool = False
    delay: float = 0.0  # seconds after the step became ready
    until: Millis | None = None  # of a step that waits until a time
    map: MapOver | None = None
    callback: float | None = None  # seconds to wait for it after the target has succeeded
    last: bool = False  # `finally`: runs after every ordinary step has ended, also on cancel


@value(frozen=True, kw_only=True)
class Definition:
    steps: tuple[WorkflowStep, ...]
    fail_fast: bool = False
    timeout: Millis = DEFAULT_TIMEOUT
    priority: Lane = Lane.MEDIUM
    tags: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def position(self) -> Mapping[str, int]:
        """The position of each step, by its name: run rows have one character for each step."""
        return {step.name: number for number, step in enumerate(self.steps)}

    @cached_property
    def needs(self) -> tuple[tuple[int, ...], ...]:
        """The positions of the needs of each step. A `finally` step needs every ordinary step."""
        ordinary = tuple(n for n, step in enumerate(self.steps) if not step.last)
        return tuple(
            ordinary if step.last else tuple(self.position[name] for name in step.needs)
            for step in self.steps
        )

    @cached_property
    def has_conditions(self) -> bool:
        return any(step.when is not None for step in self.steps)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The positions of the steps, each after its needs; `finally` steps last."""
        order: list[int] = []
        seen: set[int] = set()
        pending = [(n, False) for n in reversed(range(len(self.steps)))]
        while pending:
            position, expanded = pending.pop()
            if expanded:
                order.append(position)
            elif position not in seen:
                seen.add(position)
                pending.append((position, True))
                pending += [(need, False) for need in self.needs[position] if need not in seen]
        return tuple(order)

    def step(self, name: str) -> WorkflowStep:
        return self.steps[self.position[name]]


@value(frozen=True, kw_only=True, slots=True)
class Workflow:
    """A named definition. Each changed definition is a new version."""

    namespace: str
    name: str
    version: int
    digest: str  # of the definition
    created_at: Millis
    updated_at: Millis
    revision: int  # counts the writes of the row
    deleted: bool = False  # versions go on counting if it is created again
