"""A cold executor loads only what a plain handler needs."""

import os
import subprocess
import sys

NEEDLESS = ("asyncio", "croniter", "multiprocessing", "pydantic", "smtplib", "sqlite3")
NEEDLESS += ("duetime.executor.secrets", "duetime.aws.secret_store")
NEEDLESS += ("duetime.aws.services", "duetime.executor.targets.services")
IMPORT = f"import sys, lambdas.executor; print([n for n in {NEEDLESS} if n in sys.modules])"


def test_a_cold_executor_loads_neither_asyncio_nor_what_other_roles_need():
    done = subprocess.run(
        [sys.executable, "-c", IMPORT],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"AWS_DEFAULT_REGION": "eu-central-1"},
    )

    assert done.stdout.strip() == "[]"
