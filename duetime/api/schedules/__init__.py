"""/v1/schedules. Loaded on the first request for a schedule: most cold starts are for a task.

`models` are the request bodies, `plans` turns a body into a plan, `views` makes the JSON of a
schedule. `resource` has create, read, list, change, delete, pause and resume; `runs` has trigger
and backfill; `history` has upcoming, preview and the ledger; `named` addresses schedules by name.
`declarations` reads the schedules that an app declares in code, and `sync` stores them. `writer` is
what they share.
"""
