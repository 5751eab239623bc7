"""Shifts: move the due time of many tasks by the same time, each task at most once.

A shift is relative, so repeating it would move a task twice. A shift with a key leaves a mark in
each task, in the same write that moves it: a repetition finds the mark and leaves the task alone.
"""

from dataclasses import replace
from hashlib import sha256

from duetime.core.steps.defer import Deferral
from duetime.core.task import Task
from duetime.core.times import Millis

MARKS_KEPT = 4  # of the latest shifts: a repetition comes soon after the call whose answer was lost
MARK_LENGTH = 12  # hexadecimal digits: short, since every step rewrites the task


def mark_of(key: str) -> str:
    """Returns what a task stores of the key of a shift."""
    return sha256(key.encode()).hexdigest()[:MARK_LENGTH]


def is_marked(task: Task, mark: str | None) -> bool:
    """Whether this shift has already moved the task."""
    return mark in task.spec.shifts


def shifted(task: Task, by: Millis, mark: str | None) -> Deferral:
    """Returns what a task becomes. `run_at` moves with the due time, so that the jitter stays."""
    marks = task.spec.shifts if mark is None else (*task.spec.shifts, mark)[-MARKS_KEPT:]
    spec = replace(task.spec, run_at=max(task.spec.run_at + by, 0), shifts=marks)
    return Deferral(spec=spec, due_at=task.due_at + by)
