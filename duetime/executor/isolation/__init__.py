"""Isolated handlers: each runs in a process of its own, which can be killed at any point.

`process.py` is the executor's side: it takes a process and talks to it over a pipe. `templates.py`
has the templates that the executor keeps, and `template.py` one of them. `__main__.py` is the
template, which forks. The handler runs in the fork, one attempt after another
(`handler_process.py`), until an attempt leaves something behind (`surroundings.py`). `protocol.py`
has what they send each other. The parent of the template is the supervisor (`supervisor.py`), which
kills it with everything that the handler has started (`process_tree.py`)."""
