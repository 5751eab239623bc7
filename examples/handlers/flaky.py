"""Two kinds of failure: one that a later attempt may mend, and one that none can.

duetime submit --handler demo.flaky --payload '{"failures": 2}' --watch
duetime submit --handler demo.flaky --payload '{"failures": "many"}' --watch
"""

from typing import Any

from duetime import Context, PermanentError, task


@task("demo.flaky")
def flaky(payload: Any, ctx: Context) -> dict[str, int]:
    failures = (payload or {}).get("failures", 1)
    if not isinstance(failures, int):
        raise PermanentError(f"failures must be a whole number, not {failures!r}")
    if ctx.attempt <= failures:
        raise ConnectionError(f"attempt {ctx.attempt} fails, as it was told to")
    return {"attempts": ctx.attempt}
