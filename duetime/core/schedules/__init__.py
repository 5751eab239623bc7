"""Schedules: rules that turn fire times into tasks.

A schedule is one row. Every function here is pure: it takes the stored schedule and returns the
schedule to store, and the row is replaced only if no other writer has replaced it since. `revision`
counts the writes. `version` counts the changes of the rule: an occurrence of an older version that
has not started is never started.

The path of an occurrence:

1. `changes` creates, changes, pauses, resumes and backfills a schedule.
2. `lookahead` finds the fire times within the horizon; `occurrence_spec` turns each into the spec
   of one task. `misfires` decides about fire times that passed before they became tasks.
3. `overlap` decides whether an occurrence may start when an executor receives it; `late_runs` does
   so for one that is late. The result is one of `start_decisions`.
4. `run_ended` changes the schedule when the run has ended.
5. `ledger` records what happened to every expected fire time; `ledger_history` reads it.

`plan` is what the user asked for, `schedule` the plan with its state, `fire_times` the fire times
within the bounds of a plan, `ports` what a backend implements.
"""
