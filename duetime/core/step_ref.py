"""Which step of which workflow run a task is."""

from collections.abc import Sequence
from typing import Any

from duetime.core.times import DAY, Millis
from duetime.core.value import value

DEFAULT_RUN_TIMEOUT: Millis = 7 * DAY


@value(frozen=True, kw_only=True, slots=True)
class StepRef:
    """A task of a run stores this instead of what the step does: target and payload come from the
    definition of the run. An item of a map belongs to the run of the map, and has an index.
    `run_timeout` is that of the run: the task is kept for so much longer than other tasks, so that
    it is not removed before its run."""

    run_id: str
    step: str
    index: int | None = None
    run_timeout: Millis = DEFAULT_RUN_TIMEOUT


def encode_step_ref(ref: StepRef) -> list[Any]:
    """Leaves out defaults at the end."""
    if ref.run_timeout != DEFAULT_RUN_TIMEOUT:
        return [ref.run_id, ref.step, ref.index, ref.run_timeout]
    return [ref.run_id, ref.step] if ref.index is None else [ref.run_id, ref.step, ref.index]


def decode_step_ref(written: Sequence[Any]) -> StepRef:
    run_id, step, *rest = written
    return StepRef(
        run_id=run_id,
        step=step,
        index=rest[0] if rest else None,
        run_timeout=rest[1] if len(rest) > 1 else DEFAULT_RUN_TIMEOUT,
    )
