"""Workflow runs: what roles read and write for them. `duetime.core.workflows` decides.

1. `requests` creates, cancels and retries runs, for the API.
2. The executor runs the tasks of steps like any other task. A gate before each lease asks whether
   the run still wants it, and `inputs` fills in what earlier steps have returned.
3. When the task of a step has ended, `progress` records the end in the row of the run and creates
   the tasks of the steps that became ready: the executor right after the outcome, otherwise the
   relay, otherwise the scanner.
4. `waits` starts the run that a task waits for, and resumes the task when the run is over.

A run that is not over always has a wake. At its wake the scanner reads the tasks of the steps that
are under way and repairs what is missing, so a run goes on even if every follow-up was lost.
"""
