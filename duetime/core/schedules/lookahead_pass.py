"""A pass: one look at a schedule, and what it has come to."""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any

from lambdas.core.occurrence import OverlapPolicy, occurrence_id
from lambdas.core.rules import Rules
from lambdas.core.schedules.ledger import Entry, Expected, LedgerSpan
from lambdas.core.schedules.schedule import MISSED, Schedule, ScheduleStatus, placed
from lambdas.core.schedules.times import first
from lambdas.core.task import Task
from lambdas.core.times import Millis
from lambdas.core.values import value

MOST = 1_000  # occurrences in one pass


@value(frozen=True, kw_only=True, slots=True)
class Ahead:
    """One fire time that is to become a task."""

    id: str
    fire_time: Millis
    run_at: Millis
    overlap: OverlapPolicy
    span: str = MISSED  # the backfill that it belongs to
    awaited: bool = False  # the next run of its span waits for its end


@value(frozen=False, kw_only=True, slots=True)
class Pass:
    """What one look ahead has come to."""

    schedule: Schedule  # as it was found
    seen_at: Millis
    runs: int
    reserved: int = 0  # runs that are kept for missed ones that wait for their turn
    known: Mapping[str, Task] = field(default_factory=dict)  # the tasks that it may have to look at
    occurrences: list[Ahead] = field(default_factory=list)
    releases: list[tuple[Task, Millis]] = field(default_factory=list)  # late ones, and when to run
    drops: list[Task] = field(default_factory=list)  # late ones that the misfire policy skips
    notes: list[Entry] = field(default_factory=list)
    sets: dict[str, Any] = field(default_factory=dict)  # how the schedule changes
    more: bool = False  # there is more to put at once than one pass takes
    settles: bool = False  # it only says what is to become of missed ones: look again
    paced: Millis = 0  # before then nothing more that was missed is made up for

    @property
    def runs_out(self) -> bool:
        most = self.schedule.plan.max_runs
        return most is not None and self.runs >= most

    @property
    def runs_promised(self) -> bool:
        """Whether no run is left for what is due by itself: what was missed is older."""
        most = self.schedule.plan.max_runs
        return most is not None and self.runs + self.reserved >= most

    @property
    def full(self) -> bool:
        return len(self.occurrences) >= MOST

    def put(
        self,
        fire_time: Millis,
        run_at: Millis,
        overlap: OverlapPolicy,
        span: str = MISSED,
        *,
        awaited: bool = False,
    ) -> str:
        ahead = Ahead(
            id=own_id(self.schedule, fire_time, span),
            fire_time=fire_time,
            run_at=run_at,
            overlap=overlap,
            span=span,
            awaited=awaited,
        )
        self.occurrences.append(ahead)
        self.runs += span == MISSED
        return ahead.id

    def is_over(self, task_id: str) -> bool:
        """Whether a task has ended, or is gone."""
        task = self.known.get(task_id)
        return task is None or task.status.finished

    def skip(self, start: Millis, until: Millis) -> None:
        """Note as missed every fire time of a stretch that begins with one."""
        if start < until:
            self.notes.append(
                LedgerSpan(
                    schedule_id=self.schedule.id,
                    start=start,
                    until=until,
                    outcome=Expected.SKIPPED_MISFIRE,
                    recurrence=self.schedule.plan.recurrence,
                )
            )

    def not_built(self, ahead: Ahead, error: str) -> None:
        """It never becomes a task. A delay must not await its end."""
        self.sets["last_error"] = error
        if self.sets.get("awaited") == ahead.id:
            self.sets["awaited"] = None
            if not self.runs_out:
                next_at = first(self.schedule.plan, max(ahead.fire_time, self.seen_at))
                status = ScheduleStatus.FINISHED if next_at is None else self.schedule.status
                self.sets |= {"next_at": next_at, "status": status}

    def stands_for(self, standing: Schedule) -> bool:
        """Whether what this pass found is still so. Others write the row too, when a run begins
        or ends."""
        found = self.schedule
        return (standing.version, standing.status, standing.next_at, standing.spans) == (
            found.version,
            found.status,
            found.next_at,
            found.spans,
        )

    def applied_to(self, rules: Rules, standing: Schedule) -> Schedule:
        advanced = replace(standing, revision=standing.revision + 1, **self.sets)
        return replace(advanced, wake=placed(rules, advanced, self.seen_at))


def own_id(schedule: Schedule, fire_time: Millis, span: str = MISSED) -> str:
    """Of the task that a fire time becomes."""
    if span != MISSED:
        return occurrence_id(schedule.id, span, fire_time)
    return version_id(schedule.id, schedule.version, fire_time)


def version_id(schedule_id: str, version: int, fire_time: Millis) -> str:
    return occurrence_id(schedule_id, f"v{version}", fire_time)
