"""What handler authors import: the `task` decorator, and the `Context` of an attempt.

`registry.py` has the handlers by name. `handler.py` is a handler, `parameters.py` how a payload
becomes its arguments, `conversion.py` how a value becomes its annotated type. `submission.py` is
what `submit` returns, and `children.py` how it works inside a running handler; they alone need the
client. `schedules.py` has `cron`, `every` and `after`. `discovery.py` reads handlers and their
schedules without importing them, and `manifest.py` is what it makes of them.
"""
