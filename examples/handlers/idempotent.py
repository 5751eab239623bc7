"""One effect, even if an attempt is repeated or resumes after a long pause.

An executor can die after the effect and before the outcome is recorded; the task then runs
again. Two values make that harmless, and the database checks both:

- The idempotency key is the same on every attempt, so a charge is not made twice.
- The fencing token grows with every attempt, so an attempt that lost its lease cannot overwrite
  what a later one has written.

    duetime submit --handler payments.charge --payload '{"account": "ada", "cents": 500}' --watch
"""

import os
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from duetime import Context, PermanentError, task

FILE = os.environ.get("PAYMENTS_DB") or Path(tempfile.gettempdir(), "duetime-payments.db")

TABLES = """
CREATE TABLE IF NOT EXISTS charges (key TEXT PRIMARY KEY, account TEXT, cents INTEGER);
CREATE TABLE IF NOT EXISTS runs (key TEXT PRIMARY KEY, fence INTEGER);
"""

# Changes nothing if a later attempt of this task has already written.
TAKE_FENCE = """
INSERT INTO runs VALUES (:key, :fence)
ON CONFLICT (key) DO UPDATE SET fence = :fence WHERE fence <= :fence
"""

# Changes nothing if an earlier attempt of this task has made the charge.
CHARGE = "INSERT INTO charges VALUES (:key, :account, :cents) ON CONFLICT (key) DO NOTHING"

BALANCE = "SELECT coalesce(sum(cents), 0) FROM charges WHERE account = :account"


@task("payments.charge")
def charge(payload: Any, ctx: Context) -> dict[str, Any]:
    row = {"key": ctx.idempotency_key, "fence": ctx.fencing_token, **_read(payload)}
    with closing(sqlite3.connect(FILE)) as db:
        db.executescript(TABLES)
        with db:
            if db.execute(TAKE_FENCE, row).rowcount == 0:
                raise RuntimeError("a later attempt has taken over")
            made = db.execute(CHARGE, row).rowcount == 1
        [total] = db.execute(BALANCE, row).fetchone()
    return {"account": row["account"], "charged_now": made, "total_cents": total}


def _read(payload: Any) -> dict[str, Any]:
    try:
        return {"account": str(payload["account"]), "cents": int(payload["cents"])}
    except (TypeError, KeyError, ValueError) as error:
        raise PermanentError("the payload needs `account` and `cents`") from error
