"""Isolated handlers: each runs in a process of its own, which can be killed at any point.

`process.py` is the executor's side: it starts the child and talks to it over a pipe. `__main__.py`
is the child, `protocol.py` what the two send each other. The child forks: the handler runs in the
fork, and its parent is the supervisor (`supervisor.py`), which kills the handler with everything
that it has started (`process_tree.py`)."""
