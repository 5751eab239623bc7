"""Long work that reports its progress and stops when asked to.

duetime submit --handler reports.daily --payload '{"day": 1, "pages": 20}' --watch
"""

import asyncio
from typing import Any

from duetime import Context, task


@task("reports.daily")
async def daily(payload: Any, ctx: Context) -> dict[str, Any]:
    pages = int(payload.get("pages", 10))
    for page in range(pages):
        if ctx.cancelled:
            # Tidy up, then raise: the task ends CANCELLED. A result would make it SUCCEEDED.
            raise RuntimeError(f"stopped before page {page + 1}")
        ctx.progress(page / pages, f"page {page + 1} of {pages}")
        await asyncio.sleep(0.2)  # the real work
    ctx.progress(1.0, "done")
    return {"day": payload["day"], "pages": pages}
