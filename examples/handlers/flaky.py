"""Two kinds of failure: one that is retried, and one that is permanent.

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
        raise ConnectionError(f"attempt {ctx.attempt} fails, as requested")
    return {"attempts": ctx.attempt}
