"""The SQLite backend: one durable SQLite file for the tasks, the lanes in memory.

It is made for one runner on one machine. The runner is the only writer, so a conditional write
is a comparison inside a transaction. The file is the source of truth and a queue is only a fast
way to wake an executor, so the lanes need no file: a restart makes every delivery again.
"""
