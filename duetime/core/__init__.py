"""The rules of Duetime: statuses, times, wakes, leases, retries, schedules.

The core is pure: it reads no clock, draws no random number, reads no environment variable and
imports only the standard library (and croniter, in `recurrence`). A rule takes its inputs as
arguments and returns a value that says what to do; a role does it.

The path of a task:

1. submit    The API stores a new task with a wake. A task that is due soon is enqueued at once.
2. claim     The scanner finds the wakes that come due and claims each task with a conditional
             write. Exactly one scanner wins.
3. enqueue   The claimed task's delivery goes to the queue of its lane.
4. lease     An executor receives the message and takes the lease, which starts the attempt.
5. renew     The executor renews the lease while the target runs.
6. record    The executor writes the outcome: succeeded, dead, cancelled, or to be retried.
7. relay     The relay sees the status change, notifies the sinks and runs the follow-ups.

A watch backs up every step: if a message, an executor or the relay is lost, the wake of the task
comes due, and the scanner repairs what is missing (`steps.watch`).

`task` and `lifecycle` define a task and its transitions, `steps` one conditional write for each
transition, `change` the write itself, `wakes` and `wake_policy` when the scanner looks at a task
again. `recurrence` computes fire times, `schedules` turns them into tasks. `ports` is what a
backend implements.
"""
