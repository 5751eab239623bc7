"""The smallest handler.

duetime local --handlers examples/handlers
duetime submit --handler demo.hello --payload '{"name": "Ada"}' --in 10 --watch
"""

from typing import Any

from duetime import Context, task


@task("demo.hello")
def hello(payload: Any, ctx: Context) -> dict[str, Any]:
    name = (payload or {}).get("name", "world")
    return {"greeting": f"Hello, {name}!", "attempt": ctx.attempt}
