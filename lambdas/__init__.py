"""Everything that runs in the cloud, in the order in which a task passes through it.

1. submit (`api`). The task is validated and stored with a delivery token. If it is due within
   the horizon it is stored as ENQUEUED with a watch behind it and sent at once (the fast
   path); otherwise it waits, PENDING, with a dispatch wake at its due time.
2. scan, claim, enqueue (`scanner`). Once a minute a tick reads the buckets of the wake index
   from its cursor to the horizon. Each task due there is claimed by one conditional write on
   its wake key, which moves the wake to a watch, and is sent to its lane with a delay.
3. lease, execute, record (`executor`). A message carries the token. When the task is due, and
   not before, one conditional write takes the lease; the target runs; one conditional write of
   the same holder records how it ended. A failure writes a new token and goes back to 1 or 2.
4. relay (`relay`). What was written flows through the table's stream to whoever wants to know,
   and what must follow from the end of a task is done (`debts`). When the table has removed a
   task at the end of its retention, the rows beside it go, too.

A schedule has a row and a wake of its own. Whoever meets one whose next fire time is near, the
scanner, the API after a change, or the relay after a run, makes tasks of its fire times
(`materialise`), which from then on go the way of every task; but before its first lease such an
occurrence passes the executor's gate, where it may have to wait, or to give way.

The watch is what makes every step safe to cut off: whatever was sent, leased or left behind has
a moment at which the scanner looks at it again and does what the table calls for. The steps are
pure decisions in `core.steps`; `aws` carries them out on DynamoDB and SQS.
"""
