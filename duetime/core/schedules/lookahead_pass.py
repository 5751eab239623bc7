"""The result of one lookahead pass over a schedule."""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any

from duetime.core.ids import created_at
from duetime.core.occurrence import OverlapPolicy, occurrence_id
from duetime.core.schedules.fire_times import first
from duetime.core.schedules.ledger import Entry, LedgerOutcome, LedgerSpan
from duetime.core.schedules.schedule import OWN_RULE, Schedule, ScheduleStatus, next_wake
from duetime.core.task import Task
from duetime.core.times import Millis
from duetime.core.value import value
from duetime.core.wake_policy import WakePolicy

MAX_OCCURRENCES = 1_000  # occurrences in one pass


@value(frozen=True, kw_only=True, slots=True)
class PlannedOccurrence:
    """A fire time that becomes a task."""

    id: str
    fire_time: Millis
    run_at: Millis
    overlap: OverlapPolicy
    span: str = OWN_RULE  # the span that it belongs to
    awaited: bool = False  # the next run of its span waits for its end


@value(frozen=False, kw_only=True, slots=True)
class LookaheadPass:
    """What to put, what to write to the ledger, and how the schedule changes."""

    schedule: Schedule  # as it was read
    seen_at: Millis
    runs: int
    reserved: int = 0  # runs of `max_runs` that missed fire times still need
    known_tasks: Mapping[str, Task] = field(default_factory=dict)  # see needed_task_ids
    occurrences: list[PlannedOccurrence] = field(default_factory=list)
    releases: list[tuple[Task, Millis]] = field(default_factory=list)  # late runs, start times
    drops: list[Task] = field(default_factory=list)  # late runs that the misfire policy skips
    ledger_entries: list[Entry] = field(default_factory=list)
    sets: dict[str, Any] = field(default_factory=dict)  # how the schedule changes
    more: bool = False  # one pass could not put everything that is due
    needs_another_pass: bool = False  # this one only decided about missed fire times
    catch_up_from: Millis = 0  # the earliest start of a further catch-up run

    @property
    def runs_out(self) -> bool:
        most = self.schedule.plan.max_runs
        return most is not None and self.runs >= most

    @property
    def runs_promised(self) -> bool:
        """Whether missed fire times, which are older, need all runs that are left."""
        most = self.schedule.plan.max_runs
        return most is not None and self.runs + self.reserved >= most

    @property
    def full(self) -> bool:
        return len(self.occurrences) >= MAX_OCCURRENCES

    def put(
        self,
        fire_time: Millis,
        run_at: Millis,
        overlap: OverlapPolicy,
        span: str = OWN_RULE,
        *,
        awaited: bool = False,
    ) -> str:
        ahead = PlannedOccurrence(
            id=task_id_of(self.schedule, fire_time, span),
            fire_time=fire_time,
            run_at=run_at,
            overlap=overlap,
            span=span,
            awaited=awaited,
        )
        self.occurrences.append(ahead)
        self.runs += span == OWN_RULE
        return ahead.id

    def is_over(self, task_id: str) -> bool:
        """Whether a task has ended, or is gone."""
        task = self.known_tasks.get(task_id)
        return task is None or task.status.finished

    def skip(self, start: Millis, until: Millis) -> None:
        """Records every fire time from `start`, which is one, to before `until` as skipped."""
        if start < until:
            self.ledger_entries.append(
                LedgerSpan(
                    schedule_id=self.schedule.id,
                    start=start,
                    until=until,
                    outcome=LedgerOutcome.SKIPPED_MISFIRE,
                    recurrence=self.schedule.plan.recurrence,
                )
            )

    def record_missing_run(self, task_id: str, error: str) -> None:
        """Records that an occurrence could not be built or put. A delay must not await its end."""
        self.sets["last_error"] = error
        if self.sets.get("awaited") == task_id:
            self.sets["awaited"] = None
            if not self.runs_out:
                next_at = first(self.schedule.plan, max(created_at(task_id), self.seen_at))
                status = ScheduleStatus.FINISHED if next_at is None else self.schedule.status
                self.sets |= {"next_at": next_at, "status": status}

    def still_matches(self, stored: Schedule) -> bool:
        """Whether the stored schedule still matches the one that this pass read. Other roles write
        the row too, when a run starts or ends."""
        found = self.schedule
        return (stored.version, stored.status, stored.next_at, stored.spans) == (
            found.version,
            found.status,
            found.next_at,
            found.spans,
        )

    def applied_to(self, wake_policy: WakePolicy, stored: Schedule) -> Schedule:
        advanced = replace(stored, revision=stored.revision + 1, **self.sets)
        return replace(advanced, wake=next_wake(wake_policy, advanced, self.seen_at))


def task_id_of(schedule: Schedule, fire_time: Millis, span: str = OWN_RULE) -> str:
    """Returns the id of the task that a fire time becomes."""
    if span != OWN_RULE:
        return occurrence_id(schedule.id, span, fire_time)
    return version_task_id(schedule.id, schedule.version, fire_time)


def version_task_id(schedule_id: str, version: int, fire_time: Millis) -> str:
    return occurrence_id(schedule_id, f"v{version}", fire_time)
