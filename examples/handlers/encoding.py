"""Work that cannot be interrupted: it runs in a child process, which Duetime kills on timeout.

duetime submit --handler video.encode --payload '{"rounds": 100000000}' --timeout 2 --watch
"""

import hashlib
import os
from typing import Any

from duetime import Context, task


@task("video.encode", isolated=True)
def encode(payload: Any, ctx: Context) -> dict[str, Any]:
    # One long call into C, which neither checks ctx.cancelled nor can be interrupted.
    digest = hashlib.pbkdf2_hmac("sha256", b"frame", b"salt", int(payload["rounds"]))
    ctx.progress(1.0, "encoded")
    return {"digest": digest.hex()[:8], "pid": os.getpid()}
