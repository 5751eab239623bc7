"""The executor: leases a message, runs its target, records the outcome.

The path of one attempt, with the files in order:

1. A message arrives in `worker_pool.py` (`WorkerPool`), which has the threads: one loop thread, one
   lease guard and the workers. On AWS `lambdas/executor.py` makes a pool for each batch; the local
   runner has one for each lane.
2. `attempt_loop.py` (`AttemptLoop`) owns the attempt from here to its outcome. It makes no I/O
   itself: it holds the message until it is due and decides what happens when.
3. `executor.py` (`Executor`) does the I/O. `record_and_lease` writes the lease. A task of a
   schedule or with limits first passes `gates.py`, which may let it wait or skip it. A message that
   starts nothing goes to `stale_messages.py`; `message_acks.py` deletes, hands back or buries it.
   `change_writes.py` writes, and `immediate_follow_ups.py` runs what comes after a step.
4. A lease makes a `Run` (`runs.py`), with a `RunControl` (`run_control.py`) for the executor and a
   `Context` (`duetime.handlers.context`) for the handler.
5. A worker calls `Executor.run_target`. `target_runner.py` (`TargetRunner`) calls the target
   (`targets/`). A Python handler runs through `call_handler.py`, an isolated one in a child process
   (`isolation/`). `interrupt.py` stops a handler that does not stop when asked.
6. The result, or the exception as `failures.py` describes it, goes back through the inbox of the
   pool to the loop. Its next step records it, again with `record_and_lease`.

`lane_sources.py` has where the local runner and workers take messages from. In the local runner new
tasks may also start with their submission, without a message (`new_tasks.py`).

The loop has no threads and does not wait, so the simulation in `tests/simulation` drives it in
virtual time.
"""
