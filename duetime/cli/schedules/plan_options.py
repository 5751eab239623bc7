"""The options that say the rest of a schedule."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from duetime.cli import values
from duetime.cli.schedules import options
from duetime.cli.task_options import TaskOptions, given
from duetime.cli.values import duration, moment


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanOptions:
    starts_at: options.StartsAt = None
    ends_at: options.EndsAt = None
    max_runs: options.MaxRuns = None
    jitter: options.Jitter = None
    misfire: options.Misfire = None
    grace: options.Grace = None
    window: options.Window = None
    per_minute: options.PerMinute = None
    overlap: options.OverlapOption = None
    pause_on_failure: options.PauseOnFailure = None
    name: options.Name = None
    task_name: options.TaskName = None

    def fields(
        self, what: TaskOptions, standing: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Of a schedule as submitted; what was not said is left out. What has parts is told whole:
        those that were said, and the others as they stand."""
        was = standing or {}
        task = {**what.fields(), **given(name=self.task_name)}
        if "retry" in task:
            task["retry"] = {**was.get("task", {}).get("retry", {}), **task["retry"]}
        misfire = self._misfire()
        return given(
            name=self.name,
            task={**was.get("task", {}), **task} if task else None,
            starts_at=moment("--starts-at", self.starts_at),
            ends_at=moment("--ends-at", self.ends_at),
            max_runs=self.max_runs,
            jitter=duration("--jitter", self.jitter),
            misfire={**was.get("misfire", {}), **misfire} if misfire else None,
            overlap=self.overlap and self.overlap.value,
            pause_on_failure=self.pause_on_failure,
        )

    def _misfire(self) -> dict[str, Any]:
        return given(
            policy=self.misfire and self.misfire.value,
            grace=duration("--grace", self.grace),
            window=duration("--window", self.window),
            per_minute=values.number("--per-minute", self.per_minute),
        )
