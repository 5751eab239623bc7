"""Handler processes: plain handlers run in kept child processes, each with threads.

The executor's process keeps every lease, and it alone calls the store. `pool.py` has the thread
that owns the processes; other threads reach it through `inbox.py`. `dispatch.py` decides which task
goes to which process, and what becomes of the tasks of a process that has ended; it does no I/O.
`start_pauses.py` says when the next process starts, `process_setup.py` what it gets then.
`running_processes.py` has the processes and their sockets, `process.py` is one process as the
executor sees it, `protocol.py` what the two send each other. `calls.py` says what goes to a
process with a call, `returned.py` how it ends, `readiness.py` whether attempts may begin, and
`questions.py` answers what handlers ask.

`__main__.py` is the process, `handler_threads.py` its threads and `task_list.py` the tasks that it
was sent. It has a supervisor, like that of an isolated handler (`duetime.executor.isolation`)."""
