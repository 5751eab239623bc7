"""Batches of submissions, read by a process beside the runner.

To read a batch, make its tasks and rows and encode the answer takes a third of the runner's time
for a small task, and needs nothing from the store. So a child process does that, on another core.
`reading.py` is what it does: it runs the API over ports that keep what is to be stored, and gives
up at the first call of anything else. `process.py` is the child as the runner sees it,
`protocol.py` what the two send each other, and `submission.py` stores what has come back: through
the worker pool, if the tasks can start at once (duetime.executor.new_tasks).

The child holds no state, so nothing is lost with it. Whatever it does not read (keys, limits,
unique tasks, refused tasks, tasks that are due later), and every batch while there is no child, the
API reads itself, as everywhere else."""
