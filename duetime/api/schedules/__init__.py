"""/v1/schedules. Loaded when it is first asked for: most cold starts are for a task.

`rules`, `task`, `bodies` what is submitted; `plans` makes a plan of it; `render` how a schedule is
returned. `keeping` create, read, change, delete, pause, resume; `running` trigger and backfill;
`telling` upcoming, preview and the ledger.
"""
